//! One file that shows a recording in any browser, without a network: HTML, a script of ours, and the samples in few
//! bytes. `PAGE.md` beside this crate says what is in it.

mod code;
mod columns;
mod detail;
mod difference;
mod fields;
mod head;
mod joined;
mod losses;
mod options;
mod packing;
mod payload;
mod plain;
mod shell;
mod stacks;
mod wait_groups;
mod waits;

pub use code::{
    PageCode, PageCounts, PageFrame, PageFunction, PageInstruction, PageLoop, PagePart,
    PageRefused, PageSource,
};
pub use difference::{ComparedRecordings, DifferentialPage, EventOfBoth};
pub use options::Page;

use crate::Format;
use payload::Payload;
use rprof_base::base64_decoded_len;
use rprof_profile::SampledProfile;
use shell::{PageText, Shell};
use std::io::{self, Write};

impl Format for Page {
    type Source = SampledProfile;

    fn write(&self, sampled: &SampledProfile, out: &mut dyn Write) -> io::Result<()> {
        let shell = Shell::new()?;
        let room = self.max_bytes.saturating_sub(shell.len());
        let payload = Payload::of(self, sampled, base64_decoded_len(room))?;
        let text = PageText {
            title: &self.title,
            plain: &plain::table(sampled),
        };
        shell.write(text, [&payload.bytes, &payload.code], out)
    }
}

#[cfg(test)]
mod tests;
