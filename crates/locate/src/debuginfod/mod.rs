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
mod request;
mod settings;
mod state;
#[cfg(feature = "debuginfod")]
mod work;

pub use request::Kind;
pub use settings::DebuginfodSettings;
pub use state::Downloads;

use cache::{Cache, Cached};
#[cfg(feature = "debuginfod")]
use request::Request;
use request::Wanted;
use rprof_base::BuildId;
use rprof_images::Elf;
use rprof_untrusted::Budget;
use state::{Asked, Server, Shared, State};
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Told how far downloads are while they are waited for, and `None` when that is over.
pub type DownloadWatch = dyn Fn(Option<Downloads>) + Send + Sync;

/// A server that could not be asked, or sent what is of no use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerFailure {
    /// The server.
    pub url: String,
    /// The first thing that went wrong.
    pub reason: String,
}

/// The servers. Nothing is asked any more once this is dropped, and what was half fetched is
/// deleted.
pub struct Debuginfod {
    shared: Arc<Shared>,
    watch: Box<DownloadWatch>,
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
    pub fn new(settings: DebuginfodSettings, budget: &Budget, watch: Box<DownloadWatch>) -> Self {
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
            Cached::Unknown => self.ask(id, Wanted::Elf(kind)),
        }
        None
    }

    /// A source file of the program or library with this build id, by its absolute path in DWARF. Servers are asked, and
    /// waited for: as long as all waiting may take.
    pub fn find_source(&self, id: &BuildId, path: &str) -> Option<PathBuf> {
        let wanted = Wanted::source(path)?;
        match self.shared.cache.look_at(id, &wanted) {
            Cached::File(path) => return Some(path),
            Cached::Missing => return None,
            Cached::Unknown => self.ask(id, wanted.clone()),
        }
        self.wait_for(id);
        match self.shared.cache.look_at(id, &wanted) {
            Cached::File(path) => Some(path),
            Cached::Missing | Cached::Unknown => None,
        }
    }

    /// The folder of what servers sent.
    pub(crate) fn dir(&self) -> &Path {
        self.shared.cache.dir()
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
        self.shared.lock().code_of(id).next().is_some()
    }

    /// Whether a file of this build id came.
    pub fn has_come(&self, id: &BuildId) -> bool {
        let state = self.shared.lock();
        state.code_of(id).any(|asked| asked.is_found)
    }

    /// Whether a file of this build id is still under way.
    pub fn is_open(&self, id: &BuildId) -> bool {
        let state = self.shared.lock();
        state.code_of(id).any(|asked| !asked.is_settled())
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
            let left = self.longest_wait().saturating_sub(so_far);
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
    pub fn longest_wait(&self) -> Duration {
        self.shared.settings.wait
    }

    /// Servers that could not be asked, or sent what is of no use, each with the first reason.
    pub fn failures(&self) -> Vec<ServerFailure> {
        let state = self.shared.lock();
        let urls = self.shared.settings.urls.iter();
        let failures = urls.zip(&state.servers);
        failures
            .filter_map(|(url, server)| {
                Some(ServerFailure {
                    url: url.clone(),
                    reason: server.failure.clone()?,
                })
            })
            .collect()
    }

    #[cfg(feature = "debuginfod")]
    fn ask(&self, id: &BuildId, wanted: Wanted) {
        let id = id.clone();
        work::ask(&self.shared, Request { id, wanted });
    }

    #[cfg(not(feature = "debuginfod"))]
    #[expect(clippy::unused_self, reason = "the same call with and without servers")]
    fn ask(&self, _id: &BuildId, _wanted: Wanted) {}
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

#[cfg(test)]
#[cfg(feature = "debuginfod")]
mod tests {
    use super::*;
    use std::io::{BufRead, BufReader, Write};
    use std::net::TcpListener;

    /// Answers one request with a text; returns its first line.
    fn answer_one(listener: &TcpListener, text: &str) -> String {
        let (mut stream, _) = listener.accept().unwrap();
        let mut lines = BufReader::new(stream.try_clone().unwrap()).lines();
        let first = lines.next().unwrap().unwrap();
        while lines.next().is_some_and(|line| !line.unwrap().is_empty()) {}
        let len = text.len();
        write!(
            stream,
            "HTTP/1.1 200 x\r\nContent-Length: {len}\r\n\r\n{text}"
        )
        .unwrap();
        first
    }

    #[test]
    fn a_source_file_comes_by_build_id_and_path_and_is_kept() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let server = std::thread::spawn(move || answer_one(&listener, "int main;\n"));
        let dir = tempfile::tempdir().unwrap();
        let minute = Duration::from_secs(60);
        let settings = DebuginfodSettings {
            urls: vec![url],
            cache: dir.path().to_owned(),
            timeout: minute,
            max_time: None,
            max_size: 1 << 20,
            wait: minute,
        };
        let servers = Debuginfod::new(settings, &Budget::default(), Box::new(|_| {}));
        let id = BuildId::new(&[0xab; 20]).unwrap();
        for _ in 0..2 {
            // The second one is not asked for: nobody would answer.
            let found = servers.find_source(&id, "/src/a b.c").unwrap();
            assert_eq!(std::fs::read_to_string(found).unwrap(), "int main;\n");
        }
        let asked = server.join().unwrap();
        let id = "ab".repeat(20);
        assert_eq!(
            asked,
            format!("GET /buildid/{id}/source/src/a%20b.c HTTP/1.1")
        );
        assert_eq!(
            servers.find_source(&BuildId::new(&[1; 20]).unwrap(), "src/a.c"),
            None
        );
    }
}
