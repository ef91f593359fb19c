//! Switches and wake-ups among the samples: which are kept depends on whom they are about, not on who ran.

use crate::drain::blocked::SampleOf;
use crate::drain::head::Head;
use crate::drain::held_switches::HeldSwitches;
use crate::drain::lineage::Lineage;
use crate::error::Error;
use crate::opening::off_cpu::Purpose;
use crate::opening::{EventCounters, Group};
use crate::words::{u32_at, u64_at};
use foldhash::HashMap;
use rprof_abi::tracepoint::FieldPlace;
use rprof_abi::{Endian, Misc, RecordHeader, RecordKind, SampleLayout};
use rprof_ringbuf::sys::Clock;
use std::time::Duration;

/// Whose wake-ups are kept.
#[derive(Debug)]
pub(crate) enum Wakees {
    All,
    /// Those of the threads whose other samples are kept, too.
    Lineage,
    /// Those of threads that have their own events.
    Threads(Box<Lineage>),
}

impl Wakees {
    /// These threads, and those that they start.
    pub(crate) fn of_threads(threads: &[i32]) -> Self {
        let mut lineage = Lineage::default();
        lineage.add_threads(threads);
        Self::Threads(Box::new(lineage))
    }
}

/// What becomes of a sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Taken {
    /// It is kept, whoever ran.
    Kept,
    /// Others are woken.
    LeftOut,
}

/// An event.
#[derive(Debug)]
struct SchedEvent {
    purpose: Purpose,
    layout: SampleLayout,
}

/// Tells switches and wake-ups from other samples.
#[derive(Debug)]
pub(crate) struct OffCpuSamples {
    events: Vec<SchedEvent>,
    /// By id.
    ids: HashMap<u64, usize>,
    wakees: Wakees,
    /// The id and number of the event for which samples are made of threads that wait.
    blocked: Option<(u64, usize)>,
    /// Those of switches that wait for their stacks, if these are read later.
    pub(crate) held: Option<HeldSwitches>,
}

impl OffCpuSamples {
    /// Those of a recording; `None` if it has none.
    pub(crate) fn new(
        sampling: &Group,
        wakees: Wakees,
        (threshold, clock): (Duration, Clock),
    ) -> Result<Option<Self>, Error> {
        let is_read_later = sampling.events.iter().any(EventCounters::is_read_later);
        let mut samples = Self {
            events: Vec::new(),
            ids: HashMap::default(),
            wakees,
            blocked: None,
            held: is_read_later.then(|| HeldSwitches::new(threshold, clock)),
        };
        for event in &sampling.events {
            if matches!(event.purpose, Purpose::Asked | Purpose::Span(_)) {
                continue;
            }
            for counter in event.all() {
                let id = counter.id();
                let id = id.map_err(Error::system("asking for an event's id"))?;
                if event.purpose == Purpose::Blocked {
                    samples.blocked = Some((id, samples.events.len()));
                }
                samples.ids.insert(id, samples.events.len());
            }
            samples.events.push(SchedEvent {
                purpose: event.purpose,
                layout: SampleLayout::new(&event.attr, Endian::NATIVE),
            });
        }
        Ok((!samples.ids.is_empty()).then_some(samples))
    }

    /// Says what becomes of a sample; `None` for those that are as any other.
    #[inline]
    pub(crate) fn take(
        &mut self,
        head: &Head,
        record: &[u8],
        lineage: Option<&Lineage>,
    ) -> Option<Taken> {
        let event = self.events.get(*self.ids.get(&head.id)?)?;
        if let (
            Purpose::Switch {
                next: Some(next), ..
            },
            Some(held),
            Wakees::All,
        ) = (event.purpose, &mut self.held, &self.wakees)
            && let Some(tid) = raw_id(record, &event.layout, next)
        {
            held.switched_in(tid, head.time_ns);
        }
        let is_kept = match (event.purpose, &self.wakees) {
            // All of a CPU's switches make sense only together, those of the recorder among them.
            (Purpose::Switch { .. } | Purpose::Waking { .. }, Wakees::All) => true,
            (Purpose::Waking { wakee }, Wakees::Lineage) => {
                let tid = raw_id(record, &event.layout, wakee)?;
                lineage.is_some_and(|lineage| lineage.has_thread(tid, head.time_ns))
            }
            (Purpose::Waking { wakee }, Wakees::Threads(threads)) => {
                let tid = raw_id(record, &event.layout, wakee)?;
                threads.has_thread(tid, head.time_ns)
            }
            (Purpose::Asked | Purpose::Span(_) | Purpose::Switch { .. } | Purpose::Blocked, _) => {
                return None;
            }
        };
        Some(if is_kept { Taken::Kept } else { Taken::LeftOut })
    }

    /// Whether samples of switches tell when threads run again.
    pub(crate) fn says_next(&self) -> bool {
        matches!(self.wakees, Wakees::All)
    }

    /// Takes the sample of a switch whose stack is read later. Returns whether it is held back.
    #[inline]
    pub(crate) fn hold(&mut self, head: &Head, record: &[u8]) -> bool {
        let Some(held) = &mut self.held else {
            return false;
        };
        let number = self.ids.get(&head.id).copied();
        let event = number.and_then(|number| Some((number, self.events.get(number)?)));
        event.is_some_and(|(number, event)| {
            matches!(event.purpose, Purpose::Switch { .. })
                && held.hold(head, record, (number, &event.layout))
        })
    }

    /// Notes what a record of sideband says of a thread.
    pub(crate) fn see(&mut self, kind: RecordKind, record: &[u8], (tid, time_ns): (i32, u64)) {
        if let Some(held) = &mut self.held {
            tell(held, kind, record, (tid, time_ns));
            if let Some((id, event)) = self.blocked
                && let Some(of) = switched_out(kind, record, id)
                && let Some(SchedEvent { layout, .. }) = self.events.get(event)
            {
                held.left(of, (event, layout));
            }
        }
        if let Wakees::Threads(threads) = &mut self.wakees {
            let body = record.get(RecordHeader::LEN..).unwrap_or_default();
            threads.see_own(kind, body, time_ns);
        }
    }

    /// The end of a pass that began at this time.
    pub(crate) fn end_pass(&mut self, began_ns: u64, is_empty: bool) {
        if let Wakees::Threads(threads) = &mut self.wakees {
            threads.end_pass();
        }
        if let Some(held) = &mut self.held {
            let layout = |event: usize| Some(&self.events.get(event)?.layout);
            held.end_pass(began_ns, is_empty, layout);
        }
    }

    /// The layout of an event's samples, by its number here.
    pub(crate) fn layout(&self, event: usize) -> Option<&SampleLayout> {
        Some(&self.events.get(event)?.layout)
    }
}

/// Tells what is held back of switches what a record says of a thread.
fn tell(held: &mut HeldSwitches, kind: RecordKind, record: &[u8], (current, time_ns): (i32, u64)) {
    // Header, pid, ppid, tid.
    let subject = u32_at(record, 16).map_or(-1, u32::cast_signed);
    match kind {
        RecordKind::SWITCH | RecordKind::SWITCH_CPU_WIDE => {
            // The header's `misc`, after the kind.
            let misc = record.get(4..).and_then(|rest| rest.first_chunk());
            let misc = misc.map(|bytes| Misc(u16::from_ne_bytes(*bytes)));
            if misc.is_some_and(|misc| !misc.has(Misc::SWITCH_OUT)) {
                held.switched_in(current, time_ns);
            }
        }
        RecordKind::EXIT => held.ended(subject, time_ns),
        RecordKind::FORK => held.begins(subject, time_ns),
        RecordKind::COMM => held.begins(current, time_ns),
        _ => {}
    }
}

/// The thread that waits from now on, if a record says so; `id` is that of the event that its sample will be of.
fn switched_out(kind: RecordKind, record: &[u8], id: u64) -> Option<SampleOf> {
    let misc = Misc(u16::from_ne_bytes(*record.get(4..)?.first_chunk()?));
    // One that could go on waits for a CPU only.
    let waits = misc.has(Misc::SWITCH_OUT) && !misc.has(Misc::SWITCH_OUT_PREEMPT);
    if kind != RecordKind::SWITCH || !waits {
        return None;
    }
    // Records of sideband end with TID, TIME, CPU and IDENTIFIER.
    let at = record.len().checked_sub(32)?;
    Some(SampleOf {
        id,
        pid: u32_at(record, at)?.cast_signed(),
        tid: u32_at(record, at + 4)?.cast_signed(),
        cpu: u32_at(record, at + 16)?,
        // Samples of switches come before their records.
        time_ns: u64_at(record, at + 8).saturating_sub(1),
    })
}

/// The id of a thread in the raw data.
fn raw_id(record: &[u8], layout: &SampleLayout, place: FieldPlace) -> Option<i32> {
    let sample = layout.parse_sample(record.get(RecordHeader::LEN..)?).ok()?;
    let bytes = sample.raw?.get(place.offset..)?;
    Some(i32::from_ne_bytes(*bytes.first_chunk()?))
}
