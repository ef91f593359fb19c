//! The `perf.data` file: [`Writer`] makes one, [`add_feature`] adds to it, [`Reader`] opens anybody's.
//!
//! ```text
//! 0            file header, 104 bytes: magic, attr size, sections, feature bits
//!              ids of event 0, ids of event 1, ...      (u64 each)
//! attrs        perf_event_attr + section of its ids, for each event
//! data         records, as the kernel and tools wrote them
//! data.end     one section (offset, size) for each feature bit, lowest first
//!              the feature sections themselves
//! ```
//!
//! # All samples of a file
//!
//! ```
//! use rprof_abi::{Record, RecordKind};
//! use rprof_perfdata::{Reader, Step};
//! use std::path::Path;
//!
//! let path = Path::new("perf.data");
//! # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/spin/perf.data");
//! # let path = Path::new(path);
//! # if !path.exists() { return Ok(()); }
//! # let mut n_samples = 0;
//! let reader = Reader::open(path)?;
//! let warnings = reader.walk(reader.data(), |_, raw| {
//!     let event = reader.event_of(raw).and_then(|event| reader.events().get(event));
//!     if let Some(event) = event.filter(|_| raw.kind == RecordKind::SAMPLE)
//!         && let Ok((Record::Sample(sample), _)) = Record::parse(raw, &event.layout)
//!     {
//!         # n_samples += 1;
//!         let (tid, ip) = (sample.tid.unwrap_or(0), sample.ip.unwrap_or(0));
//!         println!("{}: thread {tid} at {ip:#x}", event.name);
//!     }
//!     Step::On
//! })?;
//! // Where the file is damaged, what comes before counts.
//! warnings.iter().for_each(|warning| eprintln!("{warning}"));
//! # assert!(n_samples > 0 && warnings.is_empty());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Source: tools/perf/Documentation/perf.data-file-format.txt and tools/perf/util/header.c
//! (v6.1). A file is read with `pread` in windows: nothing is mapped, so a file that is cut
//! while it is read gives an error or a warning, not a SIGBUS.

#![warn(clippy::indexing_slicing)]

mod add_feature;
mod attr_fields;
mod error;
pub mod feature;
mod file_header;
pub mod file_record;
mod kinds;
mod ranges;
mod reader;
mod rewrite;
mod synthetic_image;
#[cfg(test)]
mod testing;
mod writer;

pub use add_feature::{add_feature, add_feature_to};
pub use attr_fields::visit_attr;
pub use error::{Error, FileLocation, Warning};
pub use feature::{Feature, FeatureId};
pub use file_header::{FileHeader, Section};
pub use file_record::FileRecord;
pub use kinds::{file_kind, kind_name};
pub use reader::{
    BlockWalk, Form, Reader, RecordedEvent, RecordingInput, Records, Step, WalkedBlock,
};
pub use rewrite::rewrite_with;
pub use synthetic_image::{SyntheticFunction, SyntheticIdentity, SyntheticImages, SyntheticLevel};
pub use writer::{Finished, Writer, WrittenEvent};
