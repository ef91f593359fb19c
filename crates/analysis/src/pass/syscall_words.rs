//! Events of system calls on their way from the threads that decode them to the one that takes them, in order.

use super::syscall_decoder::{LockStep, SyscallStep};
use super::syscall_events::{SyscallEvent, SyscallStack};
use crate::symbolize::Symbols;
use rprof_untrusted::Untrusted;

/// What was written, read again.
pub(super) struct SyscallWords<'e>(pub(super) &'e [u8]);

const ENTER: u64 = 0;
const LEAVE: u64 = 1;
const FORK: u64 = 2;
const THREAD_END: u64 = 3;
const VDSO: u64 = 4;
const LOCK_BEGIN: u64 = 5;
const LOCK_END: u64 = 6;
const WAKE: u64 = 7;
const LOST: u64 = 8;

/// Appends the beginning of an event: all but the stack, whose words follow. Returns where its length stands.
pub(super) fn start_event(
    (time_ns, pid, tid): (u64, i32, i32),
    step: SyscallStep,
    comm: &str,
    out: &mut Vec<u8>,
) -> usize {
    let mut put = |word: u64| out.extend_from_slice(&word.to_le_bytes());
    put(time_ns);
    put(u64::from(pid.cast_unsigned()) << 32 | u64::from(tid.cast_unsigned()));
    match step {
        SyscallStep::Enter { number, args } => {
            put(ENTER);
            put(number.cast_unsigned());
            args.into_iter().for_each(&mut put);
        }
        SyscallStep::Leave { number, result } => {
            put(LEAVE);
            put(number.cast_unsigned());
            put(result.cast_unsigned());
        }
        SyscallStep::Fork { parent } => {
            put(FORK);
            put(u64::from(parent.cast_unsigned()));
        }
        SyscallStep::ThreadEnd => put(THREAD_END),
        SyscallStep::Lost => put(LOST),
        SyscallStep::Lock(LockStep::Begin { lock, flags }) => {
            put(LOCK_BEGIN);
            put(lock);
            put(flags);
        }
        SyscallStep::Lock(LockStep::End { lock }) => {
            put(LOCK_END);
            put(lock);
        }
        SyscallStep::Lock(LockStep::Wake { tid }) => {
            put(WAKE);
            put(u64::from(tid.cast_unsigned()));
        }
        SyscallStep::Vdso { address } => {
            put(VDSO);
            put(address);
        }
    }
    put(comm.len() as u64);
    out.extend_from_slice(comm.as_bytes());
    out.extend_from_slice(&[0; size_of::<u64>()]);
    out.len()
}

/// Ends an event whose stack stands from `at` on.
pub(super) fn end_event(at: usize, out: &mut [u8]) {
    let len = (out.len().saturating_sub(at)) as u64;
    let before = at.saturating_sub(size_of::<u64>());
    if let Some(word) = out.get_mut(before..at) {
        word.copy_from_slice(&len.to_le_bytes());
    }
}

impl<'e> SyscallWords<'e> {
    fn bytes(&mut self, n: u64) -> Option<&'e [u8]> {
        let (bytes, rest) = self.0.split_at_checked(usize::try_from(n).ok()?)?;
        self.0 = rest;
        Some(bytes)
    }

    /// The next word.
    pub(super) fn word(&mut self) -> Option<u64> {
        let (word, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(u64::from_le_bytes(*word))
    }

    /// The next event; `None` at the end.
    pub(super) fn event(&mut self, symbols: Option<&'e Symbols>) -> Option<SyscallEvent<'e>> {
        let time_ns = self.word()?;
        let ids = self.word()?;
        let id = |word: u64| {
            u32::try_from(word & u64::from(u32::MAX))
                .unwrap_or(0)
                .cast_signed()
        };
        let step = match self.word()? {
            ENTER => SyscallStep::Enter {
                number: self.word()?.cast_signed(),
                args: {
                    let mut args = [0; 6];
                    for arg in &mut args {
                        *arg = self.word()?;
                    }
                    args
                },
            },
            LEAVE => SyscallStep::Leave {
                number: self.word()?.cast_signed(),
                result: self.word()?.cast_signed(),
            },
            FORK => SyscallStep::Fork {
                parent: id(self.word()?),
            },
            THREAD_END => SyscallStep::ThreadEnd,
            LOST => SyscallStep::Lost,
            LOCK_BEGIN => SyscallStep::Lock(LockStep::Begin {
                lock: self.word()?,
                flags: self.word()?,
            }),
            LOCK_END => SyscallStep::Lock(LockStep::End { lock: self.word()? }),
            WAKE => SyscallStep::Lock(LockStep::Wake {
                tid: id(self.word()?),
            }),
            _ => SyscallStep::Vdso {
                address: self.word()?,
            },
        };
        let n_comm = self.word()?;
        let comm = std::str::from_utf8(self.bytes(n_comm)?).ok()?;
        let n_stack = self.word()?;
        Some(SyscallEvent {
            time_ns,
            pid: id(ids >> 32),
            tid: id(ids),
            step,
            comm: Untrusted::new(comm),
            stack: SyscallStack {
                words: self.bytes(n_stack)?,
                symbols,
            },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_are_read_as_they_were_written() {
        let steps = [
            SyscallStep::Enter {
                number: -1,
                args: [1, 2, 3, 4, 5, u64::MAX],
            },
            SyscallStep::Leave {
                number: 7,
                result: -11,
            },
            SyscallStep::Fork { parent: -1 },
            SyscallStep::ThreadEnd,
            SyscallStep::Lost,
            SyscallStep::Lock(LockStep::Begin { lock: 7, flags: 2 }),
            SyscallStep::Lock(LockStep::End { lock: u64::MAX }),
            SyscallStep::Lock(LockStep::Wake { tid: 9 }),
            SyscallStep::Vdso {
                address: 0xf7f0_0000,
            },
        ];
        let mut bytes = Vec::new();
        for (nth, step) in (0..).zip(steps) {
            let at = start_event((100 + nth, -1, 9), step, "ls", &mut bytes);
            bytes.extend_from_slice(&7u64.to_le_bytes());
            end_event(at, &mut bytes);
        }
        let mut words = SyscallWords(&bytes);
        for (nth, step) in (0..).zip(steps) {
            let event = words.event(None).unwrap();
            assert_eq!((event.time_ns, event.pid, event.tid), (100 + nth, -1, 9));
            assert_eq!((event.step, event.comm.raw()), (step, "ls"));
            assert_eq!(SyscallWords(event.stack.words).word(), Some(7));
        }
        assert!(words.event(None).is_none());
    }
}
