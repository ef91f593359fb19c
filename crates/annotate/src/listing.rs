//! What is found out of a function, put in order: the plain data behind every form of output.

use crate::flow::{self, CodeLoop, Jumps};
use crate::places::Places;
use crate::source::SourceFiles;
use crate::{operand, skid};
use rprof_base::Share;
use rprof_disassembly::Instruction;
use rprof_profile::code::{CodeEvent, CodeFrames, FunctionCode, ReferenceName};
use rprof_profile::{EventKind, SampleCount};
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
}

/// What is 100 %, and what is counted: perf's words of `--percent-type`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum PercentType {
    /// Of the function's weight.
    #[default]
    LocalPeriod,
    /// Of the function's samples.
    LocalHits,
    /// Of the event's weight.
    GlobalPeriod,
    /// Of the event's samples.
    GlobalHits,
}

impl PercentType {
    /// Its name, as `--percent-type` has it.
    pub fn word(self) -> &'static str {
        match self {
            Self::LocalPeriod => "local-period",
            Self::LocalHits => "local-hits",
            Self::GlobalPeriod => "global-period",
            Self::GlobalHits => "global-hits",
        }
    }
}

/// A function as it is shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CodeListing {
    /// The function's name.
    pub name: String,
    /// The image's path, as it was recorded.
    pub image: String,
    /// The file that the code was read from.
    pub file: String,
    /// Whose instructions they are.
    pub machine: String,
    /// What a reader must know of the code and of the counts, a sentence each.
    pub notes: Vec<String>,
    /// What is 100 %.
    pub percent_type: PercentType,
    /// What was counted.
    pub events: Vec<ListedEvent>,
    /// Parts of the code, in order.
    pub parts: Vec<ListedPart>,
    /// All instructions, part by part.
    pub instructions: Vec<ListedInstruction>,
    /// Lines and inlined functions, with counts.
    pub places: Places,
    /// Jumps between its instructions.
    pub jumps: Jumps,
    /// Its loops: outer ones before those in them.
    pub loops: Vec<CodeLoop>,
    /// What stands where, from top to bottom.
    pub rows: Vec<ListingRow>,
}

/// What one event counted in the function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedEvent {
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
pub struct ListedInstruction {
    /// As it was decoded.
    pub instruction: Instruction,
    /// Its text with the names of addresses.
    pub text: String,
    /// Its bytes.
    pub bytes: Vec<u8>,
    /// What was counted, by event.
    pub counts: Vec<SampleCount>,
    /// Number of its line in [`Places::lines`].
    pub line: Option<usize>,
    /// Number of its functions in [`Places::chains`].
    pub chain: Option<usize>,
    /// The number of the instruction of this function that it jumps to.
    pub target: Option<usize>,
}

/// A line of the listing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ListingRow {
    /// A part begins, by its number.
    Part(usize),
    /// What follows is of these functions, by their number in [`Places::chains`].
    Chain(usize),
    /// What follows is of this line, by its number in [`Places::lines`], up to the instruction before this one.
    Line {
        /// The line's number.
        line: usize,
        /// The instruction after the last one of the line.
        end: usize,
    },
    /// A loop is entered here, by its number.
    LoopHead(usize),
    /// An instruction, by its number.
    Instruction(usize),
    /// The last instruction that jumps back to the loop's head was the one before.
    LoopEnd(usize),
}

impl CodeListing {
    /// Puts a function in order. Source lines are looked for in `sources`.
    pub fn of(
        function: &Disassembled<'_>,
        percent_type: PercentType,
        sources: &mut SourceFiles<'_>,
    ) -> Self {
        let code = function.code;
        let (parts, mut instructions) = listed(function);
        let events = code.events.iter().enumerate();
        let events: Vec<ListedEvent> = events
            .map(|(number, event)| counted(event, number, &mut instructions))
            .collect();
        flow::find_targets(&mut instructions);
        let mut places = Places::of(function, &mut instructions);
        let mut notes = code.notes.clone();
        notes.extend(events.iter().filter_map(misplaced));
        sources.begin(&code.file);
        places.read(sources);
        notes.extend(sources.end());
        let jumps = Jumps::of(&instructions);
        let loops = flow::loops(&parts, &instructions);
        let mut listing = Self {
            name: code.name.clone(),
            image: code.image.clone(),
            file: code.file.clone(),
            machine: code.machine.clone(),
            notes,
            percent_type,
            events,
            parts,
            instructions,
            places,
            jumps,
            loops,
            rows: Vec::new(),
        };
        listing.rows = listing.ordered();
        listing
    }

    /// What percentage a count is of its event, by [`Self::percent_type`].
    pub fn share(&self, event: usize, count: SampleCount) -> Share {
        let Some(event) = self.events.get(event) else {
            return Share::of(0, 0);
        };
        match self.percent_type {
            PercentType::LocalPeriod => Share::of(count.weight, event.local.weight),
            PercentType::LocalHits => Share::of(count.samples, event.local.samples),
            PercentType::GlobalPeriod => Share::of(count.weight, event.all.weight),
            PercentType::GlobalHits => Share::of(count.samples, event.all.samples),
        }
    }

    /// What was counted in a range of instructions, by event.
    pub fn sum(&self, range: std::ops::Range<usize>) -> Vec<SampleCount> {
        let instructions = self.instructions.get(range).unwrap_or_default();
        let counts = instructions
            .iter()
            .map(|instruction| &instruction.counts[..]);
        sums(self.events.len(), counts)
    }

    fn ordered(&self) -> Vec<ListingRow> {
        let mut rows = Vec::with_capacity(self.instructions.len() * 2);
        let (heads, ends) = self.loop_marks();
        let is_marked = self.places.has_inlined();
        for (number, part) in self.parts.iter().enumerate() {
            rows.push(ListingRow::Part(number));
            let (mut line, mut chain) = (None, None);
            for at in part.instructions.clone() {
                let Some(instruction) = self.instructions.get(at) else {
                    continue;
                };
                rows.extend(numbers(&heads, at).map(ListingRow::LoopHead));
                if is_marked && chain != instruction.chain {
                    chain = instruction.chain;
                    rows.extend(chain.map(ListingRow::Chain));
                }
                if line != instruction.line {
                    line = instruction.line;
                    let end = self.end_of_line(at, part.instructions.end);
                    rows.extend(line.map(|line| ListingRow::Line { line, end }));
                }
                rows.push(ListingRow::Instruction(at));
                rows.extend(numbers(&ends, at).map(ListingRow::LoopEnd));
            }
        }
        rows
    }

    /// The first instruction after this one that is of another line.
    fn end_of_line(&self, at: usize, end: usize) -> usize {
        let rest = self.instructions.get(at..end).unwrap_or_default();
        let first = rest.first().map(|first| first.line);
        let len = rest
            .iter()
            .take_while(|other| Some(other.line) == first)
            .count();
        at + len
    }

    /// Loops by the instruction of their head, outer ones first, and of their end, inner ones first.
    fn loop_marks(&self) -> (Vec<(usize, usize)>, Vec<(usize, usize)>) {
        let marks = |place: fn(&CodeLoop) -> usize| {
            let all = self.loops.iter().enumerate();
            let mut marks: Vec<(usize, usize)> =
                all.map(|(number, found)| (place(found), number)).collect();
            marks.sort_unstable();
            marks
        };
        let heads = marks(|found| found.head);
        let mut ends = marks(|found| found.last);
        ends.sort_unstable_by_key(|&(at, number)| (at, std::cmp::Reverse(number)));
        (heads, ends)
    }
}

/// Sums of counts by event.
pub(crate) fn sums<'a>(
    n_events: usize,
    all: impl Iterator<Item = &'a [SampleCount]>,
) -> Vec<SampleCount> {
    let mut sums = vec![SampleCount::default(); n_events];
    for counts in all {
        for (sum, &count) in sums.iter_mut().zip(counts) {
            *sum += count;
        }
    }
    sums
}

/// Second numbers of the sorted pairs that begin with `at`.
fn numbers(marks: &[(usize, usize)], at: usize) -> impl Iterator<Item = usize> {
    let start = marks.partition_point(|&(place, _)| place < at);
    let rest = marks.get(start..).unwrap_or_default();
    let found = rest.iter().take_while(move |&&(place, _)| place == at);
    found.map(|&(_, number)| number)
}

fn listed(function: &Disassembled<'_>) -> (Vec<ListedPart>, Vec<ListedInstruction>) {
    let (mut parts, mut all) = (Vec::new(), Vec::new());
    let n_events = function.code.events.len();
    for (part, instructions) in function.code.parts.iter().zip(function.instructions) {
        let start = all.len();
        for instruction in instructions {
            let offset = instruction.address.wrapping_sub(part.address);
            let offset = usize::try_from(offset).unwrap_or(usize::MAX);
            let end = offset.saturating_add(instruction.len.into());
            let bytes = part.bytes.get(offset..end).unwrap_or_default();
            all.push(ListedInstruction {
                instruction: instruction.clone(),
                text: operand::named(instruction, function.names, &function.code.parts),
                bytes: bytes.to_vec(),
                counts: vec![SampleCount::default(); n_events],
                line: None,
                chain: None,
                target: None,
            });
        }
        parts.push(ListedPart {
            symbol: part.symbol.clone(),
            address: part.address,
            instructions: start..all.len(),
        });
    }
    (parts, all)
}

/// Puts an event's samples at the instructions that they are in.
fn counted(
    event: &CodeEvent,
    number: usize,
    instructions: &mut [ListedInstruction],
) -> ListedEvent {
    let mut listed = ListedEvent {
        name: event.name.clone(),
        kind: event.kind,
        precise_ip: event.precise_ip,
        skid: skid::of(event),
        local: SampleCount::default(),
        all: event.all,
        outside: SampleCount::default(),
        within: SampleCount::default(),
    };
    let places = flow::by_address(instructions);
    for &(address, count) in &event.counts {
        listed.local += count;
        let at = flow::covering(&places, instructions, address);
        let found = at.and_then(|at| instructions.get_mut(at));
        match found {
            Some(found) => {
                if found.instruction.address != address {
                    listed.within += count;
                }
                if let Some(own) = found.counts.get_mut(number) {
                    *own += count;
                }
            }
            None => listed.outside += count,
        }
    }
    listed
}

/// What is said of samples that are not at an instruction's start.
fn misplaced(event: &ListedEvent) -> Option<String> {
    let said = |n: u64, what: &str| match n {
        0 => None,
        1 => Some(format!("1 sample of {} is {what}", event.name)),
        _ => Some(format!("{n} samples of {} are {what}", event.name)),
    };
    let within = said(
        event.within.samples,
        "within an instruction, not at its start: this may not be the code that ran, or data lies in it",
    );
    let outside = said(event.outside.samples, "at no instruction that is shown");
    let all: Vec<String> = within.into_iter().chain(outside).collect();
    (!all.is_empty()).then(|| all.join("; "))
}
