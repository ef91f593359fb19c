//! What is found out of a function, put in order: the plain data behind every form of output.

use crate::flow::{self, CodeLoop, Jumps};
use crate::listed::{CountedEvent, Disassembled, ListedInstruction, ListedPart, sums};
use crate::placed;
use crate::places::Places;
use crate::source::SourceFiles;
use rprof_base::Share;
use rprof_profile::SampleCount;
use rprof_profile::code::InlinedCode;

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
pub struct CodeListing<'a> {
    /// The function's name.
    pub name: String,
    /// The image's path, as it was recorded.
    pub image: String,
    /// The file that the code was read from.
    pub file: String,
    /// Where it was inlined, if its code is a part of another function's.
    pub inlined: Option<InlinedCode>,
    /// Whose instructions they are.
    pub machine: String,
    /// What a reader must know of the code and of the counts, a sentence each.
    pub notes: Vec<String>,
    /// What is 100 %.
    pub percent_type: PercentType,
    /// What was counted.
    pub events: Vec<CountedEvent>,
    /// Numbers of the events that have columns: those with samples in the function; all if none has any.
    pub columns: Vec<usize>,
    /// Parts of the code, in order.
    pub parts: Vec<ListedPart>,
    /// All instructions, part by part.
    pub instructions: Vec<ListedInstruction<'a>>,
    /// Lines and inlined functions, with counts.
    pub places: Places,
    /// Jumps between its instructions.
    pub jumps: Jumps,
    /// Its loops, from top to bottom; outer ones before those in them.
    pub loops: Vec<CodeLoop>,
    /// What stands where, from top to bottom.
    pub rows: Vec<ListingRow>,
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
    /// A loop begins here, by its number.
    LoopStart(usize),
    /// An instruction, by its number.
    Instruction(usize),
    /// The instruction before was the last one of a loop.
    LoopEnd(usize),
}

/// Numbers of the events whose columns say something.
fn columns(events: &[CountedEvent]) -> Vec<usize> {
    let is_counted = |event: &CountedEvent| event.local != SampleCount::default();
    let counted = events.iter().enumerate();
    let counted = counted.filter(|(_, event)| is_counted(event));
    let numbers: Vec<usize> = counted.map(|(number, _)| number).collect();
    if numbers.is_empty() {
        (0..events.len()).collect()
    } else {
        numbers
    }
}

impl<'a> CodeListing<'a> {
    /// Puts a function in order. Source lines are looked for in `sources`.
    pub fn new(
        function: &Disassembled<'a>,
        percent_type: PercentType,
        sources: &mut SourceFiles<'_>,
    ) -> Self {
        let mut listing = Self::without_rows(function, percent_type, sources);
        listing.jumps = Jumps::new(&listing.instructions);
        listing.rows = listing.ordered();
        listing
    }

    /// The same without [`Self::jumps`] and [`Self::rows`], which are left empty: for callers that make their own rows.
    pub fn without_rows(
        function: &Disassembled<'a>,
        percent_type: PercentType,
        sources: &mut SourceFiles<'_>,
    ) -> Self {
        let code = function.code;
        let (parts, mut instructions) = placed::listed(function);
        let events = code.events.iter().enumerate();
        let events: Vec<CountedEvent> = events
            .map(|(number, event)| placed::counted(event, number, &mut instructions))
            .collect();
        let columns = columns(&events);
        flow::find_targets(&mut instructions);
        let mut places = Places::new(function, &mut instructions);
        let mut notes = code.notes.clone();
        notes.extend(events.iter().filter_map(placed::misplaced));
        sources.begin(&code.file, function.authors);
        places.read(sources);
        notes.extend(sources.end());
        let loops = flow::loops(&parts, &instructions, events.len());
        Self {
            name: code.name.clone(),
            image: code.image.clone(),
            file: code.file.clone(),
            inlined: code.inlined.clone(),
            machine: code.machine.clone(),
            notes,
            percent_type,
            events,
            columns,
            parts,
            instructions,
            places,
            jumps: Jumps::default(),
            loops,
            rows: Vec::new(),
        }
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
        let mut rows = Vec::with_capacity(self.instructions.len());
        let (starts, ends) = self.loop_marks();
        let is_marked = self.places.has_inlined();
        for (number, part) in self.parts.iter().enumerate() {
            rows.push(ListingRow::Part(number));
            let (mut line, mut chain) = (None, None);
            for at in part.instructions.clone() {
                let Some(instruction) = self.instructions.get(at) else {
                    continue;
                };
                rows.extend(numbers(&starts, at).map(ListingRow::LoopStart));
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

    /// Loops by their first instruction, outer ones first, and by their last one, inner ones first.
    fn loop_marks(&self) -> (Marks, Marks) {
        let marks = |place: fn(&CodeLoop) -> usize| {
            let all = self.loops.iter().enumerate();
            let mut marks: Marks = all.map(|(number, found)| (place(found), number)).collect();
            marks.sort_unstable();
            marks
        };
        let depth = |number: usize| self.loops.get(number).map(|found| found.depth);
        let mut starts = marks(|found| found.span.0);
        starts.sort_by_key(|&(at, number)| (at, depth(number)));
        let mut ends = marks(|found| found.span.1);
        ends.sort_by_key(|&(at, number)| (at, std::cmp::Reverse(depth(number))));
        (starts, ends)
    }
}

/// Instructions, and what is there.
type Marks = Vec<(usize, usize)>;

/// Second numbers of the sorted pairs that begin with `at`.
fn numbers(marks: &[(usize, usize)], at: usize) -> impl Iterator<Item = usize> {
    let start = marks.partition_point(|&(place, _)| place < at);
    let rest = marks.get(start..).unwrap_or_default();
    let found = rest.iter().take_while(move |&&(place, _)| place == at);
    found.map(|&(_, number)| number)
}
