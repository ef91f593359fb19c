//! `--samples-per-hour`: keeps a part of the samples, and lets each stand for those that were dropped.
//!
//! [`selection`] decides which are kept, [`pace`] how many. Samples are dropped before they are unwound and written.

mod pace;
mod random;
mod selection;
#[cfg(test)]
mod tests;

use crate::layouts::Layouts;
use crate::words::u64_at;
use pace::Pace;
use random::Numbers;
use rprof_abi::RecordHeader;
use selection::Selection;

/// Thins the samples of a recording.
#[derive(Debug)]
pub(crate) struct Thinning {
    layouts: Layouts,
    thinner: Thinner,
    /// A kept sample, with what it stands for.
    record: Vec<u8>,
}

impl Thinning {
    /// Keeps about this many samples an hour, of events with these layouts.
    pub(crate) fn new(per_hour: u64, layouts: Layouts) -> Self {
        let n_events = layouts.n_events();
        Self {
            layouts,
            thinner: Thinner::new(per_hour, (0..n_events).map(|_| Numbers::unpredictable())),
            record: Vec::new(),
        }
    }

    /// Takes a sample; `None` if it is dropped, else its record, with what it stands for as its period.
    pub(crate) fn take<'r>(&'r mut self, record: &'r [u8]) -> Option<&'r [u8]> {
        let body = record.get(RecordHeader::LEN..).unwrap_or_default();
        let event = self.layouts.event_of(body);
        let Some((event, at)) = event.and_then(|event| {
            let layout = self.layouts.layout(event)?;
            Some((event, RecordHeader::LEN + layout.period_place()?))
        }) else {
            // Nobody knows what it stands for.
            return Some(record);
        };
        let period = u64_at(record, at);
        let weight = self.thinner.take(event, period)?;
        if weight == period {
            return Some(record);
        }
        self.record.clear();
        self.record.extend_from_slice(record);
        if let Some(place) = self.record.get_mut(at..at + 8) {
            place.copy_from_slice(&weight.to_ne_bytes());
        }
        Some(&self.record)
    }

    /// A pass over all rings has ended, at this time by CLOCK_MONOTONIC.
    pub(crate) fn end_pass(&mut self, now_ns: u64) {
        self.thinner.end_pass(now_ns);
    }
}

/// Thins sequences of events and periods.
#[derive(Debug)]
struct Thinner {
    pace: Pace,
    selections: Vec<Selection>,
}

impl Thinner {
    /// With a stream of random numbers for each event.
    fn new(per_hour: u64, numbers: impl Iterator<Item = Numbers>) -> Self {
        let selections: Vec<_> = numbers.map(Selection::new).collect();
        Self {
            pace: Pace::new(per_hour, selections.len()),
            selections,
        }
    }

    /// Takes a sample; `None` if it is dropped, else what it stands for.
    fn take(&mut self, event: usize, period: u64) -> Option<u64> {
        let selection = self.selections.get_mut(event)?;
        let expected = selection.expected_hits(period);
        let taken = selection.take(period);
        if self.pace.is_burst(event, period, expected) {
            let interval = selection.interval().max(period);
            selection.set_interval(interval.saturating_mul(2).max(1));
        }
        taken
    }

    /// Fits intervals to the load, if it is time.
    fn end_pass(&mut self, now_ns: u64) {
        let intervals = self.pace.intervals(now_ns).unwrap_or_default();
        for (selection, interval) in self.selections.iter_mut().zip(intervals) {
            selection.set_interval(interval);
        }
    }
}
