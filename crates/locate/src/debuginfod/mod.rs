//! Debug files from servers, by build id (debuginfod): asked in the background, waited for only
//! so long, kept in the folder that gdb and perf share.
//!
//! [`Debuginfod::find`] answers at once: with a file that is there, or by asking the servers.
//! [`Debuginfod::wait`] then holds on until all have answered, or the time is over that waiting
//! may take in all.

#![cfg_attr(
    not(feature = "debuginfod"),
    allow(dead_code, reason = "without it nobody is asked")
)]

mod cache;
#[cfg(feature = "debuginfod")]
mod fetch;
mod settings;
#[cfg(feature = "debuginfod")]
mod work;

pub use settings::DebuginfodSettings;

use cache::{Cache, Cached};
use rprof_base::BuildId;
use rprof_images::Elf;
use rprof_untrusted::Budget;
use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::path::PathBuf;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Which file of a build id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// Symbols and DWARF.
    Debuginfo,
    /// The program or library itself.
    Executable,
}

impl Kind {
    fn word(self) -> &'static str {
        match self {
            Self::Debuginfo => "debuginfo",
            Self::Executable => "executable",
        }
    }
}

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

/// Told how far downloads are while they are waited for, and `None` when that is over.
pub type Watch = dyn Fn(Option<Downloads>) + Send + Sync;

/// The servers. Nothing is asked any more once this is dropped, and what was half fetched is
/// deleted.
pub struct Debuginfod {
    shared: Arc<Shared>,
    watch: Box<Watch>,
}

/// What asking and fetching threads share.
#[derive(Debug)]
struct Shared {
    settings: DebuginfodSettings,
    cache: Cache,
    #[cfg(feature = "debuginfod")]
    client: fetch::Client,
    state: Mutex<State>,
    changed: Condvar,
}

type Request = (BuildId, Kind);

#[derive(Debug, Default)]
struct State {
    asked: BTreeMap<Request, Asked>,
    servers: Vec<Server>,
    waiting: Waiting,
    /// Files that are being written.
    partial: Vec<PathBuf>,
    n_bytes: u64,
    is_stopped: bool,
}

/// How long results were held up: by several that wait at once only as long as by one.
#[derive(Debug, Default)]
struct Waiting {
    n_waiting: usize,
    /// Since when somebody waits.
    since: Option<Instant>,
    /// For how long somebody waited before.
    before: Duration,
}

impl Waiting {
    fn begin(&mut self, now: Instant) {
        self.n_waiting += 1;
        self.since.get_or_insert(now);
    }

    fn end(&mut self, now: Instant) {
        self.n_waiting = self.n_waiting.saturating_sub(1);
        if self.n_waiting == 0 {
            self.before = self.so_far(now);
            self.since = None;
        }
    }

    fn so_far(&self, now: Instant) -> Duration {
        let since = self.since.map(|since| now.saturating_duration_since(since));
        self.before.saturating_add(since.unwrap_or_default())
    }
}

/// One request, of all servers.
#[derive(Debug)]
struct Asked {
    /// Servers that have not answered yet.
    n_open: usize,
    has_failed: bool,
    is_found: bool,
}

impl Asked {
    fn is_settled(&self) -> bool {
        self.is_found || self.n_open == 0
    }
}

/// One server's work. Each has its own, so that one that hangs keeps no other from answering.
#[derive(Debug, Default)]
struct Server {
    jobs: VecDeque<Request>,
    n_threads: usize,
    /// The first thing that went wrong there.
    failure: Option<String>,
}

impl fmt::Debug for Debuginfod {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Debuginfod")
            .field("settings", &self.shared.settings)
            .finish_non_exhaustive()
    }
}

impl Debuginfod {
    /// For these servers; asks none yet. What is read of their files is of the budget.
    pub fn new(settings: DebuginfodSettings, budget: &Budget, watch: Box<Watch>) -> Self {
        let state = State {
            servers: settings.urls.iter().map(|_| Server::default()).collect(),
            ..State::default()
        };
        let shared = Arc::new(Shared {
            cache: Cache::new(settings.cache.clone(), budget.clone()),
            #[cfg(feature = "debuginfod")]
            client: fetch::Client::new(&settings),
            settings,
            state: Mutex::new(state),
            changed: Condvar::new(),
        });
        Self { shared, watch }
    }

    /// The file, if it is here already. Otherwise the servers are asked for it.
    pub fn find(&self, id: &BuildId, kind: Kind) -> Option<Elf> {
        match self.shared.cache.look(id, kind) {
            Cached::File(elf) => return Some(*elf),
            Cached::Missing => {}
            Cached::Unknown => self.ask(id, kind),
        }
        None
    }

    /// The file, if it is here already; nobody is asked.
    pub(crate) fn cached(&self, id: &BuildId, kind: Kind) -> Option<Elf> {
        match self.shared.cache.look(id, kind) {
            Cached::File(elf) => Some(*elf),
            Cached::Missing | Cached::Unknown => None,
        }
    }

    /// Like [`Self::find`], where the file is not read as it is.
    pub(crate) fn find_path(&self, id: &BuildId, kind: Kind) -> Option<PathBuf> {
        Some(self.find(id, kind)?.path().to_owned())
    }

    /// Whether servers were asked for a file of this build id, by this run.
    pub fn is_asked(&self, id: &BuildId) -> bool {
        self.shared.lock().of(id).next().is_some()
    }

    /// Whether a file of this build id came.
    pub fn has_come(&self, id: &BuildId) -> bool {
        let state = self.shared.lock();
        state.of(id).any(|asked| asked.is_found)
    }

    /// Whether a file of this build id is still under way.
    pub fn is_open(&self, id: &BuildId) -> bool {
        let state = self.shared.lock();
        state.of(id).any(|asked| !asked.is_settled())
    }

    /// Waits until all that was asked is answered, or the time for waiting is over.
    pub fn wait(&self) {
        self.wait_until(|state| state.asked.values().all(Asked::is_settled));
    }

    /// The same, for the files of one build id only.
    pub fn wait_for(&self, id: &BuildId) {
        self.wait_until(|state| state.of(id).all(Asked::is_settled));
    }

    fn wait_until(&self, is_done: impl Fn(&State) -> bool) {
        /// Bytes come without notice.
        const STEP: Duration = Duration::from_millis(100);
        let mut state = self.shared.lock();
        if is_done(&state) {
            return;
        }
        state.waiting.begin(Instant::now());
        let mut has_waited = false;
        while !is_done(&state) {
            let so_far = state.waiting.so_far(Instant::now());
            let left = self.patience().saturating_sub(so_far);
            if left.is_zero() {
                break;
            }
            let waited = self.shared.changed.wait_timeout(state, left.min(STEP));
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
            (self.watch)(Some(state.downloads()));
            has_waited = true;
        }
        state.waiting.end(Instant::now());
        drop(state);
        if has_waited {
            (self.watch)(None);
        }
    }

    /// How long waiting may take in all.
    pub fn patience(&self) -> Duration {
        self.shared.settings.wait
    }

    /// Servers that could not be asked, or sent what is of no use, each with the first reason.
    pub fn failures(&self) -> Vec<(String, String)> {
        let state = self.shared.lock();
        let urls = self.shared.settings.urls.iter();
        let failures = urls.zip(&state.servers);
        failures
            .filter_map(|(url, server)| Some((url.clone(), server.failure.clone()?)))
            .collect()
    }

    #[cfg(feature = "debuginfod")]
    fn ask(&self, id: &BuildId, kind: Kind) {
        work::ask(&self.shared, (id.clone(), kind));
    }

    #[cfg(not(feature = "debuginfod"))]
    #[expect(clippy::unused_self, reason = "the same call with and without servers")]
    fn ask(&self, _id: &BuildId, _kind: Kind) {}
}

impl Drop for Debuginfod {
    fn drop(&mut self) {
        let mut state = self.shared.lock();
        state.is_stopped = true;
        for path in state.partial.drain(..) {
            // It may be finished by now.
            let _ = std::fs::remove_file(path);
        }
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn of<'s>(&'s self, id: &'s BuildId) -> impl Iterator<Item = &'s Asked> {
        let all = self.asked.iter();
        // Recorded ids may be cut.
        all.filter(move |((asked, _), _)| asked.matches(id))
            .map(|(_, asked)| asked)
    }

    fn downloads(&self) -> Downloads {
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
