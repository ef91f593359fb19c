//! Which lock a thread waits for, as events of system calls and of locks of the kernel say.

use crate::pass::syscall_decoder::{LockStep, SyscallDecoder, SyscallStep, WantedSteps};
use crate::samples::DecodedSample;
use foldhash::HashMap;
use rprof_perfdata::{FeatureId, Reader};
use rprof_scheduling::Cause;
use rprof_syscalls::{FutexCall, SyscallAbi, SyscallNames};

/// Finds what events say of locks.
#[derive(Debug)]
pub(super) struct LockDecoder<'a> {
    decoder: SyscallDecoder<'a>,
    names: SyscallNames,
}

/// What an event says of a lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LockChange {
    /// Its thread waits for a futex from now on.
    Futex,
    /// It waits for no futex.
    NoFutex,
    /// It begins to wait for a lock of the kernel.
    Begin,
    /// It waits for that no longer.
    End,
}

/// Whether events of a recording say which locks threads wait for.
pub(in crate::pass) fn tells_of_locks(reader: &Reader) -> bool {
    let decoder = SyscallDecoder::new(reader, WantedSteps::Locks);
    decoder.has_calls() || decoder.has_locks()
}

impl<'a> LockDecoder<'a> {
    pub(super) fn new(reader: &'a Reader) -> Self {
        let machine = reader.feature_text(FeatureId::ARCH).unwrap_or_default();
        let abi = SyscallAbi::of_machine(&machine);
        Self {
            decoder: SyscallDecoder::new(reader, WantedSteps::Locks),
            names: SyscallNames::of(abi),
        }
    }

    /// What a sample says, and of the lock with which address; `None` if it says nothing of locks.
    pub(super) fn change(&self, sample: &DecodedSample<'_>) -> Option<(LockChange, u64)> {
        if !self.decoder.is_of_calls(sample.event) {
            return None;
        }
        match self.decoder.decode(sample)? {
            SyscallStep::Enter { number, args } => {
                let call = FutexCall::of(self.names.name(number)?, &args)?;
                Some(match call {
                    FutexCall::Wait { address, .. } => (LockChange::Futex, address),
                    FutexCall::Wake { .. } | FutexCall::Other => (LockChange::NoFutex, NO_LOCK),
                })
            }
            SyscallStep::Leave { number, .. } => {
                let call = FutexCall::of(self.names.name(number)?, &[0; 6]);
                call.map(|_| (LockChange::NoFutex, NO_LOCK))
            }
            SyscallStep::Lock(LockStep::Begin { lock, .. }) => Some((LockChange::Begin, lock)),
            SyscallStep::Lock(LockStep::End { lock }) => Some((LockChange::End, lock)),
            _ => None,
        }
    }
}

/// The locks that threads wait for, while it is known.
#[derive(Clone, Debug, Default)]
pub(super) struct AwaitedLocks {
    futexes: HashMap<i32, u64>,
    /// The innermost last.
    kernel: HashMap<i32, Vec<u64>>,
}

/// Waits inside waits of a thread: an interrupt waits while the thread does.
const MOST_OPEN: usize = 16;

impl AwaitedLocks {
    pub(super) fn take(&mut self, tid: i32, change: LockChange, lock: u64) {
        match change {
            LockChange::Futex => {
                self.futexes.insert(tid, lock);
            }
            LockChange::NoFutex => {
                self.futexes.remove(&tid);
            }
            LockChange::Begin => {
                let open = self.kernel.entry(tid).or_default();
                if open.len() < MOST_OPEN && !open.contains(&lock) {
                    open.push(lock);
                }
            }
            LockChange::End => {
                if let Some(open) = self.kernel.get_mut(&tid) {
                    open.retain(|&known| known != lock);
                }
            }
        }
    }

    /// Nothing is known of a thread that has ended, or of what it is when records were lost.
    pub(super) fn forget(&mut self, tid: i32) {
        self.futexes.remove(&tid);
        self.kernel.remove(&tid);
    }

    /// The lock that a thread waits for which leaves its CPU for a cause; 0 if none is known.
    pub(super) fn awaited(&self, tid: i32, cause: Cause) -> u64 {
        let lock = match cause {
            Cause::Futex => self.futexes.get(&tid),
            Cause::KernelLock => self.kernel.get(&tid).and_then(|open| open.last()),
            _ => None,
        };
        lock.copied().unwrap_or(NO_LOCK)
    }
}

/// Instead of a lock's address.
pub(super) const NO_LOCK: u64 = 0;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_is_for_the_lock_of_its_cause() {
        let mut locks = AwaitedLocks::default();
        locks.take(7, LockChange::Futex, 0x10);
        locks.take(7, LockChange::Begin, 0x20);
        locks.take(7, LockChange::Begin, 0x30);
        assert_eq!(locks.awaited(7, Cause::Futex), 0x10);
        assert_eq!(locks.awaited(7, Cause::KernelLock), 0x30);
        assert_eq!(locks.awaited(7, Cause::Pipe), NO_LOCK);
        assert_eq!(locks.awaited(8, Cause::Futex), NO_LOCK);
        locks.take(7, LockChange::End, 0x30);
        locks.take(7, LockChange::NoFutex, NO_LOCK);
        assert_eq!(locks.awaited(7, Cause::KernelLock), 0x20);
        assert_eq!(locks.awaited(7, Cause::Futex), NO_LOCK);
        locks.forget(7);
        assert_eq!(locks.awaited(7, Cause::KernelLock), NO_LOCK);
    }
}
