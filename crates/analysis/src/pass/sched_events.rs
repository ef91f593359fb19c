//! What a recording says of the scheduler: switches and wake-ups, in order of time.
//!
//! Source: include/trace/events/sched.h (v4.9 to v6.18). Fields are found by name: their places differ.

use super::ordered::{Item, WantedRecords, for_each_batch};
use super::query::Query;
use crate::Error;
use crate::samples::{DecodedSample, IgnoredSamples};
use crate::tracepoints::TracepointFormats;
use foldhash::HashMap;
use rprof_abi::tracepoint::{FieldPlace, NoNames, TracepointFormat};
use rprof_scheduling::{ContextSwitch, SwitchState, WakeUp, Waker};
use std::cell::RefCell;

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

/// The scheduler's events of a recording.
#[derive(Debug)]
pub struct SchedEvents<'q, 'a> {
    query: &'q Query<'a>,
    formats: TracepointFormats,
    /// By event.
    kinds: Vec<Option<Kind>>,
    /// What numbers of `prev_state` mean.
    states: RefCell<HashMap<(usize, u64), SwitchState>>,
}

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
    },
    RunTime {
        pid: FieldPlace,
        ns: FieldPlace,
    },
}

/// Numbers of `prev_state` whose meaning is remembered.
const MOST_STATES: usize = 1 << 10;

/// Bits of `common_flags`: `TRACE_FLAG_HARDIRQ`, `TRACE_FLAG_NMI`; include/linux/trace_events.h.
const IN_INTERRUPT: u64 = 0x08 | 0x40;
/// `TRACE_FLAG_SOFTIRQ`.
const IN_SOFT_INTERRUPT: u64 = 0x10;

impl<'q, 'a> SchedEvents<'q, 'a> {
    /// Finds the events.
    ///
    /// # Errors
    /// [`Error::NoSwitches`] if the recording has no `sched_switch`, or no times or CPUs.
    pub fn new(query: &'q Query<'a>) -> Result<Self, Error> {
        let reader = query.recording.reader;
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
        let kinds: Vec<Option<Kind>> = kinds.collect();
        let is_switch = |kind: &Option<Kind>| matches!(kind, Some(Kind::Switch { .. }));
        if !query.recording.index.has_times || !kinds.iter().any(is_switch) {
            return Err(Error::NoSwitches);
        }
        Ok(Self {
            query,
            formats,
            kinds,
            states: RefCell::default(),
        })
    }

    /// Whether the recording has [`SchedEvent::RunTime`].
    pub fn have_run_times(&self) -> bool {
        let mut kinds = self.kinds.iter().flatten();
        kinds.any(|kind| matches!(kind, Kind::RunTime { .. }))
    }

    /// Calls `visit` for each event, in order of time; stops when it returns false. A damaged one is left out, and
    /// counted.
    ///
    /// # Errors
    /// [`Error`] if the recording cannot be read.
    pub fn for_each(
        &self,
        mut visit: impl FnMut(&DecodedSample<'_>, SchedEvent) -> bool,
    ) -> Result<IgnoredSamples, Error> {
        let records = WantedRecords {
            kinds: None,
            in_file_order: false,
        };
        let mut n_bad = 0;
        let mut ignored = for_each_batch(self.query, records, |batch| {
            for item in batch.items(self.query, 0..batch.entries.len()) {
                let Item::Sample(decoded) = item else {
                    continue;
                };
                let Some(kind) = self.kinds.get(decoded.event).copied().flatten() else {
                    continue;
                };
                match self.event(&decoded, kind) {
                    Some(event) if !visit(&decoded, event) => return false,
                    Some(_) => {}
                    None => n_bad += 1,
                }
            }
            true
        })?;
        ignored.n_bad += n_bad;
        Ok(ignored)
    }

    fn event(&self, decoded: &DecodedSample<'_>, kind: Kind) -> Option<SchedEvent> {
        let reader = self.query.recording.reader;
        let time_ns = decoded.head.time_ns?;
        let sample = decoded.all_fields(reader)?;
        let data = self.formats.data(sample.raw?, reader.endian());
        let tid = |place| {
            let number = u32::try_from(data.field_number(place)?).ok()?;
            Some(number.cast_signed())
        };
        Some(match kind {
            Kind::Switch { prev, state, next } => SchedEvent::Switch(ContextSwitch {
                time_ns,
                cpu: decoded.head.cpu?,
                prev: tid(prev)?,
                prev_state: self.state(decoded.event, data.field_number(state)?, state, data.bytes),
                next: tid(next)?,
            }),
            Kind::WakeUp { pid, flags } => {
                let flags = flags
                    .and_then(|place| data.field_number(place))
                    .unwrap_or(0);
                let waker = match flags {
                    _ if flags & IN_INTERRUPT != 0 => Waker::Interrupt,
                    _ if flags & IN_SOFT_INTERRUPT != 0 => Waker::SoftInterrupt,
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
        let mut states = self.states.borrow_mut();
        // Few numbers occur, whatever a damaged file has.
        if states.len() > MOST_STATES {
            states.clear();
        }
        *states.entry((event, bits)).or_insert_with(|| {
            let format = self.formats.of_event(event);
            let format = format.filter(|format| format.print_error().is_none());
            let printed = format.and_then(|format| {
                // Names of threads, which could say anything, stay out of the text.
                let number = place.offset..place.offset + place.size;
                let mut bytes = vec![0; raw.len()];
                bytes
                    .get_mut(number.clone())?
                    .copy_from_slice(raw.get(number)?);
                let endian = self.query.recording.reader.endian();
                let mut text = Vec::new();
                format.print(&self.formats.data(&bytes, endian), &NoNames, &mut text);
                printed_state(&text)
            });
            printed.unwrap_or_else(|| SwitchState::from_bits(bits))
        })
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
