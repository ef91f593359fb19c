//! Code in a page: instructions and source lines of the hottest functions, in a stream of its own that is unpacked when
//! somebody looks at it.

mod json;
mod places;

use super::columns::unsigned;
use super::joined::{RowSource, Rows};
use super::stacks::Stacks;
use flate2::Compression;
use flate2::write::ZlibEncoder;
use rprof_profile::{SampleCount, SamplePlace, SamplePlaces};
use std::io::{self, Write};
use std::ops::Range;

/// The first bytes: what it is, and the version.
const MAGIC: &[u8; 8] = b"RPROFCD1";

/// Of 9.
const LEVEL: u32 = 6;

/// Code of the hottest functions, while there is room.
#[derive(Clone, Debug, Default)]
pub struct PageCode {
    functions: Vec<PageFunction>,
    /// Compressed bytes of all functions, each by itself.
    n_bytes: usize,
    /// How many functions with samples of their own are not in it.
    pub n_left_out: usize,
    /// Functions and images whose code cannot be shown.
    pub refused: Vec<PageRefused>,
    /// Whether source text is left out, and only lines are there.
    is_without_text: bool,
}

/// A function's code, with counts.
#[derive(Clone, Debug, Default)]
pub struct PageFunction {
    /// Its name.
    pub name: String,
    /// The image's path, as it was recorded.
    pub image: String,
    /// The file that the code was read from.
    pub file: String,
    /// What a reader must know of the code, a sentence each.
    pub notes: Vec<String>,
    /// Parts of the code, in order.
    pub parts: Vec<PagePart>,
    /// All instructions, part by part.
    pub instructions: Vec<PageInstruction>,
    /// Instructions that are left out: before which one, and how many.
    pub left_out: Vec<(usize, usize)>,
    /// Source files with the lines of the code, and some between these: the hottest file first.
    pub sources: Vec<PageSource>,
    /// Lines that instructions are of: numbers of a source file and of a line in it.
    pub lines: Vec<(usize, u32)>,
    /// Functions that instructions are part of, innermost first.
    pub chains: Vec<Vec<PageFrame>>,
    /// Its loops, outer ones before those in them.
    pub loops: Vec<PageLoop>,
    /// What was counted.
    pub events: Vec<PageCounts>,
    /// Places in the recording, and the instruction that each is in.
    pub places: Vec<(SamplePlace, usize)>,
}

/// Code that cannot be shown.
#[derive(Clone, Debug)]
pub struct PageRefused {
    /// The image, as rows have it.
    pub image: String,
    /// The function; `None` if it is all code of the image.
    pub function: Option<String>,
    /// Why.
    pub why: String,
}

/// A function that instructions are part of.
#[derive(Clone, Debug)]
pub struct PageFrame {
    /// Its name.
    pub function: String,
    /// File and line where the function in it was inlined; `None` if it is the innermost one, or that is not known.
    pub call: Option<(String, u32)>,
}

/// A part of a function.
#[derive(Clone, Debug)]
pub struct PagePart {
    /// The symbol that it has.
    pub symbol: String,
    /// Where it begins.
    pub address: u64,
    /// Numbers of its instructions.
    pub instructions: Range<usize>,
}

/// An instruction.
#[derive(Clone, Debug)]
pub struct PageInstruction {
    /// Where it is.
    pub address: u64,
    /// What it says.
    pub text: String,
    /// The number of its line.
    pub line: Option<usize>,
    /// The number of its functions.
    pub chain: Option<usize>,
    /// The number of the instruction that it jumps to.
    pub target: Option<usize>,
}

/// A source file.
#[derive(Clone, Debug)]
pub struct PageSource {
    /// Its path.
    pub path: String,
    /// Lines, ascending, with their text if the file was found.
    pub lines: Vec<(u32, Option<String>)>,
}

/// A loop.
#[derive(Clone, Debug)]
pub struct PageLoop {
    /// Its first and its last instruction.
    pub span: (usize, usize),
    /// Where it is entered.
    pub head: usize,
    /// How many loops it is in, itself one of them.
    pub depth: usize,
    /// The number of the innermost loop that it is in.
    pub parent: Option<usize>,
    /// Ranges of the instructions that are in no loop further in.
    pub ranges: Vec<Range<usize>>,
    /// How many instructions it has, with those of loops in it.
    pub n_instructions: usize,
}

/// What an event counted in a function.
#[derive(Clone, Debug)]
pub struct PageCounts {
    /// The event's number in the page.
    pub event: usize,
    /// In all of the function.
    pub all: SampleCount,
    /// By instruction, ascending.
    pub at: Vec<(usize, SampleCount)>,
}

impl PageCode {
    /// Functions of a page at most.
    pub const MAX_FUNCTIONS: usize = 100;

    /// Compressed bytes of functions at most.
    pub const MAX_BYTES: usize = 100_000;

    /// With less room than that, no more functions are looked at: few have so little code.
    const LEAST_ROOM: usize = 1000;

    /// Instructions of a function at most: what is alike takes few bytes, and much time to draw.
    pub const MAX_INSTRUCTIONS: usize = 5000;

    /// Code that gets no text of source lines.
    pub fn without_text() -> Self {
        Self {
            is_without_text: true,
            ..Self::default()
        }
    }

    /// Adds a function if there is room; returns whether there was.
    ///
    /// # Errors
    /// The encoder's.
    pub fn add(&mut self, function: PageFunction) -> io::Result<bool> {
        let mut zlib = ZlibEncoder::new(Vec::new(), Compression::new(LEVEL));
        zlib.write_all(&json::of_function(&function, self.is_without_text)?)?;
        let n_bytes = self.n_bytes + zlib.finish()?.len();
        let has_room = n_bytes <= Self::MAX_BYTES
            && self.functions.len() < Self::MAX_FUNCTIONS
            && function.instructions.len() <= Self::MAX_INSTRUCTIONS;
        if has_room {
            self.n_bytes = n_bytes;
            self.functions.push(function);
        }
        Ok(has_room)
    }

    /// Whether to stop adding functions: there is room for a tiny one at most.
    pub fn is_full(&self) -> bool {
        let left = Self::MAX_BYTES.saturating_sub(self.n_bytes);
        left < Self::LEAST_ROOM || self.functions.len() >= Self::MAX_FUNCTIONS
    }

    /// Functions that are in it.
    pub fn functions(&self) -> &[PageFunction] {
        &self.functions
    }

    /// How many source files there is text of.
    pub fn n_texts(&self) -> usize {
        let sources = self.functions.iter().flat_map(|function| &function.sources);
        let has_text = |source: &&PageSource| source.lines.iter().any(|(_, text)| text.is_some());
        let paths = sources.filter(has_text).map(|source| &source.path);
        let paths: std::collections::BTreeSet<&String> = paths.collect();
        if self.is_without_text { 0 } else { paths.len() }
    }

    /// The compressed stream; with the instruction of each row if rows are samples one by one. Empty if there is nothing to
    /// say of any function.
    pub(super) fn stream(&self, samples: Option<PlacedRows<'_>>) -> io::Result<Vec<u8>> {
        if self.functions.is_empty() && self.refused.is_empty() {
            return Ok(Vec::new());
        }
        let mut zlib = ZlibEncoder::new(Vec::new(), Compression::new(LEVEL));
        let mut bytes = MAGIC.to_vec();
        let json = json::of_all(self, samples.is_some())?;
        unsigned(&mut bytes, json.len() as u64);
        bytes.extend(json);
        zlib.write_all(&bytes)?;
        if let Some(samples) = samples {
            zlib.write_all(&places::columns(self, samples))?;
        }
        zlib.finish()
    }
}

/// Rows that are samples one by one, and where these were taken.
#[derive(Clone, Copy)]
pub(super) struct PlacedRows<'a> {
    pub(super) rows: &'a Rows,
    pub(super) source: RowSource<'a>,
    pub(super) stacks: &'a Stacks,
    pub(super) places: &'a SamplePlaces,
}

#[cfg(test)]
mod tests;
