//! What events of the scheduler say: switches and wake-ups.
//!
//! Source: include/trace/events/sched.h (v4.9 to v6.18). Fields are found by name: their places differ.

use crate::samples::DecodedSample;
use crate::tracepoints::TracepointFormats;
use foldhash::HashMap;
use rprof_abi::tracepoint::{FieldPlace, NoNames, TracepointFormat};
use rprof_perfdata::Reader;
use rprof_scheduling::{ContextSwitch, SwitchState, WakeUp, Waker};

/// One event of the scheduler.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SchedEvent {
    /// A CPU goes from one thread to another (`sched_switch`).
    Switch(ContextSwitch),
    /// A thread is woken (`sched_waking`, or `sched_wakeup` if a recording has no other; `sched_wakeup_new`).
    WakeUp {
        /// Who is woken.
        tid: i32,
        /// When, and by whom.
        woken: WakeUp,
    },
    /// A thread has run (`sched_stat_runtime`).
    RunTime {
        /// The thread.
        tid: i32,
        /// For how long since the event before, nanoseconds.
        ns: u64,
    },
}

/// Decodes the scheduler's events; threads share it.
#[derive(Debug)]
pub(super) struct SchedDecoder<'a> {
    reader: &'a Reader,
    formats: TracepointFormats,
    /// By event.
    kinds: Vec<Option<Kind>>,
}

/// What numbers of `prev_state` mean, by event: a thread's memory.
#[derive(Debug, Default)]
pub(super) struct KnownStates(HashMap<(usize, u64), SwitchState>);

/// What an event is, and where its fields are.
#[derive(Clone, Copy, Debug)]
enum Kind {
    Switch {
        prev: FieldPlace,
        state: FieldPlace,
        next: FieldPlace,
    },
    WakeUp {
        pid: FieldPlace,
        flags: Option<FieldPlace>,
        by: WokenIn,
    },
    RunTime {
        pid: FieldPlace,
        ns: FieldPlace,
    },
}

/// Where the kernel is when an event of a wake-up occurs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum WokenIn {
    /// In who wakes.
    Waker,
    /// In the thread that makes the new one.
    Parent,
    /// "It is not always called from the waking context": on the CPU that the thread goes to, whatever ran there.
    Anywhere,
}

/// Numbers of `prev_state` whose meaning is remembered.
const MOST_STATES: usize = 1 << 10;

/// Bits of `common_flags`: `TRACE_FLAG_HARDIRQ`, `TRACE_FLAG_NMI`; include/linux/trace_events.h.
const IN_INTERRUPT: u64 = 0x08 | 0x40;
/// `TRACE_FLAG_SOFTIRQ`.
const IN_SOFT_INTERRUPT: u64 = 0x10;

impl<'a> SchedDecoder<'a> {
    /// For the events of a recording.
    pub(super) fn new(reader: &'a Reader) -> Self {
        let (formats, _) = TracepointFormats::of(reader);
        let events = 0..reader.events().len();
        let names = events.map(|event| formats.of_event(event));
        let names: Vec<&str> = names
            .map(|format| format.map_or("", |format| &format.name))
            .collect();
        let has_waking = names.contains(&"sched_waking");
        let kinds = names.iter().enumerate().map(|(event, name)| {
            let format = formats.of_event(event)?;
            match *name {
                "sched_wakeup" if has_waking => None,
                name => Kind::new(name, format),
            }
        });
        Self {
            kinds: kinds.collect(),
            reader,
            formats,
        }
    }

    /// Whether the recording has [`SchedEvent::RunTime`].
    pub(super) fn has_run_times(&self) -> bool {
        let mut kinds = self.kinds.iter().flatten();
        kinds.any(|kind| matches!(kind, Kind::RunTime { .. }))
    }

    /// Whether there are context switches.
    pub(super) fn has_switches(&self) -> bool {
        let mut kinds = self.kinds.iter().flatten();
        kinds.any(|kind| matches!(kind, Kind::Switch { .. }))
    }

    /// Whether new threads are woken by an event of their own.
    pub(super) fn has_births(&self) -> bool {
        let mut kinds = self.kinds.iter().flatten();
        kinds.any(|kind| matches!(kind, Kind::WakeUp { by, .. } if *by == WokenIn::Parent))
    }

    /// Whether an event is one of the scheduler's.
    pub(super) fn is_of_scheduler(&self, event: usize) -> bool {
        self.kinds.get(event).is_some_and(Option::is_some)
    }

    /// What a sample of such an event says; `None` if it is damaged.
    pub(super) fn decode(
        &self,
        decoded: &DecodedSample<'_>,
        states: &mut KnownStates,
    ) -> Option<SchedEvent> {
        let kind = self.kinds.get(decoded.event).copied().flatten()?;
        let time_ns = decoded.head.time_ns?;
        let sample = decoded.all_fields(self.reader)?;
        let data = self.formats.data(sample.raw?, self.reader.endian());
        let tid = |place| {
            let number = u32::try_from(data.field_number(place)?).ok()?;
            Some(number.cast_signed())
        };
        Some(match kind {
            Kind::Switch { prev, state, next } => SchedEvent::Switch(ContextSwitch {
                time_ns,
                cpu: decoded.head.cpu?,
                prev: tid(prev)?,
                prev_state: {
                    let bits = data.field_number(state)?;
                    states.of((decoded.event, bits), || {
                        self.state(decoded.event, bits, state, data.bytes)
                    })
                },
                next: tid(next)?,
            }),
            Kind::WakeUp { pid, flags, by } => {
                let flags = flags
                    .and_then(|place| data.field_number(place))
                    .unwrap_or(0);
                let waker = match flags {
                    _ if by == WokenIn::Anywhere => Waker::Unknown,
                    _ if flags & IN_INTERRUPT != 0 => Waker::Interrupt,
                    _ if flags & IN_SOFT_INTERRUPT != 0 => Waker::SoftInterrupt,
                    // Idle tasks wake nobody, and who has ended has no id.
                    _ if decoded.tid <= 0 => Waker::Unknown,
                    _ => Waker::Thread(decoded.tid),
                };
                SchedEvent::WakeUp {
                    tid: tid(pid)?,
                    woken: WakeUp { time_ns, waker },
                }
            }
            Kind::RunTime { pid, ns } => SchedEvent::RunTime {
                tid: tid(pid)?,
                ns: data.field_number(ns)?,
            },
        })
    }

    /// What a number of `prev_state` means, as the recorded kernel prints it.
    fn state(&self, event: usize, bits: u64, place: FieldPlace, raw: &[u8]) -> SwitchState {
        let format = self.formats.of_event(event);
        let format = format.filter(|format| format.print_error().is_none());
        let printed = format.and_then(|format| {
            // Names of threads, which could say anything, stay out of the text.
            let number = place.offset..place.offset + place.size;
            let mut bytes = vec![0; raw.len()];
            bytes
                .get_mut(number.clone())?
                .copy_from_slice(raw.get(number)?);
            let mut text = Vec::new();
            let data = self.formats.data(&bytes, self.reader.endian());
            format.print(&data, &NoNames, &mut text);
            printed_state(&text)
        });
        printed.unwrap_or_else(|| SwitchState::from_bits(bits))
    }
}

impl KnownStates {
    fn of(&mut self, number: (usize, u64), find: impl FnOnce() -> SwitchState) -> SwitchState {
        // Few numbers occur, whatever a damaged file has.
        if self.0.len() > MOST_STATES {
            self.0.clear();
        }
        *self.0.entry(number).or_insert_with(find)
    }
}

/// The letters after `prev_state=`; `None` if they are those of no state.
fn printed_state(text: &[u8]) -> Option<SwitchState> {
    let text = String::from_utf8_lossy(text);
    let (_, word) = text.split_once("prev_state=")?;
    let state = SwitchState::from_letters(word.split_whitespace().next()?);
    Some(state).filter(|&state| state != SwitchState::Unknown)
}

impl Kind {
    fn new(name: &str, format: &TracepointFormat) -> Option<Self> {
        let place = |name| format.field(name).map(|field| field.place);
        match name {
            "sched_switch" => Some(Self::Switch {
                prev: place("prev_pid")?,
                state: place("prev_state")?,
                next: place("next_pid")?,
            }),
            "sched_waking" | "sched_wakeup" | "sched_wakeup_new" => Some(Self::WakeUp {
                pid: place("pid")?,
                flags: place("common_flags"),
                by: match name {
                    "sched_waking" => WokenIn::Waker,
                    "sched_wakeup_new" => WokenIn::Parent,
                    _ => WokenIn::Anywhere,
                },
            }),
            "sched_stat_runtime" => Some(Self::RunTime {
                pid: place("pid")?,
                ns: place("runtime")?,
            }),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_state_is_what_the_kernel_prints() {
        let line = |state| {
            format!("prev_comm= prev_pid=7 prev_prio=120 prev_state={state} ==> next_comm=")
        };
        let state = |letters| printed_state(line(letters).as_bytes()).map(SwitchState::letter);
        assert_eq!(
            ["S", "R+", "D|K", "0x7"].map(state),
            [Some('S'), Some('R'), Some('D'), None]
        );
        assert_eq!(printed_state(b"rubbish"), None);
    }
}
