//! What asking and fetching threads share: what was asked, of whom, and how long results were held up.

use super::cache::Cache;
#[cfg(feature = "debuginfod")]
use super::fetch::Client;
use super::request::{Request, Wanted};
use super::settings::DebuginfodSettings;
use rprof_base::BuildId;
use std::collections::{BTreeMap, VecDeque};
use std::path::PathBuf;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// How far downloads are, for somebody who watches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Downloads {
    /// Files that were asked for.
    pub n_asked: usize,
    /// Those of them that came, or that no server has.
    pub n_settled: usize,
    /// Bytes that came so far.
    pub n_bytes: u64,
}

/// What asking and fetching threads share.
#[derive(Debug)]
pub(super) struct Shared {
    pub(super) settings: DebuginfodSettings,
    pub(super) cache: Cache,
    #[cfg(feature = "debuginfod")]
    pub(super) client: Client,
    pub(super) state: Mutex<State>,
    pub(super) changed: Condvar,
}

#[derive(Debug, Default)]
pub(super) struct State {
    pub(super) asked: BTreeMap<Request, Asked>,
    pub(super) servers: Vec<Server>,
    pub(super) waiting: Waiting,
    /// Files that are being written.
    pub(super) partial: Vec<PathBuf>,
    pub(super) n_bytes: u64,
    pub(super) is_stopped: bool,
}

/// How long results were held up: by several that wait at once only as long as by one.
#[derive(Debug, Default)]
pub(super) struct Waiting {
    n_waiting: usize,
    /// Since when somebody waits.
    since: Option<Instant>,
    /// For how long somebody waited before.
    before: Duration,
}

impl Waiting {
    pub(super) fn begin(&mut self, now: Instant) {
        self.n_waiting += 1;
        self.since.get_or_insert(now);
    }

    pub(super) fn end(&mut self, now: Instant) {
        self.n_waiting = self.n_waiting.saturating_sub(1);
        if self.n_waiting == 0 {
            self.before = self.so_far(now);
            self.since = None;
        }
    }

    pub(super) fn so_far(&self, now: Instant) -> Duration {
        let since = self.since.map(|since| now.saturating_duration_since(since));
        self.before.saturating_add(since.unwrap_or_default())
    }
}

/// One request, of all servers.
#[derive(Debug)]
pub(super) struct Asked {
    /// Servers that have not answered yet.
    pub(super) n_open: usize,
    pub(super) has_failed: bool,
    pub(super) is_found: bool,
}

impl Asked {
    pub(super) fn is_settled(&self) -> bool {
        self.is_found || self.n_open == 0
    }
}

/// One server's work. Each has its own, so that one that hangs keeps no other from answering.
#[derive(Debug, Default)]
pub(super) struct Server {
    pub(super) jobs: VecDeque<Request>,
    pub(super) n_threads: usize,
    /// The first thing that went wrong there.
    pub(super) failure: Option<String>,
}

impl Shared {
    pub(super) fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    pub(super) fn of<'s>(&'s self, id: &'s BuildId) -> impl Iterator<Item = &'s Asked> {
        let all = self.asked.iter();
        // Recorded ids may be cut.
        all.filter(move |(request, _)| request.id.matches(id))
            .map(|(_, asked)| asked)
    }

    /// The same, without source files.
    pub(super) fn code_of<'s>(&'s self, id: &'s BuildId) -> impl Iterator<Item = &'s Asked> {
        let is_code = |request: &Request| matches!(request.wanted, Wanted::Elf(_));
        let all = self.asked.iter();
        all.filter(move |(request, _)| is_code(request) && request.id.matches(id))
            .map(|(_, asked)| asked)
    }

    pub(super) fn downloads(&self) -> Downloads {
        let settled = self.asked.values().filter(|asked| asked.is_settled());
        Downloads {
            n_asked: self.asked.len(),
            n_settled: settled.count(),
            n_bytes: self.n_bytes,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_time_that_somebody_waits_counts_and_only_once() {
        let start = Instant::now();
        let at = |seconds| start + Duration::from_secs(seconds);
        let mut waiting = Waiting::default();
        assert_eq!(waiting.so_far(at(5)), Duration::ZERO);
        waiting.begin(at(10));
        waiting.begin(at(11));
        assert_eq!(waiting.so_far(at(12)), Duration::from_secs(2));
        waiting.end(at(12));
        waiting.end(at(13));
        assert_eq!(waiting.so_far(at(50)), Duration::from_secs(3));
        waiting.begin(at(60));
        assert_eq!(waiting.so_far(at(61)), Duration::from_secs(4));
    }
}
