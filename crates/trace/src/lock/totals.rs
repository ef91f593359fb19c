//! Waits by lock, added up.

use crate::lock::follower::{LockId, LockWait, Who};
use crate::lock::kind::LockKind;
use crate::stacks::CallStackId;
use foldhash::HashMap;
use rprof_base::Delays;

/// Locks, with the waits for each.
#[derive(Debug, Default)]
pub(crate) struct Locks {
    pub(crate) all: HashMap<LockId, WaitsForLock>,
}

/// The waits for a lock.
#[derive(Debug, Default)]
pub(crate) struct WaitsForLock {
    pub(crate) times: Delays,
    pub(crate) waiters: HashMap<Who, Side>,
    pub(crate) holders: HashMap<Option<Who>, Side>,
    /// By stack of who waited: how many, and how long all took, nanoseconds.
    pub(crate) stacks: HashMap<CallStackId, (u64, u64)>,
}

/// The waits of one thread, or those for one.
#[derive(Debug, Default)]
pub(crate) struct Side {
    pub(crate) n: u64,
    pub(crate) total_ns: u64,
    /// The same by stack.
    pub(crate) stacks: HashMap<CallStackId, (u64, u64)>,
}

/// Locks that are told apart.
const MOST_LOCKS: usize = 1 << 18;

/// Stands for what has no room.
pub(crate) const OTHER_LOCKS: LockId = LockId {
    pid: -1,
    address: 0,
    kind: LockKind::Kernel(u64::MAX),
};

impl Locks {
    pub(crate) fn add(&mut self, wait: &LockWait) {
        let has_room = self.all.len() < MOST_LOCKS || self.all.contains_key(&wait.lock);
        let lock = if has_room { wait.lock } else { OTHER_LOCKS };
        let waits = self.all.entry(lock).or_default();
        waits.times.add(wait.ns, wait.end_ns);
        waits
            .waiters
            .entry(wait.who)
            .or_default()
            .add(wait.ns, wait.stack);
        let (who, stack) = match wait.holder {
            Some(holder) => (Some(holder.who), holder.stack),
            None => (None, None),
        };
        waits.holders.entry(who).or_default().add(wait.ns, stack);
        add_stack(&mut waits.stacks, wait.ns, wait.stack);
    }
}

impl Side {
    fn add(&mut self, ns: u64, stack: Option<CallStackId>) {
        self.n += 1;
        self.total_ns = self.total_ns.saturating_add(ns);
        add_stack(&mut self.stacks, ns, stack);
    }
}

fn add_stack(stacks: &mut HashMap<CallStackId, (u64, u64)>, ns: u64, stack: Option<CallStackId>) {
    if let Some(stack) = stack {
        let (n, total_ns) = stacks.entry(stack).or_default();
        *n += 1;
        *total_ns = total_ns.saturating_add(ns);
    }
}
