//! [`LockFollower`]: events in order of time become waits for locks.
//!
//! A futex is waited for by a system call, and released by another one of the same address. A lock of the kernel is
//! waited for from `contention_begin` to `contention_end`; who wakes the thread meanwhile has released it.

use crate::lock::kind::{LockKind, SPIN};
use crate::stacks::CallStackId;
use foldhash::HashMap;
use rprof_analysis::{LockStep, SyscallStep};
use rprof_syscalls::{
    FutexCall, Syscall, SyscallEnd, SyscallFollower, SyscallId, SyscallMoment, SyscallNames,
    SyscallResult, SyscallTasks,
};

/// A thread under a name, by number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Who {
    pub(crate) pid: i32,
    pub(crate) tid: i32,
    pub(crate) comm: u32,
}

/// An event of a thread.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LockEvent {
    pub(crate) time_ns: u64,
    pub(crate) who: Who,
    pub(crate) step: SyscallStep,
    pub(crate) stack: Option<CallStackId>,
}

/// A lock: those of user space have addresses of their process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct LockId {
    /// 0 for the kernel's.
    pub(crate) pid: i32,
    pub(crate) address: u64,
    pub(crate) kind: LockKind,
}

/// A wait for a lock that is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LockWait {
    pub(crate) lock: LockId,
    pub(crate) who: Who,
    pub(crate) ns: u64,
    pub(crate) end_ns: u64,
    pub(crate) stack: Option<CallStackId>,
    /// Who released it last before the wait was over.
    pub(crate) holder: Option<Release>,
}

/// A release of a lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Release {
    pub(crate) who: Who,
    pub(crate) stack: Option<CallStackId>,
    time_ns: u64,
}

/// A wait for a lock of the kernel that goes on.
#[derive(Clone, Copy, Debug)]
struct OpenWait {
    address: u64,
    flags: u64,
    start_ns: u64,
    stack: Option<CallStackId>,
}

/// Follows waits.
#[derive(Debug)]
pub(crate) struct LockFollower {
    calls: SyscallFollower<Option<CallStackId>>,
    tasks: SyscallTasks,
    /// The last release of each futex, by process and address.
    futexes: HashMap<(i32, u64), Release>,
    /// By thread: who woke it last.
    wakers: HashMap<i32, Release>,
    /// By thread: the locks of the kernel that it waits for, the innermost last.
    open: HashMap<i32, Vec<OpenWait>>,
    /// Ends whose beginnings were not recorded.
    n_ends_alone: u64,
    /// Beginnings that there was no room for.
    n_left_out: u64,
}

/// Waits inside waits of a thread: an interrupt waits while the thread does.
const MOST_OPEN: usize = 16;

/// Futexes and wakers that are remembered; then all are forgotten.
const MOST_RELEASES: usize = 1 << 20;

impl LockFollower {
    pub(crate) fn new(native: SyscallNames, of_32_bit: SyscallNames) -> Self {
        Self {
            calls: SyscallFollower::new(native, of_32_bit),
            tasks: SyscallTasks::default(),
            futexes: HashMap::default(),
            wakers: HashMap::default(),
            open: HashMap::default(),
            n_ends_alone: 0,
            n_left_out: 0,
        }
    }

    /// Takes the next event; a wait that it ends is passed to `visit`.
    pub(crate) fn take(&mut self, event: &LockEvent, visit: &mut dyn FnMut(LockWait)) {
        let who = event.who;
        let at = SyscallMoment {
            pid: who.pid,
            tid: who.tid,
            time_ns: event.time_ns,
        };
        match event.step {
            SyscallStep::Enter { number, args } => {
                let is_32_bit = self.tasks.enters(who.pid);
                let id = SyscallId::new(number, is_32_bit);
                let name = self.calls.names(id).name(number);
                self.note_release(event, name, &args);
                let call = (id, args, event.stack);
                self.calls.enter(at, call, &mut |_| {});
            }
            SyscallStep::Leave { number, result } => {
                let follower = &self.calls;
                let is_exec = |is_32_bit| follower.is_exec(SyscallId::new(number, is_32_bit));
                let is_32_bit = self.tasks.leaves(who.pid, is_exec);
                let call = (SyscallId::new(number, is_32_bit), SyscallResult(result));
                let mut calls = Vec::new();
                self.calls.leave(at, call, &mut |call| calls.push(call));
                let waits = calls.iter().filter_map(|call| self.futex_wait(who, call));
                waits.for_each(visit);
            }
            SyscallStep::Lost => {
                self.calls.lose(&mut |_| {});
                self.open.clear();
            }
            SyscallStep::ThreadEnd => {
                self.calls.end_thread(who.tid, &mut |_| {});
                self.open.remove(&who.tid);
            }
            SyscallStep::Lock(LockStep::Begin { lock, flags }) => self.begin(event, lock, flags),
            SyscallStep::Lock(LockStep::End { lock }) => self.end(event, lock, visit),
            SyscallStep::Lock(LockStep::Wake { tid }) => {
                if self.wakers.len() >= MOST_RELEASES {
                    self.wakers.clear();
                }
                self.wakers.insert(tid, Release::of(event));
            }
            SyscallStep::Fork { parent } => self.tasks.fork(parent, who.pid),
            SyscallStep::Vdso { address } => self.tasks.map_vdso(who.pid, address),
        }
    }

    /// What could not be used, one sentence each.
    pub(crate) fn warnings(&self) -> Vec<String> {
        let mut warnings = Vec::new();
        if self.n_ends_alone > 0 {
            let n = self.n_ends_alone;
            warnings.push(format!(
                "{n} waits for locks of the kernel began before the recording, or their beginnings were lost: they are \
                 not counted"
            ));
        }
        let n_open: usize = self.open.values().map(Vec::len).sum();
        if n_open > 0 {
            warnings.push(format!(
                "{n_open} waits for locks of the kernel did not end in the recording: they are not counted"
            ));
        }
        if self.n_left_out > 0 {
            let n = self.n_left_out;
            warnings.push(format!(
                "{n} waits inside other waits of a thread were left out: there were too many"
            ));
        }
        warnings
    }

    /// Notes who wakes waiters of a futex.
    fn note_release(&mut self, event: &LockEvent, name: Option<&str>, args: &[u64; 6]) {
        let call = name.and_then(|name| FutexCall::of(name, args));
        if let Some(FutexCall::Wake { address }) = call {
            if self.futexes.len() >= MOST_RELEASES {
                self.futexes.clear();
            }
            let key = (event.who.pid, address);
            self.futexes.insert(key, Release::of(event));
        }
    }

    /// The wait that a call was, if it was one.
    fn futex_wait(&self, who: Who, call: &Syscall<Option<CallStackId>>) -> Option<LockWait> {
        let (entry, SyscallEnd::Returned { time_ns, result }) = (call.entry.as_ref()?, call.end)
        else {
            return None;
        };
        let name = self.calls.names(call.id).name(call.id.number)?;
        let FutexCall::Wait { address, is_pi } = FutexCall::of(name, &entry.args)? else {
            return None;
        };
        let kind = if is_pi {
            LockKind::FutexPi
        } else {
            LockKind::Futex
        };
        let release = self.futexes.get(&(call.pid, address));
        // Of one that did not wait for it, nobody let it wait.
        let holder = release
            .filter(|release| result == SyscallResult(0) && release.time_ns >= entry.time_ns);
        Some(LockWait {
            lock: LockId {
                pid: call.pid,
                address,
                kind,
            },
            who,
            ns: call.ns()?,
            end_ns: time_ns,
            stack: entry.stack,
            holder: holder.copied(),
        })
    }

    fn begin(&mut self, event: &LockEvent, lock: u64, flags: u64) {
        let open = self.open.entry(event.who.tid).or_default();
        // A mutex is waited for by spinning first, and then asleep.
        if let Some(known) = open.iter_mut().find(|wait| wait.address == lock) {
            known.flags = flags;
            return;
        }
        if open.len() >= MOST_OPEN {
            self.n_left_out += 1;
            return;
        }
        open.push(OpenWait {
            address: lock,
            flags,
            start_ns: event.time_ns,
            stack: event.stack,
        });
    }

    fn end(&mut self, event: &LockEvent, lock: u64, visit: &mut dyn FnMut(LockWait)) {
        let open = self.open.get_mut(&event.who.tid);
        let at = open
            .as_ref()
            .and_then(|open| open.iter().rposition(|wait| wait.address == lock));
        let Some((open, at)) = open.zip(at) else {
            self.n_ends_alone += 1;
            return;
        };
        let wait = open.remove(at);
        let woken = self.wakers.get(&event.who.tid);
        let is_spin = wait.flags & SPIN != 0;
        let holder = woken.filter(|woken| !is_spin && woken.time_ns >= wait.start_ns);
        visit(LockWait {
            lock: LockId {
                pid: 0,
                address: lock,
                kind: LockKind::Kernel(wait.flags),
            },
            who: event.who,
            ns: event.time_ns.saturating_sub(wait.start_ns),
            end_ns: event.time_ns,
            stack: wait.stack,
            holder: holder.copied(),
        });
    }
}

impl Release {
    fn of(event: &LockEvent) -> Self {
        Self {
            who: event.who,
            stack: event.stack,
            time_ns: event.time_ns,
        }
    }
}

#[cfg(test)]
mod tests;
