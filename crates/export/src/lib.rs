//! Profiles as other viewers read them, and as a page that needs none: one file for each format.
//!
//! What a format is made of is a [`Profile`](rprof_profile::Profile); where it shows addresses,
//! [`CountedStacks`](rprof_profile::CountedStacks); and where it shows times, a
//! [`SampledProfile`](rprof_profile::SampledProfile). All are plain data, which anybody can build:
//!
//! ```
//! use rprof_export::{Folded, Format, Json};
//! use rprof_profile::{EventKind, EventProfile, FrameInfo, Group, Level, Loss, Profile, SampleCount, Sampling, Tally, TallyParts, ValuesId};
//! use rprof_untrusted::Untrusted;
//!
//! let mut profile = Profile::default();
//! let image = profile.strings.intern("prog");
//! let mut function = |name: &str| {
//!     let name = Some(profile.strings.intern(name));
//!     let level = Level::User;
//!     let (is_inlined, is_jit, is_fde) = (false, false, false);
//!     profile.frames.intern(FrameInfo { name, image, start: None, level, is_inlined, is_jit, is_fde, position: None, place: None })
//! };
//! let stack = [function("main"), function("work")];
//! let mut tally = Tally::default();
//! let group = tally.group(profile.strings.intern("prog"));
//! tally.add_samples(3, 3_000_000);
//! let count = SampleCount { samples: 3, weight: 3_000_000 };
//! tally.add_stack(group, stack.into_iter(), count);
//! let TallyParts { tree, groups: comms, samples, weight } = tally.into_parts();
//! let group = |comm| Group { comm, values: ValuesId::NONE };
//! profile.events.push(EventProfile {
//!     name: Untrusted::new("cpu-clock".to_owned()),
//!     kind: EventKind::CpuTime,
//!     sampling: Sampling::PerSecond(1000),
//!     samples,
//!     weight,
//!     loss: Loss::default(),
//!     tree,
//!     groups: comms.into_iter().map(group).collect(),
//! });
//!
//! let mut folded = Vec::new();
//! Folded { event: 0 }.write(&profile, &mut folded)?;
//! assert_eq!(folded, b"prog;main;work 3\n");
//! let mut json = Vec::new();
//! Json.write(&profile, &mut json)?;
//! assert!(json.starts_with(br#"{"schema":"rprof-profile","version":1,"#));
//! # Ok::<(), std::io::Error>(())
//! ```
//!
//! `rprof_analysis::load`, `load_counted_stacks` and `load_code_samples` make them of recordings.

mod callgrind;
mod facts;
mod firefox;
mod folded;
mod formats;
mod otlp;
mod page;
mod perfetto;
mod pprof;
mod profile_json;
mod speedscope;
#[cfg(feature = "parquet")]
mod tables;
#[cfg(test)]
mod tests;

pub use callgrind::Callgrind;
pub use facts::SampledTime;
pub use firefox::Firefox;
pub use folded::Folded;
pub use formats::{Compressed, Content, ExportFormat, FORMATS};
pub use otlp::{Otlp, service_name};
pub use page::{
    ComparedRecordings, DifferentialPage, EventOfBoth, Page, PageCode, PageCounts, PageFrame,
    PageFunction, PageInstruction, PageLoop, PagePart, PageRefused, PageSource,
};
pub use perfetto::{PerfettoError, PerfettoTrace, WrittenTrace};
pub use pprof::{Pprof, SampleLabels, StorePprof, store_series};
pub use profile_json::{Json, PROFILE_VERSION};
pub use speedscope::Speedscope;
#[cfg(feature = "parquet")]
pub use tables::{TablesError, WrittenTables, write_tables};

use std::fmt::Debug;
use std::io::{self, Write};

/// A way to write a profile.
///
/// Same source, same bytes; numbers are those of the source, to the last digit.
pub trait Format: Debug + Sync {
    /// What is written.
    type Source;

    /// Writes it. Nothing is flushed.
    ///
    /// # Errors
    /// The writer's.
    fn write(&self, source: &Self::Source, out: &mut dyn Write) -> io::Result<()>;
}

/// Writes through a gzip compressor.
///
/// # Errors
/// The writer's.
pub fn write_gzip<F: Format + ?Sized>(
    format: &F,
    source: &F::Source,
    out: &mut dyn Write,
) -> io::Result<()> {
    through_gzip(out, |out| format.write(source, out))
}

/// Hands a gzip compressor to what writes.
///
/// # Errors
/// Those of what writes, and the writer's.
pub fn through_gzip<T, E: From<io::Error>>(
    out: &mut dyn Write,
    write: impl FnOnce(&mut dyn Write) -> Result<T, E>,
) -> Result<T, E> {
    // Most of what is written are numbers: a higher level costs more time than it saves space.
    let mut gzip = flate2::write::GzEncoder::new(out, flate2::Compression::new(GZIP_LEVEL));
    let written = write(&mut gzip)?;
    gzip.finish()?;
    Ok(written)
}

/// Of 9.
const GZIP_LEVEL: u32 = 2;
