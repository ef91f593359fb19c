//! Which tasks are recorded, if everybody is sampled: the watched threads, and those that they start.
//! Samples of others are left out while draining.

use crate::words::u32_at;
use foldhash::{HashMap, HashSet};
use rprof_abi::RecordKind;

/// The threads that are watched.
#[derive(Debug, Default)]
pub(crate) struct Lineage {
    /// Also those that have ended: their last samples come after that.
    threads: HashSet<i32>,
    processes: HashSet<i32>,
    alive: HashSet<i32>,
    /// When they were last known to be alive ([`Lineage::see_own`]).
    alive_at: HashMap<i32, u64>,
    /// When they ended.
    ended: HashMap<i32, End>,
    /// Threads whose id has become somebody else's in this pass, with when. Their samples are yet to come.
    given_away: HashMap<i32, u64>,
    pass: u64,
    n_exits: u64,
}

/// The end of a thread.
#[derive(Clone, Copy, Debug)]
struct End {
    time_ns: u64,
    /// The pass in which it was drained.
    pass: u64,
}

impl Lineage {
    /// Adds threads of a process that are there already.
    pub(crate) fn add(&mut self, pid: i32, threads: &[i32]) {
        self.processes.insert(pid);
        self.threads.extend(threads);
        self.alive.extend(threads);
    }

    /// Adds threads that are there already, of whatever process.
    pub(crate) fn add_threads(&mut self, threads: &[i32]) {
        self.threads.extend(threads);
    }

    /// Notes what a record says, where there are only records of recorded tasks. These come CPU after CPU. So
    /// a thread's end may come before its beginning, or before what its id did later: a thread that
    /// executes another program takes over the main thread's id.
    pub(crate) fn see_own(&mut self, kind: RecordKind, body: &[u8], time_ns: u64) {
        let tid = match kind {
            RecordKind::FORK | RecordKind::EXIT => word(body, 2),
            RecordKind::COMM | RecordKind::MMAP | RecordKind::MMAP2 if word(body, 0) >= 0 => {
                word(body, 1)
            }
            _ => return,
        };
        if kind == RecordKind::EXIT {
            self.n_exits += 1;
            if self.alive_at.get(&tid).is_none_or(|&at| at <= time_ns) {
                let pass = self.pass;
                self.ended.insert(tid, End { time_ns, pass });
            }
            return;
        }
        self.threads.insert(tid);
        let alive_at = self.alive_at.entry(tid).or_default();
        *alive_at = time_ns.max(*alive_at);
        if self
            .ended
            .get(&tid)
            .is_some_and(|end| end.time_ns < time_ns)
        {
            self.ended.remove(&tid);
        }
    }

    /// A pass over all rings has ended. Threads that ended in it may have their last samples in the next
    /// pass. After that their ids may be others'.
    pub(crate) fn end_pass(&mut self) {
        let Self {
            threads,
            alive_at,
            ended,
            given_away,
            pass,
            ..
        } = self;
        for (tid, _) in given_away.drain() {
            threads.remove(&tid);
        }
        ended.retain(|tid, end| {
            let stays = end.pass == *pass;
            if !stays {
                threads.remove(tid);
                alive_at.remove(tid);
            }
            stays
        });
        *pass += 1;
    }

    /// How many threads have ended.
    pub(crate) fn n_exits(&self) -> u64 {
        self.n_exits
    }

    /// Whether all have ended.
    pub(crate) fn is_gone(&self) -> bool {
        self.alive.is_empty()
    }

    /// Whether it was one of them at a time.
    #[inline]
    pub(crate) fn has_thread(&self, tid: i32, time_ns: u64) -> bool {
        self.threads.contains(&tid)
            && (self.given_away.is_empty()
                || self.given_away.get(&tid).is_none_or(|&at| time_ns < at))
    }

    /// Notes what a record says; `body` are its bytes after the header. Returns whether it is about a
    /// recorded task, or about none.
    pub(crate) fn see(&mut self, kind: RecordKind, body: &[u8], time_ns: u64) -> bool {
        let pid = word(body, 0);
        let is_known = |lineage: &Self, tid| lineage.has_thread(tid, time_ns);
        match kind {
            RecordKind::FORK => {
                let (tid, parent) = (word(body, 2), word(body, 3));
                let is_ours = is_known(self, parent);
                if is_ours {
                    self.given_away.remove(&tid);
                    self.add(pid, &[tid]);
                } else {
                    if self.threads.contains(&tid) {
                        self.given_away.entry(tid).or_insert(time_ns);
                    }
                    if tid == pid {
                        self.processes.remove(&pid);
                    }
                }
                is_ours
            }
            RecordKind::EXIT => {
                let is_ours = is_known(self, word(body, 2));
                if is_ours {
                    self.alive.remove(&word(body, 2));
                }
                is_ours
            }
            RecordKind::MMAP | RecordKind::MMAP2 | RecordKind::COMM => {
                pid < 0 || self.processes.contains(&pid)
            }
            _ => true,
        }
    }
}

/// A word of a record. FORK and EXIT have process, parent's process, thread and parent's thread; others
/// begin with process and thread.
fn word(body: &[u8], n: usize) -> i32 {
    u32_at(body, n * 4).map_or(-1, u32::cast_signed)
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
        assert!(lineage.see(RecordKind::FORK, &task([10, 10, 12, 11]), 1));
        assert!(lineage.see(RecordKind::FORK, &task([20, 10, 20, 12]), 1));
        assert!(!lineage.see(RecordKind::FORK, &task([30, 1, 30, 1]), 1));
        for (tid, expected) in [(10, true), (11, true), (12, true), (20, true), (30, false)] {
            assert_eq!(lineage.has_thread(tid, 2), expected, "{tid}");
        }
        assert!(lineage.see(RecordKind::MMAP2, &task([20, 20, 0, 0]), 1));
        assert!(!lineage.see(RecordKind::COMM, &task([30, 30, 0, 0]), 1));
        assert!(lineage.see(RecordKind::MMAP, &task([-1, 0, 0, 0]), 1));
    }

    #[test]
    fn of_those_of_whom_alone_is_told_times_count_and_not_the_order() {
        let mut lineage = Lineage::default();
        lineage.add_threads(&[10]);
        let known = |lineage: &Lineage| [10, 11, 12].map(|tid| lineage.has_thread(tid, 70));
        // The child of a child that is not known yet, and has ended before it began; a name tells of one, too.
        lineage.see_own(RecordKind::EXIT, &task([12, 11, 12, 11]), 30);
        lineage.see_own(RecordKind::FORK, &task([12, 11, 12, 11]), 20);
        lineage.see_own(RecordKind::COMM, &task([11, 11, 0, 0]), 10);
        lineage.end_pass();
        assert_eq!((known(&lineage), lineage.n_exits()), ([true; 3], 1));
        lineage.see_own(RecordKind::MMAP2, &task([12, 12, 0, 0]), 25);
        lineage.end_pass();
        assert_eq!(known(&lineage), [true, true, false]);
        // An id that is given anew, and one that another thread takes over by an exec: in both orders.
        lineage.see_own(RecordKind::EXIT, &task([11, 10, 11, 10]), 40);
        lineage.see_own(RecordKind::FORK, &task([11, 10, 11, 10]), 50);
        lineage.see_own(RecordKind::COMM, &task([10, 10, 0, 0]), 60);
        lineage.see_own(RecordKind::EXIT, &task([10, 1, 10, 1]), 55);
        for _ in 0..3 {
            lineage.end_pass();
        }
        assert_eq!(known(&lineage), [true, true, false]);
    }

    #[test]
    fn the_last_samples_of_a_thread_are_its_own_until_its_id_is_given_anew() {
        let mut lineage = Lineage::default();
        lineage.add(10, &[10]);
        let record = task([10, 1, 10, 1]);
        assert!(lineage.see(RecordKind::EXIT, &record, 5));
        assert!(lineage.is_gone() && lineage.has_thread(10, 6));
        assert!(!lineage.see(RecordKind::FORK, &record, 7));
        // Samples come after all sideband of a pass.
        assert!(lineage.has_thread(10, 4) && !lineage.has_thread(10, 8));
        assert!(!lineage.see(RecordKind::FORK, &task([11, 10, 11, 10]), 9));
        lineage.end_pass();
        assert!(!lineage.has_thread(10, 4));
    }
}
