//! Leaving frames by their compact rules.

use super::Walk;
use crate::arch::{Arch, MAX_SLOTS};
use crate::rule::{Rule, WORD};
use crate::stack::Unread;
use crate::{AddressSpace, Outcome};
use rprof_base::{Avma, CodeAddress};

/// What a frame that was left has saved.
#[derive(Clone, Copy, Debug)]
pub(super) struct Saved {
    rule: Rule,
    /// The canonical frame address.
    cfa: u64,
}

impl<S: AddressSpace> Walk<'_, S> {
    /// Leaves a frame by its compact rule. Most callers' frames are found by the stack pointer alone: what
    /// else a frame saved is read once somebody needs it.
    #[inline]
    pub(super) fn plain<A: Arch>(&mut self, rule: &Rule) -> Result<(), Outcome> {
        const { assert!(A::TRACKED.len() <= MAX_SLOTS) };
        let last = A::TRACKED.len() - 1;
        let is_short = u16::from(rule.base) == A::SP && rule.saved >> last & 1 != 0;
        if A::HAS_LINK_REGISTER || !is_short {
            return self.by_registers::<A>(rule);
        }
        let Some(sp) = self.registers.get(A::SP) else {
            return Err(self.bad_info());
        };
        let cfa = sp.wrapping_add_signed(rule.cfa.into());
        if cfa <= sp && !self.may_be_empty() {
            return Err(Outcome::Loop);
        }
        let slot = cfa.wrapping_add_signed(i64::from(rule.slots[last]) * WORD);
        let caller = self
            .stack
            .word(slot)
            .map_err(|unread| self.unread(unread))?;
        self.unrestored.push(Saved { rule: *rule, cfa });
        self.slot = slot;
        self.registers.set(A::SP, cfa);
        self.go_to(CodeAddress::Return(Avma(A::strip(caller))))
    }

    /// Reads what frames saved, now that registers are needed.
    #[cold]
    pub(super) fn restore<A: Arch>(&mut self) -> Result<(), Outcome> {
        let sp = self.registers.get(A::SP);
        let mut unrestored = std::mem::take(&mut self.unrestored);
        let restored = unrestored.iter().try_for_each(|saved| {
            self.registers.keep(A::CALLEE_SAVED);
            self.read_saved::<A>(&saved.rule, saved.cfa).map(drop)
        });
        unrestored.clear();
        self.unrestored = unrestored;
        if let Some(sp) = sp {
            self.registers.set(A::SP, sp);
        }
        restored
    }

    /// Leaves a frame whose caller's is found by other registers.
    fn by_registers<A: Arch>(&mut self, rule: &Rule) -> Result<(), Outcome> {
        if !self.unrestored.is_empty() {
            self.restore::<A>()?;
        }
        self.n_bound = self.walked.len();
        let Some(base) = self.registers.get(rule.base.into()) else {
            return Err(self.bad_info());
        };
        let cfa = base.wrapping_add_signed(rule.cfa.into());
        let sp = self.registers.get(A::SP).unwrap_or(0);
        if cfa <= sp && !self.may_be_empty() {
            return Err(Outcome::Loop);
        }
        let link = self.registers.get(A::RETURN);
        let link = link.filter(|_| A::HAS_LINK_REGISTER);
        self.registers.keep(A::CALLEE_SAVED);
        let saved = self.read_saved::<A>(rule, cfa)?;
        self.slot = saved.map_or(0, |(slot, _)| slot);
        self.registers.set(A::SP, cfa);
        match saved.map(|(_, link)| link).or(link) {
            Some(link) => self.go_to(CodeAddress::Return(Avma(A::strip(link)))),
            None => Err(self.bad_info()),
        }
    }

    /// Reads what a frame saved. Its return address, if it is among that, is returned, after where it lies.
    fn read_saved<A: Arch>(
        &mut self,
        rule: &Rule,
        cfa: u64,
    ) -> Result<Option<(u64, u64)>, Outcome> {
        let mut link = None;
        let mut left = rule.saved;
        while left != 0 {
            let slot = left.trailing_zeros() as usize;
            left &= left - 1;
            let at = cfa.wrapping_add_signed(i64::from(rule.slots[slot]) * WORD);
            let word = match self.stack.word(at) {
                Ok(word) => word,
                // On its way out the function has taken it back already.
                Err(Unread::Below) if A::HAS_LINK_REGISTER || slot != A::TRACKED.len() - 1 => {
                    continue;
                }
                Err(unread) => return Err(self.unread(unread)),
            };
            if slot == A::TRACKED.len() - 1 {
                link = Some((at, word));
            } else {
                self.registers.set(A::TRACKED[slot], word);
            }
        }
        Ok(link)
    }
}
