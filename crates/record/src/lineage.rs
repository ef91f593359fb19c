//! Some processes out of everybody. Where each event of each thread on each CPU would be too many open
//! files, everybody is sampled, and what is not of the watched threads, and of those that they
//! start, is left out while draining.

use foldhash::HashSet;
use rprof_abi::RecordKind;

/// The threads that are watched.
#[derive(Debug, Default)]
pub(crate) struct Lineage {
    /// Also those that have ended: their last samples come after that.
    threads: HashSet<i32>,
    processes: HashSet<i32>,
    alive: HashSet<i32>,
}

impl Lineage {
    /// Adds threads of a process that are there already.
    pub(crate) fn add(&mut self, pid: i32, threads: &[i32]) {
        self.processes.insert(pid);
        self.threads.extend(threads);
        self.alive.extend(threads);
    }

    /// Whether all have ended.
    pub(crate) fn is_gone(&self) -> bool {
        self.alive.is_empty()
    }

    /// Whether it is one of them.
    #[inline]
    pub(crate) fn has_thread(&self, tid: i32) -> bool {
        self.threads.contains(&tid)
    }

    /// Looks at what happened to a task: the record's bytes behind its header. Returns whether it is
    /// about one of them, or about nobody.
    pub(crate) fn see(&mut self, kind: RecordKind, body: &[u8]) -> bool {
        let word = |n: usize| {
            let bytes = body.get(n * 4..).and_then(|rest| rest.first_chunk());
            bytes.map_or(-1, |bytes| i32::from_ne_bytes(*bytes))
        };
        let pid = word(0);
        match kind {
            // pid, ppid, tid, ptid
            RecordKind::FORK => {
                let (tid, parent) = (word(2), word(3));
                let is_ours = self.threads.contains(&parent);
                if is_ours {
                    self.add(pid, &[tid]);
                } else {
                    // An id that was one of ours, given anew.
                    self.threads.remove(&tid);
                    if tid == pid {
                        self.processes.remove(&pid);
                    }
                }
                is_ours
            }
            RecordKind::EXIT => {
                self.alive.remove(&word(2));
                self.threads.contains(&word(2))
            }
            RecordKind::MMAP | RecordKind::MMAP2 | RecordKind::COMM => {
                pid < 0 || self.processes.contains(&pid)
            }
            _ => true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn task(words: [i32; 4]) -> Vec<u8> {
        words.into_iter().flat_map(i32::to_ne_bytes).collect()
    }

    #[test]
    fn what_they_start_is_watched_too_and_others_are_not() {
        let mut lineage = Lineage::default();
        lineage.add(10, &[10, 11]);
        // A thread of theirs, a process of that thread, somebody else's process.
        assert!(lineage.see(RecordKind::FORK, &task([10, 10, 12, 11])));
        assert!(lineage.see(RecordKind::FORK, &task([20, 10, 20, 12])));
        assert!(!lineage.see(RecordKind::FORK, &task([30, 1, 30, 1])));
        for (tid, expected) in [(10, true), (11, true), (12, true), (20, true), (30, false)] {
            assert_eq!(lineage.has_thread(tid), expected, "{tid}");
        }
        assert!(lineage.see(RecordKind::MMAP2, &task([20, 20, 0, 0])));
        assert!(!lineage.see(RecordKind::COMM, &task([30, 30, 0, 0])));
        assert!(lineage.see(RecordKind::MMAP, &task([-1, 0, 0, 0])));
    }

    #[test]
    fn the_last_samples_of_a_thread_are_its_own_until_its_id_is_given_anew() {
        let mut lineage = Lineage::default();
        lineage.add(10, &[10]);
        assert!(lineage.see(RecordKind::EXIT, &task([10, 1, 10, 1])));
        assert!(lineage.is_gone() && lineage.has_thread(10));
        assert!(!lineage.see(RecordKind::FORK, &task([10, 1, 10, 1])));
        assert!(!lineage.has_thread(10));
    }
}
