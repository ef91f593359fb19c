//! What events of system calls say: entries and returns; and those of waits for locks.
//!
//! Source: include/trace/events/syscalls.h, kernel/trace/trace_syscalls.c (v2.6.33 to v6.18), include/trace/events/lock.h
//! (v5.19 to v6.18). Fields are found by name: their places differ.

use crate::samples::DecodedSample;
use crate::tracepoints::TracepointFormats;
use rprof_abi::tracepoint::{FieldPlace, TracepointFormat};
use rprof_perfdata::Reader;

/// One event of a system call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SyscallStep {
    /// A thread enters a call.
    Enter {
        /// Which.
        number: i64,
        /// What it is passed.
        args: [u64; 6],
    },
    /// A thread returns from a call.
    Leave {
        /// From which: -1 if the kernel does not know.
        number: i64,
        /// What it returns.
        result: i64,
    },
    /// A process starts.
    Fork {
        /// The process that started it.
        parent: i32,
    },
    /// A thread ends.
    ThreadEnd,
    /// Events before it are lost, of whichever threads.
    Lost,
    /// A lock of the kernel is waited for, or a thread is woken.
    Lock(LockStep),
    /// The kernel's code for programs is mapped into a process: it executes a program.
    Vdso {
        /// Where.
        address: u64,
    },
}

/// One event of a wait for a lock of the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LockStep {
    /// A thread begins to wait (`contention_begin`).
    Begin {
        /// The lock's address.
        lock: u64,
        /// Of which kind it is: `LCB_F_*`.
        flags: u64,
    },
    /// It has waited (`contention_end`).
    End {
        /// The lock's address.
        lock: u64,
    },
    /// It wakes a thread (`sched_waking`).
    Wake {
        /// Which.
        tid: i32,
    },
}

/// Which events are decoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WantedSteps {
    /// System calls.
    Calls,
    /// System calls, and waits for locks of the kernel.
    Locks,
}

/// Decodes events of system calls; threads share it.
#[derive(Debug)]
pub(super) struct SyscallDecoder<'a> {
    reader: &'a Reader,
    formats: TracepointFormats,
    /// By event.
    kinds: Vec<Option<Kind>>,
}

/// What an event is, and where its fields are.
#[derive(Clone, Debug)]
enum Kind {
    Enter {
        number: FieldPlace,
        args: Vec<FieldPlace>,
    },
    Leave {
        number: FieldPlace,
        result: FieldPlace,
    },
    LockBegin {
        lock: FieldPlace,
        flags: FieldPlace,
    },
    LockEnd {
        lock: FieldPlace,
    },
    Wake {
        tid: FieldPlace,
    },
}

/// The most that a system call is passed.
const MOST_ARGS: usize = 6;

impl<'a> SyscallDecoder<'a> {
    /// For the events of a recording.
    pub(super) fn new(reader: &'a Reader, wanted: WantedSteps) -> Self {
        let (formats, _) = TracepointFormats::of(reader);
        let events = 0..reader.events().len();
        let of_events: Vec<_> = events.map(|event| formats.of_event(event)).collect();
        // Where all are recorded, events of single calls say the same once more.
        let has_all = |name: &str| of_events.iter().flatten().any(|one| one.name == name);
        let (all_enter, all_leave) = (has_all("sys_enter"), has_all("sys_exit"));
        let kinds = of_events.iter().map(|format| {
            let format = (*format)?;
            let is_extra = format.name.starts_with("sys_enter_") && all_enter
                || format.name.starts_with("sys_exit_") && all_leave;
            let kind = Kind::new(format).filter(|_| !is_extra)?;
            (wanted == WantedSteps::Locks || !kind.is_of_locks()).then_some(kind)
        });
        Self {
            kinds: kinds.collect(),
            reader,
            formats,
        }
    }

    /// Whether entries and returns are recorded.
    pub(super) fn has_calls(&self) -> bool {
        let kinds = || self.kinds.iter().flatten();
        kinds().any(Kind::is_enter) && kinds().any(|kind| matches!(kind, Kind::Leave { .. }))
    }

    /// Whether waits for locks of the kernel are recorded.
    pub(super) fn has_locks(&self) -> bool {
        let mut kinds = self.kinds.iter().flatten();
        kinds.any(|kind| matches!(kind, Kind::LockEnd { .. }))
    }

    /// Whether an event is one of system calls.
    pub(super) fn is_of_calls(&self, event: usize) -> bool {
        self.kinds.get(event).is_some_and(Option::is_some)
    }

    /// Which part of an event's stack is of interest.
    pub(super) fn stack(&self, event: usize) -> WantedStack {
        match self.kinds.get(event).and_then(Option::as_ref) {
            Some(Kind::Enter { .. }) => WantedStack::User,
            Some(Kind::LockBegin { .. } | Kind::Wake { .. }) => WantedStack::All,
            _ => WantedStack::None,
        }
    }

    /// What a sample of such an event says; `None` if it is damaged.
    pub(super) fn decode(&self, decoded: &DecodedSample<'_>) -> Option<SyscallStep> {
        let kind = self.kinds.get(decoded.event)?.as_ref()?;
        let sample = decoded.all_fields(self.reader)?;
        let data = self.formats.data(sample.raw?, self.reader.endian());
        let signed = |place: FieldPlace| {
            let number = data.field_number(place)?;
            Some(match place.size {
                4 => i64::from(u32::try_from(number).ok()?.cast_signed()),
                _ => number.cast_signed(),
            })
        };
        Some(match kind {
            Kind::Enter { number, args } => SyscallStep::Enter {
                number: signed(*number)?,
                args: {
                    let mut passed = [0; MOST_ARGS];
                    for (to, place) in passed.iter_mut().zip(args) {
                        *to = data.field_number(*place)?;
                    }
                    passed
                },
            },
            Kind::Leave { number, result } => SyscallStep::Leave {
                number: signed(*number)?,
                result: signed(*result)?,
            },
            Kind::LockBegin { lock, flags } => SyscallStep::Lock(LockStep::Begin {
                lock: data.field_number(*lock)?,
                flags: data.field_number(*flags)?,
            }),
            Kind::LockEnd { lock } => SyscallStep::Lock(LockStep::End {
                lock: data.field_number(*lock)?,
            }),
            Kind::Wake { tid } => SyscallStep::Lock(LockStep::Wake {
                tid: i32::try_from(signed(*tid)?).ok()?,
            }),
        })
    }
}

/// A part of a stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WantedStack {
    None,
    User,
    All,
}

impl Kind {
    fn new(format: &TracepointFormat) -> Option<Self> {
        let place = |name| format.field(name).map(|field| field.place);
        let of_one = || place("__syscall_nr").or_else(|| place("nr"));
        match format.name.as_str() {
            "sys_enter" => Some(Self::Enter {
                number: place("id")?,
                args: elements(place("args")?),
            }),
            "sys_exit" => Some(Self::Leave {
                number: place("id")?,
                result: place("ret")?,
            }),
            "contention_begin" => Some(Self::LockBegin {
                lock: place("lock_addr")?,
                flags: place("flags")?,
            }),
            "contention_end" => Some(Self::LockEnd {
                lock: place("lock_addr")?,
            }),
            "sched_waking" => Some(Self::Wake { tid: place("pid")? }),
            name if name.starts_with("sys_enter_") => {
                let number = of_one()?;
                let fields = format.fields.iter().map(|field| field.place);
                let args = fields.filter(|place| place.offset > number.offset);
                Some(Self::Enter {
                    number,
                    args: args.take(MOST_ARGS).collect(),
                })
            }
            name if name.starts_with("sys_exit_") => Some(Self::Leave {
                number: of_one()?,
                result: place("ret")?,
            }),
            _ => None,
        }
    }

    fn is_of_locks(&self) -> bool {
        !matches!(self, Self::Enter { .. } | Self::Leave { .. })
    }

    fn is_enter(&self) -> bool {
        matches!(self, Self::Enter { .. })
    }
}

/// The elements of an array of [`MOST_ARGS`].
fn elements(array: FieldPlace) -> Vec<FieldPlace> {
    let size = array.size / MOST_ARGS;
    let element = |nth| FieldPlace {
        offset: array.offset + nth * size,
        size,
        is_array: false,
        ..array
    };
    (0..MOST_ARGS).map(element).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(name: &str, fields: &str) -> Option<Kind> {
        // Fields of all events come first, and a line without any.
        let common = "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n\n";
        let text = format!("name: {name}\nID: 1\nformat:\n{common}{fields}\nprint fmt: \"\"\n");
        Kind::new(&TracepointFormat::parse(text.as_bytes()).unwrap())
    }

    #[test]
    fn places_follow_the_kernels_word_size() {
        let long = "\tfield:long id;\toffset:8;\tsize:8;\tsigned:1;\n\
                    \tfield:unsigned long args[6];\toffset:16;\tsize:48;\tsigned:0;\n";
        let int = "\tfield:long id;\toffset:8;\tsize:4;\tsigned:1;\n\
                   \tfield:unsigned long args[6];\toffset:12;\tsize:24;\tsigned:0;\n";
        for (fields, first, size) in [(long, 16, 8), (int, 12, 4)] {
            let Some(Kind::Enter { args, .. }) = kind("sys_enter", fields) else {
                panic!("{fields}");
            };
            let last = args[5];
            assert_eq!((last.offset, last.size), (first + 5 * size, size));
        }
    }

    #[test]
    fn events_of_single_calls_have_a_field_for_each_argument() {
        let fields = "\tfield:int __syscall_nr;\toffset:8;\tsize:4;\tsigned:1;\n\
                      \tfield:unsigned int fd;\toffset:16;\tsize:8;\tsigned:0;\n\
                      \tfield:char * buf;\toffset:24;\tsize:8;\tsigned:0;\n";
        match kind("sys_enter_read", fields) {
            Some(Kind::Enter { number, args }) => {
                assert_eq!((number.offset, args.len(), args[1].offset), (8, 2, 24));
            }
            other => panic!("{other:?}"),
        }
        assert!(kind("sched_switch", fields).is_none());
    }
}
