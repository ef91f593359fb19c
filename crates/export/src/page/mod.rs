//! One file that shows a recording in any browser, without a network: HTML, a script of ours, and the samples in few
//! bytes. `PAGE.md` beside this crate says what is in it.

mod base64;
mod columns;
mod head;
mod joined;
mod payload;
mod shell;
mod stacks;

use crate::Format;
use payload::Payload;
use rprof_profile::SampledProfile;
use std::io::{self, Write};

/// A page with all samples of a recording; where they are too many, those of one stack within a slot of time are one
/// row with a count.
#[derive(Clone, Debug)]
pub struct Page {
    /// What it is called; others' text is made safe here.
    pub title: String,
    /// What is to be said of the recording, a line each: how good it is, what would mend it.
    pub notes: Vec<String>,
    /// Bytes that the file is to have at most.
    pub max_bytes: usize,
}

impl Page {
    /// Bytes of a file that browsers open at once, and people send each other.
    pub const MAX_BYTES: usize = 15_000_000;
}

impl Format for Page {
    type Source = SampledProfile;

    fn write(&self, sampled: &SampledProfile, out: &mut dyn Write) -> io::Result<()> {
        let room = self.max_bytes.saturating_sub(shell::len());
        let payload = Payload::of(self, sampled, base64::decoded_len(room))?;
        shell::write(&self.title, &payload.bytes, out)
    }
}

#[cfg(test)]
mod tests;
