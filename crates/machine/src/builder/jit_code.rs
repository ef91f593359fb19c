//! Code that a compiler wrote into memory at run time and that a log (`jit-PID.dump`) has: each
//! piece is mapped from its place in the log, from the moment on that it was written.
//!
//! A compiler that writes a jitdump maps a page of it as code, so that recordings name it. An offset in it
//! stands for one function, as places in other files do: an address that held two functions, one
//! after the other, is two places.

use super::HistoryBuilder;
use crate::change::{Change, Space};
use crate::ranges::{Backing, Range};
use crate::{ImageId, Images, Key, RecordedImage};
use foldhash::HashSet;
use rprof_base::{Avma, FileOffset};

/// A log that a process has mapped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MappedJitDump {
    /// The process.
    pub pid: i32,
    /// The log.
    pub image: ImageId,
    /// When it was mapped first.
    pub mapped: Key,
}

/// A piece of code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JitCode {
    /// Where it is in memory.
    pub start: Avma,
    /// Its bytes.
    pub len: u64,
    /// Where it is in the log.
    pub offset: FileOffset,
}

/// Logs and what they say.
#[derive(Debug, Default)]
pub(super) struct Compiled {
    logs: Vec<MappedJitDump>,
    known: HashSet<(i32, ImageId)>,
    changes: Vec<(Key, Change)>,
}

impl Compiled {
    /// Takes note of a mapping, if it is of a log.
    pub(super) fn note(&mut self, images: &Images, key: Key, change: &Change) {
        let Change::Map { space, range } = change else {
            return;
        };
        if let Space::User(pid) = *space
            && images
                .of(range.image)
                .is_some_and(RecordedImage::is_jitdump)
            && self.known.insert((pid, range.image))
        {
            self.logs.push(MappedJitDump {
                pid,
                image: range.image,
                mapped: key,
            });
        }
    }

    /// What was added, from the last to the first; of changes at one moment, those added later
    /// are later.
    pub(super) fn into_changes(self) -> Vec<(Key, Change)> {
        let mut changes = self.changes;
        changes.sort_by_key(|&(key, _)| key);
        changes.reverse();
        changes
    }
}

impl HistoryBuilder {
    /// Whether records have times.
    pub fn has_times(&self) -> bool {
        self.has_times
    }

    /// Jitdumps that processes have mapped so far.
    pub fn jitdumps(&self) -> &[MappedJitDump] {
        &self.compiled.logs
    }

    /// An image that was mapped.
    pub fn image(&self, id: ImageId) -> Option<&RecordedImage> {
        self.images.of(id)
    }

    /// Takes a piece of code that a log has. Without a time that can be compared with the
    /// recording's, it counts from the log's mapping on.
    pub fn add_code(&mut self, log: &MappedJitDump, time_ns: Option<u64>, code: JitCode) {
        let range = Range {
            start: code.start.0,
            end: code.start.0.saturating_add(code.len),
            pgoff: code.offset.0,
            image: log.image,
            is_code: true,
            backing: Backing::Compiled,
        };
        let time_ns = time_ns.unwrap_or(0).max(log.mapped.time_ns);
        let offset = if time_ns > log.mapped.time_ns {
            // Behind the mappings of the same moment.
            u64::MAX
        } else {
            log.mapped.offset
        };
        let space = Space::User(log.pid);
        let change = (Key { time_ns, offset }, Change::Map { space, range });
        self.compiled.changes.push(change);
    }
}
