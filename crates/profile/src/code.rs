//! A function's code, and what was counted in it: what `annotate` shows. Addresses are SVMAs; those of the kernel
//! are addresses in memory.

use crate::{EventKind, Level, SampleCount};
use rprof_base::Share;

/// A function's code, with counts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FunctionCode {
    /// Its name; what stands for one where it has none (`[image+0xstart]`).
    pub name: String,
    /// The image's path, as it was recorded.
    pub image: String,
    /// The file that the code was read from.
    pub file: String,
    /// The machine whose instructions it has, by its name in `uname -m`; 32-bit code of x86 is `i686`.
    pub machine: String,
    /// Who runs it.
    pub level: Level,
    /// Where it was inlined, if its code is a part of another function's: then its parts are what of that is its own.
    pub inlined: Option<InlinedCode>,
    /// Its code: first the part that it is entered at, then others that the compiler put elsewhere (`.cold`).
    pub parts: Vec<CodePart>,
    /// What was counted, by event, in the recording's order.
    pub events: Vec<CodeEvent>,
    /// What a reader must know of the code: that it may differ from what ran, and why. One sentence each.
    pub notes: Vec<String>,
}

/// A function that was inlined into another one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InlinedCode {
    /// The function that was inlined.
    pub function: String,
    /// The function whose code it is a part of.
    pub into: String,
    /// Where it was inlined, in order of addresses.
    pub sites: Vec<CallSite>,
}

/// Where a function was inlined.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallSite {
    /// The function that called it, which may be inlined itself, and the line of the call.
    pub caller: CodeFrame,
    /// What was counted in what was inlined there, by event; empty if nothing was.
    pub counts: Vec<SampleCount>,
}

/// A part of a function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CodePart {
    /// The symbol that it has.
    pub symbol: String,
    /// Where it begins.
    pub address: u64,
    /// Its bytes.
    pub bytes: Vec<u8>,
}

/// What one event counted in a function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CodeEvent {
    /// Its name.
    pub name: String,
    /// What it counts.
    pub kind: EventKind,
    /// How precise addresses are (`precise_ip`, 0 to 3 of `perf_event.h`).
    pub precise_ip: u8,
    /// All samples of the event that the filter lets through, in this function or not.
    pub all: SampleCount,
    /// Samples by the address that they were taken at, sorted by address. Own samples only: no callers.
    pub counts: Vec<(u64, SampleCount)>,
}

/// What an address in a function is part of: innermost inlined function first, the function itself last.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct CodeFrames(pub Vec<CodeFrame>);

/// A function at an address, and its line there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CodeFrame {
    /// The function's name.
    pub function: String,
    /// The source file, with its whole path, and the line; lines are from 1.
    pub line: Option<(String, u32)>,
}

/// What an address is called that an instruction refers to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReferenceName {
    /// Of a symbol, a PLT stub, or what a relocation names.
    pub symbol: String,
    /// Bytes from its start.
    pub offset: u64,
}

/// A line of a listing: its text, and what the text says, for those who do more than print it.
#[derive(Clone, Debug, PartialEq)]
pub struct CodeLine {
    /// What the line is of.
    pub kind: CodeLineKind,
    /// All of it, without a newline.
    pub text: String,
    /// The share in its first column that is not empty.
    pub share: Option<Share>,
    /// Where its instruction is, or its part begins.
    pub address: Option<u64>,
    /// Where its instruction jumps to or calls, if it says so.
    pub target: Option<u64>,
    /// The function that begins there, if it is another one.
    pub callee: Option<String>,
}

/// What a line of a listing is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CodeLineKind {
    /// A sentence on the function or its counts, or nothing.
    Text,
    /// The names of a table's columns.
    TableHeading,
    /// The same of the table of the hottest source lines.
    LinesHeading,
    /// A row of a table of functions, call sites or source lines.
    TableRow,
    /// The names of the columns of code: rows of code follow.
    CodeHeading,
    /// The beginning of a part of the code.
    Part,
    /// What the instructions below are of: a source line, functions, a loop.
    Origin,
    /// An instruction.
    Instruction,
    /// Instructions that are left out.
    LeftOut,
}

impl CodeLine {
    /// A line without share or address.
    pub fn new(kind: CodeLineKind, text: String) -> Self {
        Self {
            kind,
            text,
            share: None,
            address: None,
            target: None,
            callee: None,
        }
    }
}
