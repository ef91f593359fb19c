//! Firefox Profiler's format: the "processed profile", whose tables are columns.
//!
//! Strings, functions, frames and stacks are shared by all threads; each thread has a table of
//! samples and one of markers. Events that are sums (CPU time, cycles) have tracks; those that
//! are moments (faults, switches, tracepoints) are markers of their threads, with the stack and,
//! of tracepoints, the fields. Compressed is what [`crate::write_gzip`] makes of it.
//!
//! Source: docs-developer/processed-profile-format.md and src/types/profile.ts of
//! github.com/firefox-devtools/profiler.

mod markers;
mod meta;
mod shared;
mod threads;
mod tracks;

use crate::Format;
use crate::json::Json;
use rprof_profile::timeline::Timeline;
use shared::Shared;
use std::io::{self, Write};
use tracks::Tracks;

/// Firefox Profiler's JSON.
#[derive(Clone, Copy, Debug)]
pub struct Firefox;

/// Version of the processed format; the page converts older ones when it loads them.
const VERSION: u64 = 69;

/// Version of the format that Firefox itself writes, which no part of this comes from.
const GECKO_VERSION: u64 = 36;

impl Format for Firefox {
    type Source = Timeline;

    fn write(&self, timeline: &Timeline, out: &mut dyn Write) -> io::Result<()> {
        let tracks = Tracks::of(timeline);
        let mut shared = Shared::of(timeline);
        let clock = Clock::of(timeline);
        let mut json = Json::new(out);
        json.object(|json| {
            json.key("meta")
                .object(|json| meta::write(timeline, clock, json));
            json.key("libs").list(|json| shared.write_libs(json));
            json.key("pages").list(|_| {});
            json.key("threads").list(|json| {
                let writer = threads::Writer {
                    timeline,
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

/// Times count from the first thing that is known.
#[derive(Clone, Copy, Debug)]
struct Clock {
    start_ns: u64,
    end_ns: u64,
}

impl Clock {
    fn of(timeline: &Timeline) -> Self {
        let threads = timeline.threads.iter();
        let losses = timeline.losses.iter().map(|loss| loss.time_ns);
        let starts = threads.clone().map(|thread| thread.start_ns);
        let ends = threads.map(|thread| thread.end_ns);
        Self {
            start_ns: starts.chain(losses.clone()).min().unwrap_or(0),
            end_ns: ends.chain(losses).max().unwrap_or(0),
        }
    }

    /// Nanoseconds from the start.
    fn since(self, time_ns: u64) -> u64 {
        time_ns.saturating_sub(self.start_ns)
    }
}
