//! Frames of Go programs, as their own table tells them: stripping leaves it in. Some functions of
//! Go's runtime are told apart by name.

use crate::arch::Arch;
use crate::rule::{Kind, Rule, WORD};
use rprof_base::Svma;
use rprof_images::{Elf, GoTable};
use std::ops::Range;

/// A Go program's frames.
#[derive(Debug)]
pub(crate) struct Go {
    /// Only where no DWARF describes them.
    table: Option<GoTable>,
    special: Vec<Special>,
}

/// Code that is left by a rule of its own.
#[derive(Debug)]
struct Special {
    /// From the image's start.
    range: Range<u32>,
    kind: Kind,
}

/// Where goroutines, threads and programs ([`Arch::GO_ENTRY`], too) begin, and the scheduler of a thread.
///
/// Source: `funcID` of Go's src/internal/abi/symtab.go, and src/runtime/traceback.go (1.22).
const OUTERMOST: &[&str] = &[
    "runtime.goexit",
    "runtime.mstart",
    "runtime.rt0_go",
    "runtime.mcall",
];

/// What they call through a register has the stack of the thread, they themselves that of a goroutine.
const SWITCHES: &[&str] = &["runtime.systemstack", "runtime.asmcgocall"];

/// All that it calls has.
const MORE_STACK: &str = "runtime.morestack";

impl Go {
    /// Of a program in Go; `is_described` by DWARF.
    pub(crate) fn of<A: Arch>(elf: &Elf, base: u64, is_described: bool) -> Option<Self> {
        let table = GoTable::of(elf)?;
        let offset = |address: Svma| u32::try_from(address.0.checked_sub(base)?).ok();
        let special_in = |range: Range<Svma>, kind| {
            let range = offset(range.start)?..offset(range.end)?;
            Some(Special { range, kind })
        };
        let outermost = [OUTERMOST, &[A::GO_ENTRY]].concat();
        let names = [outermost.as_slice(), &[MORE_STACK], SWITCHES].concat();
        let mut special = Vec::new();
        for (name, range) in table.named(&names) {
            match name.checked_sub(outermost.len()) {
                None => special.extend(special_in(range, Kind::Outermost)),
                Some(0) => special.extend(special_in(range, Kind::Switch)),
                Some(_) => {
                    let calls = indirect_calls::<A>(elf, range);
                    special.extend(calls.filter_map(|call| special_in(call, Kind::Switch)));
                }
            }
        }
        Some(Self {
            special,
            table: (!is_described).then_some(table),
        })
    }

    /// How a function of the runtime is left, if it is no usual one.
    pub(crate) fn special(&self, at: u32) -> Option<Rule> {
        let found = self.special.iter().find(|one| one.range.contains(&at))?;
        Some(Rule::of(found.kind))
    }

    /// Where the function at an address begins.
    pub(crate) fn function(&self, address: Svma) -> Option<Svma> {
        self.table.as_ref()?.start(address)
    }

    /// The rule that holds at an address.
    pub(crate) fn rule<A: Arch>(&self, address: Svma) -> Option<Rule> {
        rule_of::<A>(self.table.as_ref()?.frame_size(address)?)
    }
}

/// Where code calls through a register: the instructions. Return addresses are looked up in those.
fn indirect_calls<A: Arch>(
    elf: &Elf,
    range: Range<Svma>,
) -> impl Iterator<Item = Range<Svma>> + use<A> {
    let text = elf.section_range(".text");
    let code = text.and_then(|text| {
        let code = elf.raw_section(".text")?.decompress()?;
        let at = |address: Svma| usize::try_from(address.0.checked_sub(text.start.0)?).ok();
        Some(code.get(at(range.start)?..at(range.end)?)?.to_vec())
    });
    let code = code.unwrap_or_default();
    let starts = (0..code.len()).step_by(A::CODE_ALIGN);
    starts.filter_map(move |at| {
        let len = A::indirect_call(code.get(at..)?)?;
        let start = range.start.0 + at as u64;
        Some(Svma(start)..Svma(start + len))
    })
}

/// A frame of this many bytes: on x86-64 the return address lies above it, and the frame pointer at its upper
/// end; elsewhere the link register was saved at its lower end.
fn rule_of<A: Arch>(size: u32) -> Option<Rule> {
    let mut rule = Rule::just_called::<A>(0);
    rule.cfa += i32::try_from(size).ok()?;
    if A::HAS_LINK_REGISTER && size > 0 {
        let last = A::TRACKED.len() - 1;
        rule.saved = 1 << last;
        rule.slots[last] = i16::try_from(-i64::from(size) / WORD).ok()?;
    }
    Some(rule)
}
