//! What a listing is made from, and its pieces.

use rprof_disassembly::Instruction;
use rprof_profile::code::{CodeFrames, FunctionCode, ReferenceName};
use rprof_profile::{EventKind, SampleCount};
use rprof_untrusted::Author;
use std::borrow::Cow;
use std::collections::BTreeMap;

/// A function's code with all that is known of it.
#[derive(Clone, Copy, Debug)]
pub struct Disassembled<'a> {
    /// The code, with counts.
    pub code: &'a FunctionCode,
    /// The instructions of each of its parts.
    pub instructions: &'a [Vec<Instruction>],
    /// What the addresses of instructions are part of; those that are not known are left out.
    pub frames: &'a BTreeMap<u64, CodeFrames>,
    /// What the addresses are called that instructions refer to.
    pub names: &'a BTreeMap<u64, ReferenceName>,
    /// Who may have written the files that name source files.
    pub authors: &'a [Author],
}

/// What one event counted in the function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CountedEvent {
    /// Its name.
    pub name: String,
    /// What it counts.
    pub kind: EventKind,
    /// `precise_ip` of `perf_event.h`.
    pub precise_ip: u8,
    /// How far addresses may be from where it happened; `None` where they are exact.
    pub skid: Option<&'static str>,
    /// Samples in the function.
    pub local: SampleCount,
    /// Samples of the event.
    pub all: SampleCount,
    /// Samples of the function that are at no instruction of it.
    pub outside: SampleCount,
    /// Samples within an instruction, not at its start; they count for it.
    pub within: SampleCount,
}

/// A part of the code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedPart {
    /// The symbol that it has.
    pub symbol: String,
    /// Where it begins.
    pub address: u64,
    /// Numbers of its instructions.
    pub instructions: std::ops::Range<usize>,
}

/// An instruction with counts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedInstruction<'a> {
    /// As it was decoded.
    pub instruction: &'a Instruction,
    /// Its text with the names of addresses.
    pub text: Cow<'a, str>,
    /// Its bytes.
    pub bytes: &'a [u8],
    /// What was counted, by event; empty if nothing was.
    pub counts: Vec<SampleCount>,
    /// Number of its line in `Places::lines`.
    pub line: Option<usize>,
    /// Number of its functions in `Places::chains`.
    pub chain: Option<usize>,
    /// The number of the instruction of this function that it jumps to.
    pub target: Option<usize>,
    /// The other function that it calls or jumps to the beginning of.
    pub callee: Option<&'a str>,
}

impl AsRef<Instruction> for ListedInstruction<'_> {
    fn as_ref(&self) -> &Instruction {
        self.instruction
    }
}

/// Sums of counts by event.
pub(crate) fn sums<'a>(
    n_events: usize,
    all: impl Iterator<Item = &'a [SampleCount]>,
) -> Vec<SampleCount> {
    let mut sums = vec![SampleCount::default(); n_events];
    for counts in all {
        add_counts(&mut sums, counts);
    }
    sums
}

/// Adds counts by event to sums by event.
pub(crate) fn add_counts(sums: &mut [SampleCount], counts: &[SampleCount]) {
    for (sum, &count) in sums.iter_mut().zip(counts) {
        sum.add(count);
    }
}
