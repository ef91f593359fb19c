//! The compact rule of a frame: where the caller's frame is and what lies in it.

use crate::arch::{Arch, MAX_SLOTS};
use crate::registers::N_REGISTERS;
use gimli::{CfaRule, RegisterRule, UnwindTableRow};

/// How a frame is left.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub(crate) enum Kind {
    /// Nothing is said about this code.
    #[default]
    None,
    /// As the rest of the rule says.
    Plain,
    /// Not at all: the thread began here.
    Outermost,
    /// By DWARF evaluation.
    Dwarf,
    /// As the rest of the rule says, or not at all where that leads to no caller: a new thread's first
    /// instructions look like the end of the function that made it.
    Gap,
    /// To what a signal interrupted, though nothing is said.
    Signal,
    /// To another stack, of which nothing is known here.
    Switch,
    /// What is said is damaged.
    Bad,
}

/// The rule that holds in one range of code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub(crate) struct Rule {
    pub(crate) kind: Kind,
    /// The register that the canonical frame address is counted from.
    pub(crate) base: u8,
    /// One bit for each slot in use.
    pub(crate) saved: u16,
    /// The canonical frame address less the base, bytes.
    pub(crate) cfa: i32,
    /// Where registers ([`Arch::TRACKED`]) were saved: words from the canonical frame address.
    pub(crate) slots: [i16; MAX_SLOTS],
}

/// Bytes of a register.
pub(crate) const WORD: i64 = 8;

impl Rule {
    pub(crate) fn of(kind: Kind) -> Self {
        Self {
            kind,
            ..Self::default()
        }
    }

    /// The rule of code that has only pushed words since it was called; the link register, if
    /// there is one, first.
    pub(crate) fn just_called<A: Arch>(n_pushed: i32) -> Self {
        const { assert!(A::TRACKED.len() <= MAX_SLOTS) };
        let mut rule = Self {
            kind: Kind::Plain,
            base: u8::try_from(A::SP).unwrap_or(u8::MAX),
            cfa: n_pushed * 8,
            ..Self::default()
        };
        let is_on_stack = !A::HAS_LINK_REGISTER || n_pushed > 0;
        rule.cfa += if A::HAS_LINK_REGISTER { 0 } else { 8 };
        if is_on_stack {
            let last = A::TRACKED.len() - 1;
            rule.saved = 1 << last;
            rule.slots[last] = -1;
        }
        rule
    }

    /// Makes a row compact, if it can be.
    pub(crate) fn compile<A: Arch>(row: &UnwindTableRow<usize>) -> Self {
        let is_outermost = matches!(
            row.register(gimli::Register(A::RETURN)),
            Some(RegisterRule::Undefined)
        );
        if is_outermost {
            return Self::of(Kind::Outermost);
        }
        Self::plain::<A>(row).unwrap_or(Self::of(Kind::Dwarf))
    }

    fn plain<A: Arch>(row: &UnwindTableRow<usize>) -> Option<Self> {
        let CfaRule::RegisterAndOffset { register, offset } = *row.cfa() else {
            return None;
        };
        let mut rule = Self {
            kind: Kind::Plain,
            base: u8::try_from(register.0).ok()?,
            cfa: i32::try_from(offset).ok()?,
            ..Self::default()
        };
        for &(register, ref how) in row.registers() {
            if usize::from(register.0) >= N_REGISTERS {
                // Vector registers, and the state of signed return addresses.
                continue;
            }
            let slot = A::TRACKED.iter().position(|&saved| saved == register.0);
            match (slot, how) {
                (_, RegisterRule::SameValue) => {}
                // Calls do not keep it: no caller's rule can need it.
                (None, _) if A::CALLEE_SAVED >> register.0 & 1 == 0 && register.0 != A::RETURN => {}
                (Some(slot), &RegisterRule::Offset(offset)) if offset % WORD == 0 => {
                    *rule.slots.get_mut(slot)? = i16::try_from(offset / WORD).ok()?;
                    rule.saved |= 1 << slot;
                }
                _ => return None,
            }
        }
        let has_return = rule.saved >> (A::TRACKED.len() - 1) & 1 != 0;
        (has_return || A::HAS_LINK_REGISTER).then_some(rule)
    }
}
