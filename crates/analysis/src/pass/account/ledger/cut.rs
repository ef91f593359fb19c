//! Times that are asked for: stretches of time are cut where these begin and end.

use super::Ledger;
use std::ops::{Range, RangeInclusive};

impl Ledger<'_> {
    /// Lets only some times count. Waits that perf has written do not say when they were: they stay whole.
    pub(in crate::pass::account) fn cut(&mut self, times: &[RangeInclusive<u64>]) {
        if self.sources.off_cpu_event.is_some() {
            return;
        }
        let mut times: Vec<Range<u64>> = times
            .iter()
            .map(|time| *time.start()..*time.end())
            .collect();
        times.sort_unstable_by_key(|time| (time.start, time.end));
        let mut cut: Vec<Range<u64>> = Vec::with_capacity(times.len());
        for time in times {
            match cut.last_mut() {
                Some(last) if time.start <= last.end => last.end = last.end.max(time.end),
                _ => cut.push(time),
            }
        }
        self.cut = Some(cut);
    }

    /// The parts of a range that count.
    pub(super) fn counted_parts(&self, range: Range<u64>) -> impl Iterator<Item = Range<u64>> {
        let cut = self.cut.as_deref();
        let first = cut.map_or(0, |cut| cut.partition_point(|time| time.end <= range.start));
        let touched = cut.and_then(|cut| cut.get(first..)).unwrap_or_default();
        let whole = cut.is_none().then(|| range.clone());
        let parts = touched
            .iter()
            .map_while(move |time| (time.start < range.end).then(|| cut_to(&range, time)));
        whole.into_iter().chain(parts)
    }

    /// Whether a sample at a moment counts although it stands for no time.
    pub(super) fn counts_at(&self, time_ns: u64) -> bool {
        let cut = self.cut.as_deref();
        cut.is_none_or(|cut| {
            cut.iter()
                .any(|time| time.start <= time_ns && time_ns <= time.end)
        })
    }
}

fn cut_to(range: &Range<u64>, time: &Range<u64>) -> Range<u64> {
    range.start.max(time.start)..range.end.min(time.end)
}
