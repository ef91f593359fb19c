//! A recording in memory, for somebody who looks at it while it goes on.
//!
//! It comes in segments. Each is a whole recording of the time since the one before, and describes what runs.

use crate::error::Error;
use crate::settings::Output;
use crossbeam_channel::{Receiver, RecvTimeoutError, Sender, TrySendError, bounded};
use rprof_perfdata::{Reader, WrittenEvent};
use std::fs::File;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

/// Segments that wait for whom they are for. Of more, the oldest are dropped.
const MOST_WAITING: usize = 8;

/// Bytes of a segment: then the next one begins, whatever the time.
pub(crate) const MOST_SEGMENT_BYTES: u64 = 16 << 20;

/// What reads and messages call a segment.
const NAME: &str = "memory";

/// Makes the two ends of a recording in memory: where it goes, and where its segments are taken.
pub fn segments() -> (SegmentOutput, Segments) {
    let (to, from) = bounded(MOST_WAITING);
    let shared = Arc::<Shared>::default();
    let output = SegmentOutput {
        to,
        oldest: from.clone(),
        shared: Arc::clone(&shared),
    };
    (output, Segments { from, shared })
}

/// What both ends know.
#[derive(Debug, Default)]
struct Shared {
    /// Nobody looks any more.
    is_over: AtomicBool,
    /// Samples of segments that nobody took in time.
    dropped: AtomicU64,
}

/// Where a recording in memory goes.
#[derive(Clone, Debug)]
pub struct SegmentOutput {
    /// The last is none.
    to: Sender<Option<RecordedSegment>>,
    /// The other end, to make room.
    oldest: Receiver<Option<RecordedSegment>>,
    shared: Arc<Shared>,
}

impl SegmentOutput {
    /// Whether nobody looks any more.
    pub(crate) fn is_over(&self) -> bool {
        self.shared.is_over.load(Ordering::Relaxed)
    }

    /// The recording is over: there will be no other segment.
    pub fn end(&self) {
        self.send(None);
    }

    fn send(&self, mut segment: Option<RecordedSegment>) {
        while let Err(TrySendError::Full(back)) = self.to.try_send(segment) {
            segment = back;
            if let Ok(Some(oldest)) = self.oldest.try_recv() {
                self.shared
                    .dropped
                    .fetch_add(oldest.samples, Ordering::Relaxed);
            }
        }
    }
}

/// Where the segments of a recording are taken.
#[derive(Debug)]
pub struct Segments {
    from: Receiver<Option<RecordedSegment>>,
    shared: Arc<Shared>,
}

/// What comes of waiting for a segment.
#[derive(Debug)]
pub enum NextSegment {
    /// There is one.
    Segment(RecordedSegment),
    /// Not yet.
    NotYet,
    /// There will be none: the recording has ended.
    End,
}

impl Segments {
    /// Waits for the next segment, but no longer than that.
    pub fn next(&self, timeout: Duration) -> NextSegment {
        match self.from.recv_timeout(timeout) {
            Ok(Some(segment)) => NextSegment::Segment(segment),
            Err(RecvTimeoutError::Timeout) => NextSegment::NotYet,
            Ok(None) | Err(RecvTimeoutError::Disconnected) => NextSegment::End,
        }
    }

    /// Samples of segments that were dropped since this was last asked: they were not taken in time.
    pub fn take_dropped(&self) -> u64 {
        self.shared.dropped.swap(0, Ordering::Relaxed)
    }

    /// Ends the recording: nobody looks any more.
    pub fn stop(&self) {
        self.shared.is_over.store(true, Ordering::Relaxed);
    }
}

impl Drop for Segments {
    fn drop(&mut self) {
        self.stop();
    }
}

/// A part of a recording, whole by itself, in memory.
#[derive(Debug)]
pub struct RecordedSegment {
    pub(crate) file: File,
    /// Those that it has samples of.
    pub(crate) events: Vec<WrittenEvent>,
    /// Samples in it.
    pub samples: u64,
    /// Its size, bytes.
    pub size_bytes: u64,
    /// How long it was recorded.
    pub time: Duration,
    /// Up to when it has all records, nanoseconds of the recording's clock.
    pub end_ns: u64,
    /// What its records begin with, bytes: what ran already, and what the one before has, too.
    pub(crate) repeated_bytes: u64,
}

impl RecordedSegment {
    /// Opens it as any recording.
    ///
    /// # Errors
    /// As of a file.
    pub fn open(&self) -> Result<Reader, rprof_perfdata::Error> {
        let path = Path::new(NAME);
        let file = self.file.try_clone();
        let file = file.map_err(|source| rprof_perfdata::Error::Io {
            path: path.to_owned(),
            source,
        })?;
        Reader::from_file(path, file)
    }
}

/// Sends a segment once it is complete.
#[derive(Debug)]
pub(crate) struct SegmentEnd {
    to: SegmentOutput,
    file: File,
    begin: SegmentBegin,
    end_ns: u64,
}

/// What a segment begins with.
#[derive(Clone, Debug, Default)]
pub(crate) struct SegmentBegin {
    pub(crate) events: Vec<WrittenEvent>,
    /// Bytes of records that the one before has, too.
    pub(crate) repeated_bytes: u64,
}

impl SegmentEnd {
    /// That of a file, if its output is segments. It has all records up to `end_ns`.
    pub(crate) fn new(
        output: &Output,
        file: &File,
        begin: &SegmentBegin,
        end_ns: u64,
    ) -> Result<Option<Self>, Error> {
        let Output::Segments(to) = output else {
            return Ok(None);
        };
        let file = file.try_clone();
        Ok(Some(Self {
            to: to.clone(),
            file: file.map_err(Error::system("duplicating a descriptor"))?,
            begin: begin.clone(),
            end_ns,
        }))
    }

    /// It is complete.
    pub(crate) fn send(self, samples: u64, size_bytes: u64, time: Duration) {
        self.to.send(Some(RecordedSegment {
            file: self.file,
            samples,
            size_bytes,
            time,
            end_ns: self.end_ns,
            events: self.begin.events,
            repeated_bytes: self.begin.repeated_bytes,
        }));
    }
}
