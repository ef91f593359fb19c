//! Switches and wake-ups among the samples: which are kept depends on whom they are about, not on who ran.

use crate::drain::head::Head;
use crate::drain::lineage::Lineage;
use crate::error::Error;
use crate::opening::Group;
use crate::opening::off_cpu::Purpose;
use foldhash::HashMap;
use rprof_abi::tracepoint::FieldPlace;
use rprof_abi::{Endian, RecordHeader, RecordKind, SampleLayout};

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
}

impl OffCpuSamples {
    /// Those of a recording; `None` if it has none.
    pub(crate) fn new(sampling: &Group, wakees: Wakees) -> Result<Option<Self>, Error> {
        let mut samples = Self {
            events: Vec::new(),
            ids: HashMap::default(),
            wakees,
        };
        for event in &sampling.events {
            if event.purpose == Purpose::Asked {
                continue;
            }
            for counter in event.all() {
                let id = counter.id();
                let id = id.map_err(Error::system("asking for an event's id"))?;
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
        &self,
        head: &Head,
        record: &[u8],
        lineage: Option<&Lineage>,
    ) -> Option<Taken> {
        let event = self.events.get(*self.ids.get(&head.id)?)?;
        let is_kept = match (event.purpose, &self.wakees) {
            // All of a CPU's switches make sense only together, those of the recorder among them.
            (Purpose::Switch | Purpose::Waking { .. }, Wakees::All) => true,
            (Purpose::Waking { wakee }, Wakees::Lineage) => {
                let tid = woken(record, &event.layout, wakee)?;
                lineage.is_some_and(|lineage| lineage.has_thread(tid, head.time_ns))
            }
            (Purpose::Waking { wakee }, Wakees::Threads(threads)) => {
                let tid = woken(record, &event.layout, wakee)?;
                threads.has_thread(tid, head.time_ns)
            }
            (Purpose::Asked | Purpose::Switch, _) => return None,
        };
        Some(if is_kept { Taken::Kept } else { Taken::LeftOut })
    }

    /// Notes what a record of sideband says of threads.
    pub(crate) fn see(&mut self, kind: RecordKind, record: &[u8], time_ns: u64) {
        if let Wakees::Threads(threads) = &mut self.wakees {
            let body = record.get(RecordHeader::LEN..).unwrap_or_default();
            threads.see_own(kind, body, time_ns);
        }
    }

    pub(crate) fn end_pass(&mut self) {
        if let Wakees::Threads(threads) = &mut self.wakees {
            threads.end_pass();
        }
    }
}

/// Who is woken.
fn woken(record: &[u8], layout: &SampleLayout, place: FieldPlace) -> Option<i32> {
    let sample = layout.parse_sample(record.get(RecordHeader::LEN..)?).ok()?;
    let bytes = sample.raw?.get(place.offset..)?;
    Some(i32::from_ne_bytes(*bytes.first_chunk()?))
}
