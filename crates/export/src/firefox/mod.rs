//! Firefox Profiler's format: the "processed profile", whose tables are columns.
//!
//! Strings, functions, frames and stacks are shared by all threads; each thread has a table of
//! samples and one of markers. Events that are sums (CPU time, cycles) have tracks; those that
//! are moments (faults, switches, tracepoints) are markers of their threads, with the stack and,
//! of tracepoints, the fields. Waits are markers, too, from their beginning to their end. Compressed is what [`crate::write_gzip`] makes of it.
//!
//! Source: docs-developer/processed-profile-format.md and src/types/profile.ts of
//! github.com/firefox-devtools/profiler.

mod clock;
mod markers;
mod meta;
mod shared;
mod threads;
mod tracks;
mod waits;

use crate::Format;
use clock::Clock;
use rprof_profile::SampledProfile;
use rprof_untrusted::{JsonLayout, JsonWriter};
use shared::Shared;
use std::io::{self, Write};
use tracks::Tracks;

/// Firefox Profiler's JSON.
#[derive(Clone, Copy, Debug)]
pub struct Firefox;

impl Format for Firefox {
    type Source = SampledProfile;

    fn write(&self, sampled: &SampledProfile, out: &mut dyn Write) -> io::Result<()> {
        let tracks = Tracks::of(sampled);
        let mut shared = Shared::of(sampled);
        let clock = Clock::of(sampled);
        let mut json = JsonWriter::new(out, JsonLayout::Compact);
        json.object(|json| {
            json.key("meta")
                .object(|json| meta::write(sampled, clock, json));
            json.key("libs").list(|json| shared.write_libs(json));
            json.key("pages").list(|_| {});
            json.key("threads").list(|json| {
                let writer = threads::Writer {
                    sampled,
                    tracks: &tracks,
                    clock,
                };
                writer.write(&mut shared, json);
            });
            // The last, for threads have strings, too.
            json.key("shared").object(|json| shared.write(json));
        });
        json.finish()
    }
}
