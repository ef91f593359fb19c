//! Threads that ask servers. They end with the process, not with the answer: a server may hang.

use super::fetch::{Answer, Watcher};
use super::request::Request;
use super::state::{Asked, Shared};
use std::path::Path;
use std::sync::Arc;

/// Requests at a time, of each server.
const MAX_THREADS: usize = 8;

/// Asks all servers for a file, once.
pub(super) fn ask(shared: &Arc<Shared>, request: Request) {
    let mut state = shared.lock();
    if state.asked.contains_key(&request) || state.is_stopped {
        return;
    }
    let asked = Asked {
        n_open: state.servers.len(),
        has_failed: false,
        is_found: false,
    };
    state.asked.insert(request.clone(), asked);
    for (idx, server) in state.servers.iter_mut().enumerate() {
        server.jobs.push_back(request.clone());
        if server.n_threads == MAX_THREADS {
            continue;
        }
        let shared = Arc::clone(shared);
        let thread = std::thread::Builder::new().name("debuginfod".to_owned());
        match thread.spawn(move || serve(&shared, idx)) {
            Ok(_) => server.n_threads += 1,
            Err(error) => server.failure = Some(error.to_string()),
        }
    }
}

/// Asks one server for one file after the other until there are none.
fn serve(shared: &Shared, idx: usize) {
    while let Some(request) = next(shared, idx) {
        let watcher = Download(shared);
        let url = shared.settings.urls.get(idx).map_or("", String::as_str);
        let answer = shared.client.fetch(url, &request, &shared.cache, &watcher);
        settle(shared, idx, &request, answer);
    }
}

fn next(shared: &Shared, idx: usize) -> Option<Request> {
    let mut state = shared.lock();
    let state = &mut *state;
    let server = state.servers.get_mut(idx)?;
    loop {
        let Some(request) = server.jobs.pop_front().filter(|_| !state.is_stopped) else {
            server.n_threads -= 1;
            return None;
        };
        match state.asked.get_mut(&request) {
            Some(asked) if asked.is_found => asked.n_open = asked.n_open.saturating_sub(1),
            _ => return Some(request),
        }
    }
}

/// What an answer is worth.
enum Settled {
    Found,
    Missing,
    Failed(String),
}

fn settle(shared: &Shared, idx: usize, request: &Request, answer: Answer) {
    let Request { id, wanted } = request;
    let mut state = shared.lock();
    if state.is_stopped {
        return;
    }
    let answer = match answer {
        Answer::File(partial) => {
            state.partial.retain(|path| path != &*partial);
            match shared.cache.keep(partial, id, wanted) {
                Ok(()) => Settled::Found,
                Err(error) => Settled::Failed(error.to_string()),
            }
        }
        Answer::Missing => Settled::Missing,
        Answer::Failed(why) => Settled::Failed(why),
    };
    let mut failure = None;
    let Some(asked) = state.asked.get_mut(request) else {
        return;
    };
    asked.n_open = asked.n_open.saturating_sub(1);
    match answer {
        Settled::Found => asked.is_found = true,
        Settled::Missing => {}
        Settled::Failed(why) => {
            asked.has_failed = true;
            failure = Some(why).filter(|_| !asked.is_found);
        }
    }
    if asked.n_open == 0 && !asked.is_found && !asked.has_failed {
        // Without the note they are asked again: no harm.
        let _ = shared.cache.note_missing(id, wanted);
    }
    if let Some(server) = state.servers.get_mut(idx) {
        server.failure = server.failure.take().or(failure);
    }
    shared.changed.notify_all();
}

/// A download that counts its bytes. Its file is noted, so that it is removed if downloads are stopped.
struct Download<'s>(&'s Shared);

impl Watcher for Download<'_> {
    fn begin(&self, partial: &Path) {
        self.0.lock().partial.push(partial.to_owned());
    }

    fn more(&self, len: usize) -> bool {
        let mut state = self.0.lock();
        state.n_bytes = state.n_bytes.saturating_add(len as u64);
        !state.is_stopped
    }
}
