//! One file that shows a recording in any browser, without a network: HTML, a script of ours, and the samples in few
//! bytes. `PAGE.md` beside this crate says what is in it.

mod columns;
mod detail;
mod difference;
mod head;
mod joined;
mod losses;
mod options;
mod packing;
mod payload;
mod plain;
mod shell;
mod stacks;
mod waits;

pub use difference::{ComparedRecordings, DifferentialPage, EventOfBoth};
pub use options::Page;

use crate::Format;
use payload::Payload;
use rprof_base::base64_decoded_len;
use rprof_profile::SampledProfile;
use std::io::{self, Write};

impl Format for Page {
    type Source = SampledProfile;

    fn write(&self, sampled: &SampledProfile, out: &mut dyn Write) -> io::Result<()> {
        let room = self.max_bytes.saturating_sub(shell::len());
        let payload = Payload::of(self, sampled, base64_decoded_len(room))?;
        shell::write(&self.title, &plain::table(sampled), &payload.bytes, out)
    }
}

#[cfg(test)]
mod tests;
