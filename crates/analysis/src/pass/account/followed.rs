//! Whose switches are recorded. `sched_switch` names two threads: the one that leaves is one of those recorded, the
//! one that comes may be anybody.

use foldhash::{HashMap, HashSet};

/// What records say of whose they are.
#[derive(Clone, Debug, Default)]
pub(super) struct Followed {
    /// Threads that were seen to leave a CPU for another one.
    prevs: HashSet<i32>,
    /// Switches, and those with another id in the data than in front of it.
    n_switches: u64,
    n_other_ids: u64,
    /// Whether the idle tasks leave CPUs: only who records all tasks sees that.
    pub(super) everybody: bool,
    /// Whether there are SWITCH records.
    pub(super) has_records: bool,
    /// Whether these are of CPUs, whoever runs there.
    pub(super) is_of_cpus: bool,
    /// Whether nothing is known of some CPUs: a thread that is on none may be on one of those.
    pub(super) misses_cpus: bool,
    /// Threads that were made by others and have not inherited their events: sideband has switches of theirs.
    left_out: HashSet<i32>,
    /// Processes of the threads that are named or made.
    named: HashMap<i32, i32>,
    /// Threads of which there is any time, or an end.
    seen: HashSet<i32>,
}

impl Followed {
    /// Takes a switch of the thread `tid`, as its record says.
    pub(super) fn note_switch(&mut self, tid: i32, prev: i32) {
        self.n_switches += 1;
        // The kernel takes the id from a thread that ends.
        self.n_other_ids += u64::from(tid >= 0 && tid != prev);
        self.everybody |= prev == 0;
        self.prevs.insert(prev);
        self.seen.insert(prev);
    }

    /// Something is known of a thread's time.
    pub(super) fn note_seen(&mut self, tid: i32) {
        self.seen.insert(tid);
    }

    /// A thread was made that does not inherit events.
    pub(super) fn note_left_out(&mut self, tid: i32) {
        self.left_out.insert(tid);
    }

    /// A thread is there.
    pub(super) fn note_named(&mut self, pid: i32, tid: i32) {
        self.named.insert(tid, pid);
    }

    /// Adds what another reader of the same recording has seen.
    pub(super) fn add(&mut self, other: Self) {
        self.prevs.extend(other.prevs);
        self.n_switches += other.n_switches;
        self.n_other_ids += other.n_other_ids;
        self.everybody |= other.everybody;
        self.has_records |= other.has_records;
        self.is_of_cpus |= other.is_of_cpus;
        self.left_out.extend(other.left_out);
        self.named.extend(other.named);
        self.seen.extend(other.seen);
    }

    /// The memory of it, bytes: tables are at most twice as large as what is in them.
    pub(super) fn bytes(&self) -> u64 {
        let n_ids = self.prevs.len() + self.seen.len() + self.left_out.len() + 2 * self.named.len();
        (2 * n_ids * size_of::<(i32, u8)>()) as u64
    }

    /// Whether the ids in the data are those of records: tracepoints have those of the first PID namespace.
    pub(super) fn has_same_ids(&self) -> bool {
        2 * self.n_other_ids <= self.n_switches
    }

    /// Whether the switches of all threads are recorded.
    pub(super) fn is_everybody(&self) -> bool {
        self.everybody && self.has_same_ids()
    }

    /// Whether a thread's own switches are recorded, so that it is known how long it stays.
    pub(super) fn has(&self, tid: i32) -> bool {
        self.has_same_ids() && (self.everybody || self.prevs.contains(&tid))
    }

    /// Whether a thread is not recorded, though some records are about it.
    pub(super) fn leaves_out(&self, tid: i32) -> bool {
        !self.everybody && !self.is_of_cpus && self.left_out.contains(&tid)
    }

    /// Threads that were there, and of which nothing else was recorded.
    pub(super) fn n_silent(&self) -> u64 {
        let silent = self.named.keys().filter(|&tid| !self.seen.contains(tid));
        silent.filter(|&&tid| tid > 0).count() as u64
    }

    /// The process of a thread that is named or made.
    pub(super) fn pids(&self) -> impl Iterator<Item = (i32, i32)> {
        self.named.iter().map(|(&tid, &pid)| (tid, pid))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_who_sees_idle_tasks_leave_sees_everybody() {
        let mut own = Followed::default();
        own.note_switch(7, 7);
        // As it ends.
        own.note_switch(-1, 8);
        assert!(!own.is_everybody() && own.has(7) && own.has(8) && !own.has(9));
        let mut idle = Followed::default();
        idle.note_switch(0, 0);
        own.add(idle);
        assert!(own.is_everybody() && own.has(9));
    }

    #[test]
    fn ids_of_another_namespace_are_nobodys() {
        let mut followed = Followed::default();
        followed.note_switch(2, 4002);
        // A thread that the namespace does not see.
        followed.note_switch(0, 17);
        assert!(!followed.has_same_ids() && !followed.has(4002) && !followed.is_everybody());
    }

    #[test]
    fn threads_without_any_time_are_counted() {
        let mut followed = Followed::default();
        for tid in 7..=9 {
            followed.note_named(7, tid);
        }
        followed.note_seen(8);
        assert_eq!(followed.n_silent(), 2);
    }
}
