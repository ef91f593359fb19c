//! Frames and names of a batch of addresses.

use crate::function_index::FunctionIndex;
use crate::table::Symbol;
use foldhash::fast::RandomState;
use rprof_base::{Interner, Svma};
use std::fmt;
use std::num::NonZeroU32;

/// Why an address, or a whole image, has no name.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Reason {
    /// The image's file was not found.
    NoFile(rprof_images::NoFile),
    /// The file has no symbols at all.
    Stripped,
    /// The file has only the symbols that others link to.
    OnlyExported,
    /// What the file says takes more memory than the budget had left.
    OverBudget,
    /// Code was made at run time, and nobody wrote down what it is called.
    NoMap,
    /// There are names for such code, but not for certain those of the process that was recorded.
    NotItsMap(String),
    /// The kernel's symbols cannot be read, or are another kernel's.
    NoKernelSymbols(String),
    /// There were none when names were put into the recording, for this reason; nor are there now.
    WhenEmbedded(String),
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoFile(reason) => reason.fmt(f),
            Self::Stripped => write!(f, "the file has no symbols (stripped)"),
            Self::OnlyExported => write!(f, "only exported functions have names (stripped)"),
            Self::OverBudget => write!(f, "its symbols take more memory than --mem allows"),
            Self::NoMap => write!(f, "JIT code, and no file with its names"),
            Self::NotItsMap(why) | Self::NoKernelSymbols(why) | Self::WhenEmbedded(why) => {
                f.write_str(why)
            }
        }
    }
}

impl std::error::Error for Reason {}

/// A source line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Line {
    /// Number of the file's name: see [`Symbolized::name`].
    pub file: u32,
    /// Line, from 1; 0 if not known.
    pub line: u32,
}

/// A named place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frame {
    /// Number of its name: see [`Symbolized::name`].
    pub name: u32,
    /// Start of the function whose code this is; inlined functions have their host's. An SVMA,
    /// for kernel code the address in memory.
    pub start: u64,
    /// Bytes from there to the address; one less than none where nothing calls the function, and the
    /// address is one before a return address.
    pub offset: u64,
    /// Bytes of the symbol that names it; none if no symbol does.
    pub size: Option<NonZeroU32>,
    /// Whether the function was inlined into the next frame's.
    pub is_inlined: bool,
    /// Where in the source.
    pub line: Option<Line>,
}

impl Symbol<'_> {
    /// Its frame at an address.
    pub(crate) fn frame(&self, name: u32, address: u64, line: Option<Line>) -> Frame {
        Frame {
            name,
            start: self.start,
            offset: address.wrapping_sub(self.start),
            size: self.size(),
            is_inlined: false,
            line,
        }
    }
}

/// Frames of a batch of addresses, in their order, with their names.
#[derive(Debug, Default)]
pub struct Symbolized {
    names: Vec<String>,
    frames: Vec<Frame>,
    ends: Vec<u32>,
    /// Of addresses without frames, by index: where their functions begin.
    function_starts: Vec<(u32, Svma)>,
    /// If asked for.
    index: Option<FunctionIndex>,
    missing_reason: Option<Reason>,
    pub(crate) n_malformed: u64,
    is_over_budget: bool,
}

impl Symbolized {
    /// Takes names, frames, and for each address where its frames end.
    pub(crate) fn new(names: Vec<String>, frames: Vec<Frame>, ends: Vec<u32>) -> Self {
        Self {
            names,
            frames,
            ends,
            function_starts: Vec::new(),
            index: None,
            missing_reason: None,
            n_malformed: 0,
            is_over_budget: false,
        }
    }

    /// Nothing has a name, for a reason.
    pub(crate) fn unnamed(reason: Reason) -> Self {
        Self {
            missing_reason: Some(reason),
            ..Self::default()
        }
    }

    /// Lines of the file that made no sense, as far as it was read.
    pub fn n_malformed(&self) -> u64 {
        self.n_malformed
    }

    /// Whether something of the file was left out, because it takes more than the budget had left.
    pub fn is_over_budget(&self) -> bool {
        self.is_over_budget
    }

    /// Notes that something may have been left out.
    pub(crate) fn note_over_budget(&mut self, is_over_budget: bool) {
        self.is_over_budget |= is_over_budget;
    }

    /// Why addresses without a name have none, where that has a reason.
    pub fn missing_reason(&self) -> Option<&Reason> {
        self.missing_reason.as_ref()
    }

    /// Says why addresses without a name have none.
    pub(crate) fn explain(&mut self, reason: Reason) {
        self.missing_reason = Some(reason);
    }

    /// Frames of the address with this index, innermost first; empty if it has no name.
    pub fn frames(&self, index: usize) -> &[Frame] {
        let end = |index: usize| self.ends.get(index).map_or(0, |&end| end as usize);
        let start = index.checked_sub(1).map_or(0, end);
        self.frames.get(start..end(index)).unwrap_or_default()
    }

    /// Where the function begins that the address with this index is in, if that is known and its
    /// name is not.
    pub fn function_start(&self, index: usize) -> Option<Svma> {
        let starts = &self.function_starts;
        let at = starts.binary_search_by_key(&index, |&(idx, _)| idx as usize);
        Some(starts.get(at.ok()?)?.1)
    }

    /// All functions of the image, if they were asked for and can be told.
    pub fn take_index(&mut self) -> Option<FunctionIndex> {
        self.index.take()
    }

    /// Adds all functions of the image.
    pub fn set_index(&mut self, index: Option<FunctionIndex>) {
        self.index = index;
    }

    /// Says where functions without names begin, by index, sorted.
    pub(crate) fn set_function_starts(&mut self, starts: Vec<(u32, Svma)>) {
        self.function_starts = starts;
    }

    /// A name, demangled, or a file's name.
    pub fn name(&self, number: u32) -> &str {
        self.names.get(number as usize).map_or("", String::as_str)
    }
}

/// Collects frames, address by address; each name is demangled once.
#[derive(Debug, Default)]
pub struct Collector {
    symbolized: Symbolized,
    /// As they are shown, by what they are in the file.
    names: Interner<u32, String, RandomState, Vec<u8>>,
}

impl Collector {
    /// The number of a name, `show`n at its first use.
    pub fn name(&mut self, raw: &[u8], show: impl FnOnce(&[u8]) -> String) -> u32 {
        match self.names.find(raw) {
            Some(number) => number,
            None => self.names.intern_with(raw.to_vec(), |raw| show(raw)),
        }
    }

    /// Adds a frame to the current address.
    pub fn frame(&mut self, frame: Frame) {
        self.symbolized.frames.push(frame);
    }

    /// Says where the function begins that the current address is in, which has no name.
    pub fn function_start(&mut self, start: Svma) {
        if let Ok(own) = u32::try_from(self.symbolized.ends.len()) {
            self.symbolized.function_starts.push((own, start));
        }
    }

    /// Says why addresses without a name have none.
    pub fn explain(&mut self, reason: Reason) {
        self.symbolized.explain(reason);
    }

    /// Adds the frames that others have for the address with this index.
    pub fn copy(&mut self, others: &Symbolized, index: usize) {
        if let Some(start) = others.function_start(index) {
            self.function_start(start);
        }
        let shown = |name: &[u8]| String::from_utf8_lossy(name).into_owned();
        for &frame in others.frames(index) {
            let name = self.name(others.name(frame.name).as_bytes(), shown);
            let line = frame.line.map(|line| Line {
                file: self.name(others.name(line.file).as_bytes(), shown),
                ..line
            });
            self.frame(Frame {
                name,
                line,
                ..frame
            });
        }
    }

    /// Goes on to the next address.
    pub fn end_address(&mut self) {
        let end = u32::try_from(self.symbolized.frames.len()).unwrap_or(u32::MAX);
        self.symbolized.ends.push(end);
    }

    /// The frames of all addresses, in the order in which those were ended.
    pub fn finish(self) -> Symbolized {
        Symbolized {
            names: self.names.into_values(),
            ..self.symbolized
        }
    }
}
