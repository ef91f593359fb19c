//! What a page is made with.

use super::code::PageCode;

/// A page with all samples of a recording; where they are too many, those of one stack within a slot of time are one
/// row with a count.
#[derive(Clone, Debug)]
pub struct Page {
    /// What it is called; others' text is made safe here.
    pub title: String,
    /// The name of the recording's file, for the commands that it shows; `None` if it has none, or there are several.
    pub recording: Option<String>,
    /// What is to be said of the recording, a line each: how good it is, what would mend it.
    pub notes: Vec<String>,
    /// Whether filters left out a part of the recording.
    pub is_filtered: bool,
    /// Code of its hottest functions.
    pub code: PageCode,
    /// Bytes that the file is to have at most.
    pub max_bytes: usize,
}

impl Page {
    /// Bytes of a file that browsers open at once, and people send each other.
    pub const MAX_BYTES: usize = 15_000_000;

    /// Samples of tracepoints of which it has the fields.
    pub const MAX_FIELDS: usize = 20_000;
}
