//! When processes began and ended, and who made whom.

use super::descendants::Fork;
use foldhash::{HashMap, HashSet};
use rprof_abi::Misc;
use rprof_abi::record::Record;

/// When processes began and ended, as far as that was recorded.
#[derive(Debug, Default)]
pub(crate) struct ProcessLifetimes {
    lifetimes: HashMap<i32, Lifetime>,
    /// Who made whom, in the file's order.
    pub(crate) forks: Vec<Fork>,
    /// Threads other than the first ones, by process.
    threads: HashSet<(i32, i32)>,
}

/// What was recorded of the processes that had an id.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Lifetime {
    /// How many were made while it was recorded.
    pub(crate) n_forks: u32,
    pub(crate) forked_ns: Option<u64>,
    /// When it began to execute the program that it executed last.
    pub(crate) executed_ns: Option<u64>,
    /// When its last thread ended.
    pub(crate) ended_ns: Option<u64>,
}

impl ProcessLifetimes {
    /// Takes one record of this time.
    pub(crate) fn add(&mut self, misc: Misc, record: &Record<'_>, time_ns: Option<u64>) {
        let task = match record {
            Record::Fork(task) | Record::Exit(task) => (task.pid, task.tid),
            Record::Comm(comm) => (comm.pid, comm.tid),
            _ => (0, 0),
        };
        if task.0 != task.1 {
            self.threads.insert(task);
        }
        match record {
            Record::Fork(task) if task.pid != task.ppid => {
                // Those made up for what runs already say nothing of its beginning.
                let is_made_up = misc.has(Misc::FORK_EXEC);
                self.forks.push(Fork {
                    time_ns: if is_made_up { 0 } else { task.time_ns },
                    pid: task.pid,
                    parent: task.ppid,
                });
                if !is_made_up {
                    let life = self.lifetimes.entry(task.pid).or_default();
                    life.n_forks += 1;
                    life.forked_ns = Some(task.time_ns);
                }
            }
            Record::Comm(comm) if misc.has(Misc::COMM_EXEC) && time_ns.is_some() => {
                self.lifetimes.entry(comm.pid).or_default().executed_ns = time_ns;
            }
            Record::Exit(task) => {
                let life = self.lifetimes.entry(task.pid).or_default();
                life.ended_ns = life.ended_ns.max(Some(task.time_ns));
            }
            _ => {}
        }
    }

    /// Whether a process was ever known to have a thread.
    pub(crate) fn has_thread(&self, pid: i32, tid: i32) -> bool {
        pid == tid || self.threads.contains(&(pid, tid))
    }

    /// What is known of a process id.
    pub(crate) fn of(&self, pid: i32) -> Lifetime {
        self.lifetimes.get(&pid).copied().unwrap_or_default()
    }

    /// When a process began and when it ended, as far as that is known; of an id that several
    /// had, nothing.
    pub(crate) fn span_ns(&self, pid: i32) -> (Option<u64>, Option<u64>) {
        match self.lifetimes.get(&pid) {
            Some(life) if life.n_forks <= 1 => (life.forked_ns, life.ended_ns),
            _ => (None, None),
        }
    }
}
