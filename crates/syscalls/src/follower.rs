//! [`SyscallFollower`]: pairs entries with returns.

use crate::{
    Syscall, SyscallEnd, SyscallEntry, SyscallId, SyscallNames, SyscallResult, Unfinished,
};
use foldhash::HashMap;
use std::collections::BTreeMap;

/// Who calls, and when.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SyscallMoment {
    /// The process.
    pub pid: i32,
    /// The thread.
    pub tid: i32,
    /// When, nanoseconds.
    pub time_ns: u64,
}

/// Follows threads into system calls and out of them. Events come in order of time; `S` is what the caller has of the
/// stack of an entry.
#[derive(Debug)]
pub struct SyscallFollower<S> {
    native: SyscallNames,
    of_32_bit: SyscallNames,
    /// By thread, the call that it is in.
    open: HashMap<i32, OpenSyscall<S>>,
    /// The threads that execute programs, by process and number of the entry.
    execs: BTreeMap<(i32, u64), i32>,
    /// Entries so far.
    n_entries: u64,
    /// Returns that do not say of which call.
    n_nameless: u64,
}

#[derive(Debug)]
struct OpenSyscall<S> {
    pid: i32,
    /// The number of its entry.
    nth: u64,
    id: SyscallId,
    entry: SyscallEntry<S>,
}

impl<S> OpenSyscall<S> {
    fn ended(self, tid: i32, end: SyscallEnd) -> Syscall<S> {
        Syscall {
            pid: self.pid,
            tid,
            id: self.id,
            entry: Some(self.entry),
            end,
        }
    }
}

/// What returns from signal handlers have for a number: the interrupted code may be in no call (`syscall_get_nr`).
const NAMELESS: i64 = -1;

impl<S> SyscallFollower<S> {
    /// With the names of the recorded machine's tasks.
    pub fn new(native: SyscallNames, of_32_bit: SyscallNames) -> Self {
        Self {
            native,
            of_32_bit,
            open: HashMap::default(),
            execs: BTreeMap::new(),
            n_entries: 0,
            n_nameless: 0,
        }
    }

    /// A thread enters a call. If it was in another one, that is passed to `visit`: its return is lost.
    pub fn enter(
        &mut self,
        at: SyscallMoment,
        (id, args, stack): (SyscallId, [u64; 6], S),
        visit: &mut dyn FnMut(Syscall<S>),
    ) {
        let entry = SyscallEntry {
            time_ns: at.time_ns,
            args,
            stack,
        };
        if let Some(before) = self.take(at.tid) {
            visit(before.ended(at.tid, SyscallEnd::Unfinished(Unfinished::Lost)));
        }
        let (pid, nth) = (at.pid, self.n_entries);
        self.n_entries += 1;
        if self.is_exec(id) {
            self.execs.insert((pid, nth), at.tid);
        }
        let open = OpenSyscall {
            pid,
            nth,
            id,
            entry,
        };
        self.open.insert(at.tid, open);
    }

    /// A thread returns from a call, which is passed to `visit`. If it was another thread of its process until then, and
    /// got its id by executing a program, returns which.
    pub fn leave(
        &mut self,
        at: SyscallMoment,
        (id, result): (SyscallId, SyscallResult),
        visit: &mut dyn FnMut(Syscall<S>),
    ) -> Option<i32> {
        let end = SyscallEnd::Returned {
            time_ns: at.time_ns,
            result,
        };
        let mut open = self.take(at.tid);
        let mut was = None;
        if open.is_none() && result == SyscallResult(0) && self.is_exec(id) {
            was = self.exec_of_another_thread(at.pid);
            open = was.and_then(|tid| self.take(tid));
        }
        match open {
            Some(open) if open.pid == at.pid && self.returns_from(open.id, (id, result)) => {
                visit(open.ended(at.tid, end));
                return was;
            }
            Some(open) => visit(open.ended(at.tid, SyscallEnd::Unfinished(Unfinished::Lost))),
            None => {}
        }
        if id.number == NAMELESS {
            self.n_nameless += 1;
            return None;
        }
        visit(Syscall {
            pid: at.pid,
            tid: at.tid,
            id,
            entry: None,
            end,
        });
        None
    }

    /// Events are lost: the next return of a thread may be that of a later call. All calls that threads are in are passed
    /// to `visit`, by thread.
    pub fn lose(&mut self, visit: &mut dyn FnMut(Syscall<S>)) {
        self.end_all(Unfinished::Lost, visit);
    }

    /// A thread ends. The call that it is in is passed to `visit`.
    pub fn end_thread(&mut self, tid: i32, visit: &mut dyn FnMut(Syscall<S>)) {
        if let Some(open) = self.take(tid) {
            visit(open.ended(tid, SyscallEnd::Unfinished(Unfinished::ThreadEnded)));
        }
    }

    /// The recording ends. All calls that threads are in are passed to `visit`, by thread.
    pub fn end(&mut self, visit: &mut dyn FnMut(Syscall<S>)) {
        self.end_all(Unfinished::RecordingEnded, visit);
    }

    fn end_all(&mut self, why: Unfinished, visit: &mut dyn FnMut(Syscall<S>)) {
        self.execs.clear();
        let mut open: Vec<_> = self.open.drain().collect();
        open.sort_unstable_by_key(|&(tid, _)| tid);
        for (tid, open) in open {
            visit(open.ended(tid, SyscallEnd::Unfinished(why)));
        }
    }

    /// Returns that do not say of which call, and whose entries were not recorded.
    pub fn n_nameless(&self) -> u64 {
        self.n_nameless
    }

    /// The names of a task's system calls.
    pub fn names(&self, id: SyscallId) -> &SyscallNames {
        if id.is_32_bit {
            &self.of_32_bit
        } else {
            &self.native
        }
    }

    /// Whether a call executes a program.
    pub fn is_exec(&self, id: SyscallId) -> bool {
        matches!(self.names(id).name(id.number), Some("execve" | "execveat"))
    }

    /// Whether a return is that of a call. Its number is another one after a signal handler, and where another program
    /// was executed: then it is that of `execve` in the ABI of that program (`set_personality_ia32`, arch/x86).
    fn returns_from(&self, call: SyscallId, (id, result): (SyscallId, SyscallResult)) -> bool {
        let is_exec = result == SyscallResult(0) && self.is_exec(call) && self.is_exec(id);
        call.number == id.number || is_exec || self.is_sigreturn(call)
    }

    /// Whether a call returns from a signal handler: then its return is that of the code which was interrupted.
    fn is_sigreturn(&self, id: SyscallId) -> bool {
        matches!(
            self.names(id).name(id.number),
            Some("rt_sigreturn" | "sigreturn")
        )
    }

    /// A thread that executes a program gets the id of its process's first thread, if it is another one. Of several that
    /// try, the one that entered last.
    fn exec_of_another_thread(&self, pid: i32) -> Option<i32> {
        let mut of_process = self.execs.range((pid, 0)..=(pid, u64::MAX));
        of_process.next_back().map(|(_, &tid)| tid)
    }

    /// Takes out the call that a thread is in.
    fn take(&mut self, tid: i32) -> Option<OpenSyscall<S>> {
        let open = self.open.remove(&tid)?;
        self.execs.remove(&(open.pid, open.nth));
        Some(open)
    }
}

#[cfg(test)]
mod tests;
