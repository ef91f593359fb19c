//! Frames of Go programs, as their own table tells them: stripping leaves it in. Some functions of
//! Go's runtime are told apart by name.

use crate::arch::{Aarch64, Arch, Machine, X86_64};
use crate::rule::{Kind, Rule, WORD};
use rprof_images::{Elf, GoTable, Svma};

/// A Go program's frames.
#[derive(Debug)]
pub(crate) struct Go {
    /// Only where no DWARF describes them.
    table: Option<GoTable>,
    /// Functions that are none of the usual ones, sorted by where they begin, from the image's start.
    special: Vec<(u32, u32, Kind)>,
}

/// Where goroutines, threads and programs begin, and the scheduler of a thread.
///
/// Source: `funcID` of Go's src/internal/abi/symtab.go, and src/runtime/traceback.go (1.22).
const ROOTS: &[&str] = &[
    "runtime.goexit",
    "runtime.mstart",
    "runtime.rt0_go",
    "runtime.mcall",
    "_rt0_amd64_linux",
    "_rt0_arm64_linux",
];

/// What they call has the stack of the thread, they themselves that of a goroutine.
const SWITCHES: &[&str] = &[
    "runtime.systemstack",
    "runtime.morestack",
    "runtime.asmcgocall",
];

impl Go {
    /// Of a program in Go; `is_described` by DWARF.
    pub(crate) fn of(elf: &Elf, base: u64, is_described: bool) -> Option<Self> {
        let table = GoTable::of(elf)?;
        let relative = |address: Svma| u32::try_from(address.0.checked_sub(base)?).ok();
        let names = [ROOTS, SWITCHES].concat();
        let special = table.named(&names).filter_map(|(name, range)| {
            let kind = match name < ROOTS.len() {
                true => Kind::Root,
                false => Kind::Switch,
            };
            Some((relative(range.start)?, relative(range.end)?, kind))
        });
        Some(Self {
            special: special.collect(),
            table: (!is_described).then_some(table),
        })
    }

    /// How a function of the runtime is left, if it is no usual one.
    pub(crate) fn special(&self, at: u32) -> Option<Rule> {
        let mut special = self.special.iter();
        let found = special.find(|(start, end, _)| (*start..*end).contains(&at));
        found.map(|&(_, _, kind)| Rule::of(kind))
    }

    /// The rule that holds at an address.
    pub(crate) fn rule(&self, address: Svma, machine: Machine) -> Option<Rule> {
        let size = self.table.as_ref()?.frame_size(address)?;
        match machine {
            Machine::X86_64 => rule_of::<X86_64>(size),
            Machine::Aarch64 => rule_of::<Aarch64>(size),
        }
    }
}

/// A frame of so many bytes: on x86-64 the return address lies above it, and the frame pointer at its upper
/// end; on 64-bit ARM the link register was saved at its lower end.
fn rule_of<A: Arch>(size: u32) -> Option<Rule> {
    let mut rule = Rule::just_called::<A>(0);
    rule.cfa += i32::try_from(size).ok()?;
    if A::HAS_LINK && size > 0 {
        let last = A::SAVED.len() - 1;
        rule.saved = 1 << last;
        rule.slots[last] = i16::try_from(-i64::from(size) / WORD).ok()?;
    }
    Some(rule)
}
