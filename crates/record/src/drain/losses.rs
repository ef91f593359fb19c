//! What the kernel lost, by its own count. It is asked at the end, and the answer is written into the file.

use crate::interrupts::WriterStalled;
use crate::opening::{EventCounters, Group};
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

/// What of the losses has been written.
#[derive(Debug, Default)]
pub(crate) struct Written {
    /// By place among the events.
    records: Vec<u64>,
}

impl Written {
    /// Notes what an event has lost in all; returns what of it is new.
    fn take_new(&mut self, event: usize, lost: u64) -> u64 {
        let n_events = self.records.len().max(event + 1);
        self.records.resize(n_events, 0);
        let before = self.records.get_mut(event);
        before.map_or(lost, |before| {
            lost.saturating_sub(std::mem::replace(before, lost))
        })
    }
}

/// Appends a LOST_SAMPLES, as of a time, for each event that lost any since `written`; returns the sum of
/// all.
pub(crate) fn write(
    lost: &[Lost],
    time_ns: Option<u64>,
    written: &mut Written,
    sink: &mut Sink,
) -> Result<Option<u64>, WriterStalled> {
    // Of no events, the kernel can lose nothing.
    let mut sum = lost.is_empty().then_some(0);
    for (place, event) in lost.iter().enumerate() {
        let Some(lost) = event.records else { continue };
        *sum.get_or_insert(0) += lost;
        let lost = written.take_new(place, lost);
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_loss_is_written_once() {
        let mut written = Written::default();
        let new = [(1, 5), (0, 2), (1, 5), (1, 9), (0, 2)];
        let new = new.map(|(event, lost)| written.take_new(event, lost));
        assert_eq!(new, [5, 2, 0, 4, 0]);
    }
}
