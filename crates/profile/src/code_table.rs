//! Code locations with their functions and lines: what the nodes of stacks are, for viewers that show exactly where.
//!
//! Callers that are on one line of a function are one location, so that stacks are not much larger than the program;
//! only where a sample was taken is every address one of its own.

use crate::{FrameId, StrId};

/// The code locations of stacks: the frames of a [`Tree`](crate::Tree) of them are their numbers.
#[derive(Clone, Debug, Default)]
pub struct CodeTable {
    /// Files and other sources of code.
    pub images: Vec<CodeImage>,
    /// By number.
    pub locations: Vec<CodeLocation>,
}

/// Where code comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CodeKind {
    /// A program.
    Program,
    /// A shared library.
    Library,
    /// Code that was made at run time.
    Jit,
    /// The kernel, its modules and BPF programs.
    Kernel,
    /// Not known.
    Unknown,
}

/// A file with code, or something like it.
#[derive(Clone, Copy, Debug)]
pub struct CodeImage {
    /// Short name.
    pub name: StrId,
    /// Path as it was recorded.
    pub path: StrId,
    /// Its contents' identity, in hexadecimal digits.
    pub build_id: Option<StrId>,
    /// What it is.
    pub kind: CodeKind,
    /// For a kernel, where its text begins in memory, if the recording says so.
    pub base: Option<u64>,
}

/// A function at a place in code, and its line if that is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct CodeFrame {
    /// The function.
    pub frame: FrameId,
    /// File and line.
    pub line: Option<(StrId, u32)>,
}

/// A place in code.
#[derive(Clone, Debug)]
pub struct CodeLocation {
    /// Index of its image.
    pub image: u32,
    /// Offset in the image's file; of the kernel's code the address in memory. Of callers that
    /// are on one line of a function, the lowest that occurs.
    pub address: u64,
    /// Where that is in the ELF file's address space, if it has a name.
    pub svma: Option<u64>,
    /// Where the function that has a symbol begins, in the ELF file's address space; of the kernel's code in memory.
    pub function: Option<u64>,
    /// Functions there, innermost first: all but the last are inlined.
    pub frames: Vec<CodeFrame>,
}

impl CodeTable {
    /// The location that a node of a tree is at.
    pub fn of(&self, node: &crate::Node) -> Option<&CodeLocation> {
        self.locations.get(node.frame.number() as usize)
    }
}
