//! A recording: its file, its index, and what is found out about it once.

use crate::Error;
use crate::index::{RecordingIndex, SampleOrder, WallClock};
use crate::spans::{Spans, edge_events};
use crate::symbolize::KnownNames;
use foldhash::HashMap;
use rprof_images::Fingerprint;
use rprof_locate::Locator;
use rprof_machine::ImageId;
use rprof_perfdata::Reader;
use std::ops::RangeInclusive;
use std::sync::{Arc, OnceLock};

/// What was in files that have no build id, by path, inode and device.
pub(crate) type Contents = HashMap<(Vec<u8>, u64, (u32, u32)), Fingerprint>;

/// For each image, the recorded processes that live and had it mapped when the recording ended.
pub(crate) type ProcessesByImage = HashMap<ImageId, Vec<i32>>;

/// A recording that passes read; threads share it.
#[derive(Debug)]
pub struct Recording<'r> {
    /// The file.
    pub reader: &'r Reader,
    /// What the index pass found.
    pub index: RecordingIndex,
    /// Where to look for binaries.
    pub locator: &'r Locator,
    clock: OnceLock<Option<WallClock>>,
    /// Asked for files that are not found otherwise.
    pub(crate) processes: OnceLock<ProcessesByImage>,
    pub(crate) contents: OnceLock<Contents>,
    /// Names that other recordings of this machine were found to have.
    pub(crate) known_names: Option<Arc<KnownNames>>,
    /// Those of threads, once they are asked for; `None` if there are none.
    pub(crate) spans: OnceLock<Option<Spans>>,
    /// By event: whether it begins or ends spans.
    edge_events: Vec<bool>,
}

impl<'r> Recording<'r> {
    /// Reads the index of a recording whose samples are wanted in an order.
    ///
    /// # Errors
    /// [`Error`] if the file cannot be read at all; what is damaged in it becomes a warning.
    pub fn open(
        reader: &'r Reader,
        locator: &'r Locator,
        order: SampleOrder,
    ) -> Result<Self, Error> {
        Ok(Self {
            reader,
            index: RecordingIndex::of(reader, locator, order)?,
            locator,
            clock: OnceLock::new(),
            processes: OnceLock::new(),
            contents: OnceLock::new(),
            known_names: None,
            spans: OnceLock::new(),
            edge_events: edge_events(reader),
        })
    }

    /// Whether an event begins or ends spans: it says nothing of where time goes.
    pub fn is_edge(&self, event: usize) -> bool {
        self.edge_events.get(event) == Some(&true)
    }

    /// The spans of its threads, if they were asked for, and there are any.
    pub(crate) fn spans(&self) -> Option<&Spans> {
        self.spans.get()?.as_ref()
    }

    /// How many parts of it threads read apart.
    pub fn n_chunks(&self) -> usize {
        self.index.chunks.len()
    }

    /// The times of its first and its last sample by its own clock, whatever a filter accepts; `None` without samples or
    /// times, and where samples are wanted in any order.
    pub fn sample_times(&self) -> Option<RangeInclusive<u64>> {
        self.index.sample_times.clone()
    }

    /// The recording's clock against that of files; `None` if the recording does not say.
    pub(crate) fn clock(&self) -> Option<WallClock> {
        *self.clock.get_or_init(|| WallClock::of(self.reader))
    }

    /// What could not be used of the file and its records, one sentence each.
    pub fn warnings(&self) -> impl Iterator<Item = String> {
        let of_file = self.reader.warnings().iter().map(ToString::to_string);
        of_file.chain(self.index.warnings.iter().cloned())
    }
}
