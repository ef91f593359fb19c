//! The files of a recording: the one that is being written, and those before.

use crate::cost::CostClock;
use crate::drain::DrainCounts;
use crate::drain::losses;
use crate::error::Error;
use crate::interrupts::Interrupts;
use crate::output::features::Features;
use crate::output::file_end::Ending;
use crate::output::flight_window::{Fired, FlightWindow};
use crate::output::{Created, FileBegin};
use crate::settings::{Output, RotateOn, Rotation, Settings};
use rprof_perfdata::feature::{RecorderCost, StackEnds};
use rprof_perfdata::{Writer, WrittenEvent};
use rprof_untrusted::FileId;
use std::collections::VecDeque;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// The files of a recording.
#[derive(Debug)]
pub(crate) struct Files {
    /// The one that is being written.
    pub(crate) current: Created,
    /// When another is begun, if ever.
    pub(crate) rotation: Option<Rotation>,
    /// When what rings hold is written, if only what is around triggers is.
    pub(crate) flight: Option<FlightWindow>,
    /// A flight recorder's window is in the current file: the next one could not be begun.
    pub(crate) has_window: bool,
    /// The user was told that the next file could not be begun.
    has_told_failure: bool,
    /// What the current one began with, bytes.
    n_begun_with: u64,
    /// The last one before the current one.
    last_ended: Option<Output>,
    compression: Option<i32>,
    /// What each begins with.
    events: Vec<WrittenEvent>,
    features: Features,
    /// When the current one began.
    began: Instant,
    /// What it costs since.
    cost: CostClock,
    /// Those before, while their ends are written.
    ending: VecDeque<(Created, Ending)>,
    /// Those before that are complete and kept, if there may be too many.
    kept: VecDeque<(PathBuf, FileId)>,
    /// What came of those before.
    pub(crate) earlier: Earlier,
    pub(crate) losses: Losses,
}

/// Bytes after which the file of a flight recorder is begun anew, while no trigger fires.
const MOST_QUIET_BYTES: u64 = 64 << 20;
/// Bytes after which a window ends early.
pub(crate) const MOST_WINDOW_BYTES: u64 = 256 << 20;

/// Ends that are written at a time. Each has a thread, and files open.
const MAX_ENDING: usize = 4;

/// What came of files that are complete.
#[derive(Debug, Default)]
pub(crate) struct Earlier {
    pub(crate) n_files: usize,
    /// Those that had to go: too many are not kept.
    pub(crate) n_removed: usize,
    pub(crate) size_bytes: u64,
    /// Why the end of one could not be written: the first of them.
    failed: Option<Error>,
    counts: DrainCounts,
    cost: RecorderCost,
    stacks: Option<StackEnds>,
    /// Bytes of records before they were compressed.
    pub(crate) uncompressed_bytes: u64,
}

/// What of the kernel's losses is in files.
#[derive(Debug, Default)]
pub(crate) struct Losses {
    pub(crate) samples: losses::Written,
    pub(crate) sideband: losses::Written,
}

impl Files {
    /// Creates the first file, and begins it.
    pub(crate) fn start(
        settings: &Settings,
        events: Vec<WrittenEvent>,
        features: Features,
        interrupts: &Interrupts,
    ) -> Result<(Self, Writer), Error> {
        let mut files = Self {
            current: Created::new(&settings.output)?,
            rotation: settings.writing.rotation,
            flight: (settings.writing.flight.clone())
                .map(|plan| FlightWindow::new(plan, settings.clock)),
            has_window: false,
            has_told_failure: false,
            n_begun_with: 0,
            last_ended: None,
            compression: settings.writing.compression,
            events,
            features,
            began: Instant::now(),
            cost: CostClock::start(),
            ending: VecDeque::new(),
            kept: VecDeque::new(),
            earlier: Earlier::default(),
            losses: Losses::default(),
        };
        let begin = files.begin(Vec::new());
        let writer = files.current.start(begin, interrupts)?;
        Ok((files, writer))
    }

    /// Creates another file under the name, which the current one gives up. It begins with these records.
    pub(crate) fn create_next(
        &mut self,
        output: &Output,
        records: Vec<u8>,
        interrupts: &Interrupts,
    ) -> Result<(Created, Writer), Error> {
        self.current.add_timestamp()?;
        let mut created = Created::new(output)?;
        let writer = created.start(self.begin(records), interrupts)?;
        Ok((created, writer))
    }

    fn begin(&self, records: Vec<u8>) -> FileBegin {
        FileBegin {
            events: self.events.clone(),
            features: self.features.clone(),
            records,
            compression: self.compression,
        }
    }

    /// What the current file has cost.
    pub(crate) fn cost(&self, counts: &DrainCounts, writer: &Writer) -> RecorderCost {
        self.cost.cost(counts, writer.data_len())
    }

    /// Whether another file is begun when a snapshot is wanted.
    pub(crate) fn takes_snapshots(&self) -> bool {
        self.rotation
            .is_some_and(|rotation| rotation.on == RotateOn::Signal)
    }

    /// How long it is until the next file is due, if that is known.
    pub(crate) fn due_in(&self, now: Instant) -> Option<Duration> {
        match self.rotation?.on {
            RotateOn::Time(time) => Some(time.saturating_sub(now.duration_since(self.began))),
            RotateOn::Signal => self.flight.as_ref()?.due_in(now),
            RotateOn::Bytes(_) => None,
        }
    }

    /// Whether it is time for the next file: one is asked for now, or a trigger fired some time ago.
    pub(crate) fn is_snapshot_due(&mut self, fired: Option<Fired>) -> bool {
        match &mut self.flight {
            Some(flight) => flight.is_due(fired, Instant::now()),
            None => fired.is_some(),
        }
    }

    /// Ends a flight recorder's window if its file is too large; returns whether it is. A pipe takes any number of bytes.
    pub(crate) fn end_large_window(&mut self) -> bool {
        let is_file = matches!(self.current.output(), Output::File(_));
        let is_large = is_file && self.n_since_begun() >= MOST_WINDOW_BYTES;
        let open = self.flight.as_mut().filter(|flight| flight.is_open());
        let large = open.filter(|_| is_large);
        large.map(FlightWindow::end).is_some()
    }

    fn n_since_begun(&self) -> u64 {
        self.current.n_taken().saturating_sub(self.n_begun_with)
    }

    /// Whether the current file of a flight recorder has much that nobody may ever want: what began and ended since.
    pub(crate) fn is_stale(&self) -> bool {
        let is_quiet = (self.flight.as_ref()).is_some_and(|flight| !flight.is_open());
        is_quiet && self.n_since_begun() >= MOST_QUIET_BYTES
    }

    /// Whether nothing is in the current file that is to be kept: no trigger fired since the one before.
    pub(crate) fn is_last_unkept(&self) -> bool {
        let is_file = matches!(self.current.output(), Output::File(_));
        let is_quiet = (self.flight.as_ref()).is_some_and(|flight| !flight.is_open());
        is_file && is_quiet && !self.has_window
    }

    /// The last file that is kept, and how many are beside it.
    pub(crate) fn last_kept(&self) -> (Option<&Output>, usize) {
        let n_earlier = self.earlier.n_files;
        if self.is_last_unkept() {
            (self.last_ended.as_ref(), n_earlier.saturating_sub(1))
        } else {
            (Some(self.current.output()), n_earlier)
        }
    }

    /// Another file has begun.
    pub(crate) fn begun(&mut self, n_begun_with: u64) {
        self.began = Instant::now();
        self.cost = CostClock::start();
        self.n_begun_with = n_begun_with;
        self.has_window = false;
        self.has_told_failure = false;
    }

    /// Another file could not be begun. A flight recorder tries again after its next window, or as many bytes as before;
    /// any other recording continues in this file. Returns whether the user is to be told.
    pub(crate) fn could_not_begin(&mut self) -> bool {
        if self.flight.is_none() {
            self.rotation = None;
        }
        self.n_begun_with = self.current.n_taken();
        !std::mem::replace(&mut self.has_told_failure, true)
    }

    /// The file before is kept as long as it is one of the last.
    pub(crate) fn end(&mut self, before: Created, ending: Ending, interrupts: &Interrupts) {
        self.last_ended = Some(before.output().clone());
        self.ending.push_back((before, ending));
        while self.ending.len() > MAX_ENDING {
            self.wait_for_oldest(interrupts);
        }
    }

    fn wait_for_oldest(&mut self, interrupts: &Interrupts) {
        let Some((file, ending)) = self.ending.pop_front() else {
            return;
        };
        match ending.wait(interrupts, &file) {
            Ok(size_bytes) => self.earlier.size_bytes += size_bytes,
            Err(error) => self.earlier.failed = self.earlier.failed.take().or(Some(error)),
        }
        if let Some(most) = self.rotation.and_then(|rotation| rotation.most_files) {
            self.kept.extend(file.identity());
            self.drop_oldest(most.get());
        }
    }

    /// The last file is finished, too: with it there are no more than may be.
    pub(crate) fn end_last(&mut self) {
        if let Some(most) = self.rotation.and_then(|rotation| rotation.most_files) {
            let n_last = usize::from(!self.is_last_unkept());
            self.drop_oldest(most.get() - n_last);
        }
    }

    fn drop_oldest(&mut self, most: usize) {
        while self.kept.len() > most {
            if let Some((path, oldest)) = self.kept.pop_front() {
                // Unless somebody has taken it away.
                self.earlier.n_removed += usize::from(oldest.remove(&path).is_ok());
            }
        }
    }

    /// Waits for the ends of the files before.
    pub(crate) fn wait_for_ends(&mut self, interrupts: &Interrupts) {
        while !self.ending.is_empty() {
            self.wait_for_oldest(interrupts);
        }
    }
}

impl Earlier {
    /// Bytes of the files, if all their ends could be written.
    pub(crate) fn written(&mut self) -> Result<u64, Error> {
        match self.failed.take() {
            Some(error) => Err(error),
            None => Ok(self.size_bytes),
        }
    }

    pub(crate) fn add(
        &mut self,
        counts: DrainCounts,
        cost: RecorderCost,
        stacks: Option<&StackEnds>,
    ) {
        self.n_files += 1;
        self.counts += counts;
        self.cost = self.cost_with(cost);
        if let Some(stacks) = stacks {
            self.stacks.get_or_insert_default().add_counts(stacks);
        }
    }

    /// What a file cost that is not kept, but for its bytes.
    pub(crate) fn add_effort(&mut self, cost: RecorderCost) {
        self.cost.cpu_ns += cost.cpu_ns;
        self.cost.wall_ns += cost.wall_ns;
    }

    /// What was counted in all files, with the last one.
    pub(crate) fn counts_with(&self, last: DrainCounts) -> DrainCounts {
        let mut counts = self.counts;
        counts += last;
        counts
    }

    /// What all files cost, with the last one.
    pub(crate) fn cost_with(&self, last: RecorderCost) -> RecorderCost {
        let before = self.cost;
        RecorderCost {
            cpu_ns: before.cpu_ns + last.cpu_ns,
            wall_ns: before.wall_ns + last.wall_ns,
            ring_bytes: before.ring_bytes + last.ring_bytes,
            written_bytes: before.written_bytes + last.written_bytes,
        }
    }

    /// Counts of stacks in all files, with the last one's.
    pub(crate) fn stacks_with(&mut self, last: Option<StackEnds>) -> Option<StackEnds> {
        match (self.stacks.take(), last) {
            (Some(mut all), Some(last)) => {
                all.add_counts(&last);
                Some(all)
            }
            (before, last) => before.or(last),
        }
    }
}
