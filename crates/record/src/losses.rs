//! What the kernel says that it lost, asked for at the end and written into the file.

use crate::interrupts::NoAnswer;
use crate::open::{EventCounters, Group};
use crate::sink::Sink;
use rprof_abi::record::{LostSamples, Record};
use rprof_abi::{Endian, Misc, SampleId, SampleLayout};

/// An event, and what of it was lost, if the kernel counts that.
pub(crate) struct Lost {
    id: Option<u64>,
    layout: SampleLayout,
    records: Option<u64>,
}

impl Group {
    /// What was lost of each event.
    pub(crate) fn lost_by_event(&self) -> Vec<Lost> {
        let one = |event: &EventCounters| {
            let first = event.counters.first();
            Lost {
                id: first.and_then(|counter| counter.id().ok()),
                layout: SampleLayout::new(&event.attr, Endian::NATIVE),
                records: event.lost().unwrap_or(None),
            }
        };
        self.events.iter().map(one).collect()
    }
}

/// Appends a LOST_SAMPLES, as of a time, for each event that lost any; returns their sum.
pub(crate) fn write(
    lost: &[Lost],
    time_ns: Option<u64>,
    sink: &mut Sink,
) -> Result<Option<u64>, NoAnswer> {
    let mut sum = None;
    for event in lost {
        let Some(lost) = event.records else { continue };
        *sum.get_or_insert(0) += lost;
        if lost == 0 {
            continue;
        }
        let record = Record::LostSamples(LostSamples { lost });
        let id = SampleId {
            id: event.id,
            time_ns,
            ..SampleId::default()
        };
        sink.push_encoded(|buffer| record.encode(Misc(0), &id, &event.layout, buffer))?;
    }
    Ok(sum)
}
