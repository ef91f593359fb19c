//! What instructions are of: source lines, and functions that were inlined, with counts.

use crate::listed::{Disassembled, ListedInstruction, add_counts};
use crate::source::SourceFiles;
use rprof_profile::SampleCount;
use rprof_profile::code::{CodeFrame, CodeFrames};
use std::collections::BTreeMap;

/// Lines without instructions between two with them that are shown, too.
const SHORT_GAP: u32 = 3;

/// Lines and inlined functions of a function.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Places {
    /// Lines that instructions are of, by the first instruction of each.
    pub lines: Vec<LineShare>,
    /// What was counted at instructions without a line, by event.
    pub no_line: Vec<SampleCount>,
    /// What instructions are part of, innermost function first, with the lines that they were inlined at; the
    /// innermost one has none.
    pub chains: Vec<CodeFrames>,
    /// Innermost functions, by the first instruction of each.
    pub inlined: Vec<InlinedShare>,
    /// The same lines by file, in order, with those between them: the hottest file first.
    pub files: Vec<FileLines>,
}

/// A line, and what was counted at it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LineShare {
    /// The source file.
    pub file: String,
    /// The line's number, from 1.
    pub line: u32,
    /// What it says, if the file was found.
    pub text: Option<String>,
    /// What was counted, by event.
    pub counts: Vec<SampleCount>,
}

/// A function, and what was counted in its code that is nowhere further in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InlinedShare {
    /// The function's name.
    pub function: String,
    /// Whether it was inlined.
    pub is_inlined: bool,
    /// What was counted, by event.
    pub counts: Vec<SampleCount>,
}

/// Lines of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileLines {
    /// The source file.
    pub file: String,
    /// Lines, ascending.
    pub lines: Vec<FileLine>,
}

/// A line of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileLine {
    /// Its number.
    pub line: u32,
    /// What it says.
    pub text: Option<String>,
    /// Its number in [`Places::lines`], if instructions are of it.
    pub place: Option<usize>,
}

/// A function with the line where the one in it was inlined, to compare.
type ChainKey<'a> = Vec<(&'a str, Option<(&'a str, u32)>)>;

/// Numbers that were given to places.
#[derive(Default)]
struct Seen<'a> {
    lines: BTreeMap<(&'a str, u32), usize>,
    chains: BTreeMap<ChainKey<'a>, usize>,
    functions: BTreeMap<(&'a str, bool), usize>,
}

impl Places {
    /// Finds what each instruction is of, and tells it.
    pub(crate) fn new(
        function: &Disassembled<'_>,
        instructions: &mut [ListedInstruction<'_>],
    ) -> Self {
        let n_events = function.code.events.len();
        let mut places = Self {
            no_line: vec![SampleCount::default(); n_events],
            ..Self::default()
        };
        let mut seen = Seen::default();
        let mut nameless = None;
        for it in instructions {
            let frames = function.frames.get(&it.instruction.address);
            let frames = frames.map_or(&[][..], |frames| &frames.0);
            it.chain = (!frames.is_empty()).then(|| places.chain(frames, &mut seen));
            let line = frames.first().and_then(|frame| frame.line.as_ref());
            it.line = line.map(|(file, line)| places.line((file, *line), n_events, &mut seen));
            let innermost = frames
                .first()
                .map_or(&function.code.name, |it| &it.function);
            let is_inlined = frames.len() > 1;
            let mut number = || places.function((innermost, is_inlined), n_events, &mut seen);
            let own = match frames {
                // Often most instructions have no frames: their number is looked up once.
                [] => *nameless.get_or_insert_with(number),
                _ => number(),
            };
            let line = it.line.and_then(|line| places.lines.get_mut(line));
            let line = line.map_or(&mut places.no_line, |line| &mut line.counts);
            add_counts(line, &it.counts);
            if let Some(own) = places.inlined.get_mut(own) {
                add_counts(&mut own.counts, &it.counts);
            }
        }
        places
    }

    /// Whether anything was inlined into the function.
    pub fn has_inlined(&self) -> bool {
        self.inlined.iter().any(|function| function.is_inlined)
    }

    fn chain<'a>(&mut self, frames: &'a [CodeFrame], seen: &mut Seen<'a>) -> usize {
        let call = |at: usize, frame: &'a CodeFrame| {
            let line = frame.line.as_ref().filter(|_| at > 0);
            line.map(|(file, line)| (file.as_str(), *line))
        };
        let all = frames.iter().enumerate();
        let key = all.map(|(at, frame)| (frame.function.as_str(), call(at, frame)));
        *seen.chains.entry(key.collect()).or_insert_with(|| {
            let mut frames = frames.to_vec();
            if let Some(innermost) = frames.first_mut() {
                innermost.line = None;
            }
            self.chains.push(CodeFrames(frames));
            self.chains.len() - 1
        })
    }

    fn line<'a>(
        &mut self,
        (file, line): (&'a str, u32),
        n_events: usize,
        seen: &mut Seen<'a>,
    ) -> usize {
        *seen.lines.entry((file, line)).or_insert_with(|| {
            self.lines.push(LineShare {
                file: file.to_owned(),
                line,
                text: None,
                counts: vec![SampleCount::default(); n_events],
            });
            self.lines.len() - 1
        })
    }

    fn function<'a>(
        &mut self,
        (function, is_inlined): (&'a str, bool),
        n_events: usize,
        seen: &mut Seen<'a>,
    ) -> usize {
        let key = (function, is_inlined);
        *seen.functions.entry(key).or_insert_with(|| {
            self.inlined.push(InlinedShare {
                function: function.to_owned(),
                is_inlined,
                counts: vec![SampleCount::default(); n_events],
            });
            self.inlined.len() - 1
        })
    }

    /// Reads what the lines say, and orders them by file.
    pub(crate) fn read(&mut self, sources: &mut SourceFiles<'_>) {
        let mut files: BTreeMap<&str, BTreeMap<u32, usize>> = BTreeMap::new();
        for (number, place) in self.lines.iter().enumerate() {
            let lines = files.entry(&place.file).or_default();
            lines.insert(place.line, number);
        }
        // As many samples, then as many lines.
        let mut files: Vec<(u64, &str, BTreeMap<u32, usize>)> = files
            .into_iter()
            .map(|(file, lines)| (self.weight(lines.values()), file, lines))
            .collect();
        files.sort_by_key(|(weight, _, lines)| std::cmp::Reverse((*weight, lines.len())));
        let files: Vec<FileLines> = files
            .iter()
            .map(|(_, file, lines)| file_lines(file, lines, sources))
            .collect();
        for line in files.iter().flat_map(|file| &file.lines) {
            if let Some(place) = line.place.and_then(|place| self.lines.get_mut(place)) {
                place.text.clone_from(&line.text);
            }
        }
        self.files = files;
    }

    /// What the first event counted at these lines.
    fn weight<'a>(&self, lines: impl Iterator<Item = &'a usize>) -> u64 {
        let lines = lines.filter_map(|&line| self.lines.get(line)?.counts.first());
        lines.fold(0, |sum, count| sum.saturating_add(count.weight))
    }
}

fn file_lines(
    file: &str,
    lines: &BTreeMap<u32, usize>,
    sources: &mut SourceFiles<'_>,
) -> FileLines {
    let mut all = Vec::new();
    let mut next = None;
    for (&line, &place) in lines {
        let gap = next.unwrap_or(line)..line;
        if gap.len() <= SHORT_GAP as usize {
            all.extend(gap.filter_map(|line| {
                let text = Some(sources.line(file, line)?);
                Some(FileLine {
                    line,
                    text,
                    place: None,
                })
            }));
        }
        all.push(FileLine {
            line,
            text: sources.line(file, line),
            place: Some(place),
        });
        next = line.checked_add(1);
    }
    FileLines {
        file: file.to_owned(),
        lines: all,
    }
}
