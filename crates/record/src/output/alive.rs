//! Which threads are there: whom a file is to describe that begins in mid-recording.

use foldhash::{HashMap, HashSet};
use rprof_abi::RecordKind;

/// Threads that began and have not ended, with their processes. As sideband comes CPU after CPU, some that
/// have ended may be among them.
#[derive(Debug, Default)]
pub(crate) struct Alive {
    threads: HashMap<i32, i32>,
}

/// More are not remembered.
const MAX_THREADS: usize = 1 << 20;

impl Alive {
    /// A thread is there.
    pub(crate) fn add(&mut self, pid: i32, tid: i32) {
        if pid > 0 && self.threads.len() < MAX_THREADS {
            self.threads.insert(tid, pid);
        }
    }

    /// Notes what a record says; `body` are its bytes after the header.
    pub(crate) fn see(&mut self, kind: RecordKind, body: &[u8]) {
        let word = |at: usize| {
            let word = body.get(at * 4..).and_then(|rest| rest.first_chunk());
            word.map_or(-1, |word| i32::from_ne_bytes(*word))
        };
        match kind {
            // Process, parent's process, thread, parent's thread.
            RecordKind::FORK => self.add(word(0), word(2)),
            RecordKind::EXIT => {
                self.threads.remove(&word(2));
            }
            RecordKind::COMM => self.add(word(0), word(1)),
            _ => {}
        }
    }

    /// Their processes, each once. Those that `is_there` denies are forgotten.
    pub(crate) fn processes(&mut self, is_there: impl Fn(i32) -> bool) -> Vec<i32> {
        let pids: HashSet<i32> = self.threads.values().copied().collect();
        let mut pids: Vec<i32> = pids.into_iter().filter(|&pid| is_there(pid)).collect();
        pids.sort_unstable();
        let is_alive = |pid: &i32| pids.binary_search(pid).is_ok();
        self.threads.retain(|_, pid| is_alive(pid));
        pids
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processes_are_there_until_their_last_thread_ends() {
        let body = |words: [i32; 4]| words.map(i32::to_ne_bytes).concat();
        let mut alive = Alive::default();
        alive.see(RecordKind::COMM, &body([10, 10, 0, 0]));
        alive.see(RecordKind::FORK, &body([10, 10, 11, 10]));
        alive.see(RecordKind::FORK, &body([20, 10, 20, 10]));
        assert_eq!(alive.processes(|_| true), [10, 20]);
        alive.see(RecordKind::EXIT, &body([10, 10, 10, 10]));
        assert_eq!(alive.processes(|_| true), [10, 20]);
        alive.see(RecordKind::EXIT, &body([10, 10, 11, 10]));
        assert_eq!(alive.processes(|_| true), [20]);
        assert!(alive.processes(|_| false).is_empty());
        assert!(alive.processes(|_| true).is_empty());
    }
}
