//! What records of a log say.

use rprof_base::{Avma, FileOffset};

/// What records say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum JitRecord {
    /// Code was made.
    Load(JitLoad),
    /// Code was moved.
    Move(JitMove),
    /// Lines of the code that is loaded next.
    Lines(JitLines),
}

/// `JIT_CODE_LOAD`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JitLoad {
    /// When, in nanoseconds.
    pub time_ns: u64,
    /// Address of the code.
    pub start: Avma,
    /// Its bytes.
    pub len: u64,
    /// A number of its own.
    pub index: u64,
    /// Where the code is in this file: no two have the same place, so it stands for the function.
    pub code: FileOffset,
    /// Where its name is in this file.
    pub(super) name_at: u64,
    /// How its frames are left, if the log says so.
    pub frames: Option<JitFrames>,
}

/// Where the `.eh_frame` of a piece of code is in a log (`JIT_CODE_UNWINDING_INFO`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JitFrames {
    pub(super) at: u64,
    pub(super) len: u32,
}

/// `JIT_CODE_MOVE`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JitMove {
    /// When, in nanoseconds.
    pub time_ns: u64,
    /// Address that the code has now.
    pub start: Avma,
    /// Its bytes.
    pub len: u64,
    /// The number of the code that was moved.
    pub index: u64,
}

/// `JIT_CODE_DEBUG_INFO`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JitLines {
    /// Address of the function.
    pub start: Avma,
    pub(super) n_entries: u64,
    pub(super) entries_at: u64,
    pub(super) end: u64,
}

/// From an address on, code is of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JitLine<'a> {
    /// The address.
    pub start: Avma,
    /// Line, from 1.
    pub line: u32,
    /// File; empty where it is the one before.
    pub file: &'a [u8],
}
