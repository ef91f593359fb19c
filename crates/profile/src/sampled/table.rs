//! Samples in columns.

use std::ops::{Range, RangeInclusive};

/// A sample, in numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SampleRow {
    /// Nanoseconds of the recording's clock.
    pub time_ns: u64,
    /// Index of its event in the profile's.
    pub event: u16,
    /// Index of its thread.
    pub thread: u32,
    /// Its stack's innermost node in [`SampledProfile::stacks`](super::SampledProfile::stacks); `None` if nothing was recorded of it, or if what was
    /// loaded has it for totals only.
    pub stack: Option<u32>,
    /// CPU.
    pub cpu: Option<u16>,
    /// What it counts for, in the event's unit.
    pub weight: u64,
}

/// Samples in columns, in order of time.
#[derive(Clone, Debug, Default)]
pub struct SampleTable {
    times_ns: Vec<u64>,
    events: Vec<u16>,
    threads: Vec<u32>,
    stacks: Vec<u32>,
    cpus: Vec<u16>,
    weights: Weights,
}

/// Columns of consecutive samples, for loops over millions of them.
#[derive(Clone, Copy, Debug)]
pub struct SampleColumns<'t> {
    /// Numbers of events.
    pub events: &'t [u16],
    /// Numbers of threads.
    pub threads: &'t [u32],
    /// Nodes; what has none has a number that no node has.
    pub stacks: &'t [u32],
    /// CPUs; [`SampleColumns::NO_CPU`] where there is none.
    pub cpus: &'t [u16],
    /// What they count for; `None` where [`SampleTable::weight_of_each`] says it.
    pub weights: Option<&'t [u64]>,
}

impl SampleColumns<'_> {
    /// Instead of a CPU.
    pub const NO_CPU: u16 = NO_CPU;
}

/// What samples count for. Most events count each one alike.
#[derive(Clone, Debug)]
enum Weights {
    /// By event.
    Alike(Vec<Option<u64>>),
    /// By sample.
    Each(Vec<u64>),
}

impl Default for Weights {
    fn default() -> Self {
        Self::Alike(Vec::new())
    }
}

/// For what is not there, in columns.
const NO_STACK: u32 = u32::MAX;
const NO_CPU: u16 = u16::MAX;

impl SampleTable {
    /// An empty one with room for samples.
    pub fn with_capacity(n_samples: usize) -> Self {
        Self {
            times_ns: Vec::with_capacity(n_samples),
            events: Vec::with_capacity(n_samples),
            threads: Vec::with_capacity(n_samples),
            stacks: Vec::with_capacity(n_samples),
            cpus: Vec::with_capacity(n_samples),
            weights: Weights::default(),
        }
    }

    /// How many samples there are.
    pub fn len(&self) -> usize {
        self.times_ns.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.times_ns.is_empty()
    }

    /// Adds a sample, which is no earlier than those before.
    pub fn push(&mut self, row: SampleRow) {
        self.push_weight(row.event, row.weight);
        self.times_ns.push(row.time_ns);
        self.events.push(row.event);
        self.threads.push(row.thread);
        self.stacks.push(row.stack.unwrap_or(NO_STACK));
        self.cpus.push(row.cpu.unwrap_or(NO_CPU));
    }

    fn push_weight(&mut self, event: u16, weight: u64) {
        if let Weights::Alike(by_event) = &mut self.weights {
            if by_event.len() <= usize::from(event) {
                by_event.resize(usize::from(event) + 1, None);
            }
            if *by_event[usize::from(event)].get_or_insert(weight) == weight {
                return;
            }
            let of = |event: &u16| by_event[usize::from(*event)].unwrap_or(0);
            let mut each = Vec::with_capacity(self.times_ns.capacity());
            each.extend(self.events.iter().map(of));
            self.weights = Weights::Each(each);
        }
        if let Weights::Each(each) = &mut self.weights {
            each.push(weight);
        }
    }

    /// Gives samples the nodes that theirs have become; what has none has no stack from now on.
    pub fn map_stacks(&mut self, mut map: impl FnMut(u32) -> Option<u32>) {
        for stack in &mut self.stacks {
            *stack = map(*stack).unwrap_or(NO_STACK);
        }
    }

    /// Gives samples other times, in the same order.
    pub(crate) fn map_times(&mut self, map: impl Fn(u64) -> u64) {
        for time_ns in &mut self.times_ns {
            *time_ns = map(*time_ns);
        }
    }

    /// Drops all samples from an index on.
    pub fn truncate(&mut self, len: usize) {
        self.times_ns.truncate(len);
        self.events.truncate(len);
        self.threads.truncate(len);
        self.stacks.truncate(len);
        self.cpus.truncate(len);
        if let Weights::Each(each) = &mut self.weights {
            each.truncate(len);
        }
    }

    /// Drops the first samples, at most this many.
    pub fn drop_first(&mut self, n_samples: usize) {
        let first = ..n_samples.min(self.len());
        self.times_ns.drain(first);
        self.events.drain(first);
        self.threads.drain(first);
        self.stacks.drain(first);
        self.cpus.drain(first);
        if let Weights::Each(each) = &mut self.weights {
            each.drain(first);
        }
    }

    /// The sample with an index.
    ///
    /// # Panics
    /// If there is none.
    #[inline]
    pub fn row(&self, idx: usize) -> SampleRow {
        let event = self.events[idx];
        SampleRow {
            time_ns: self.times_ns[idx],
            event,
            thread: self.threads[idx],
            stack: Some(self.stacks[idx]).filter(|&stack| stack != NO_STACK),
            cpu: Some(self.cpus[idx]).filter(|&cpu| cpu != NO_CPU),
            weight: match &self.weights {
                Weights::Alike(by_event) => by_event[usize::from(event)].unwrap_or(0),
                Weights::Each(each) => each[idx],
            },
        }
    }

    /// The columns of samples within a range of indices.
    ///
    /// # Panics
    /// If there are not as many samples.
    pub fn columns(&self, range: Range<usize>) -> SampleColumns<'_> {
        SampleColumns {
            events: &self.events[range.clone()],
            threads: &self.threads[range.clone()],
            stacks: &self.stacks[range.clone()],
            cpus: &self.cpus[range.clone()],
            weights: match &self.weights {
                Weights::Alike(_) => None,
                Weights::Each(each) => Some(&each[range]),
            },
        }
    }

    /// What each sample of an event counts for, where all samples of an event count alike.
    pub fn weight_of_each(&self, event: u16) -> Option<u64> {
        match &self.weights {
            Weights::Alike(by_event) => *by_event.get(usize::from(event))?,
            Weights::Each(_) => None,
        }
    }

    /// Samples within a range of indices.
    pub fn rows(&self, range: Range<usize>) -> impl Iterator<Item = SampleRow> {
        range.map(|idx| self.row(idx))
    }

    /// All samples.
    pub fn iter(&self) -> impl Iterator<Item = SampleRow> {
        self.rows(0..self.len())
    }

    /// Indices of the samples whose times are within these, both included.
    pub fn within(&self, times_ns: &RangeInclusive<u64>) -> Range<usize> {
        let times = &self.times_ns;
        let start = times.partition_point(|time| time < times_ns.start());
        let end = times.partition_point(|time| time <= times_ns.end());
        start..end.max(start)
    }

    /// Times of the first and the last sample.
    pub fn span_ns(&self) -> Option<RangeInclusive<u64>> {
        Some(*self.times_ns.first()?..=*self.times_ns.last()?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn row(time_ns: u64, event: u16, weight: u64) -> SampleRow {
        SampleRow {
            time_ns,
            event,
            thread: 1,
            stack: (weight == 1).then_some(7),
            cpu: (weight > 1).then_some(3),
            weight,
        }
    }

    proptest! {
        #[test]
        fn rows_come_back_as_they_went_in(weights in prop::collection::vec((0u16..3, 0u64..3), 0..50)) {
            let mut table = SampleTable::default();
            let rows: Vec<SampleRow> =
                (0u64..).zip(weights).map(|(time, (event, weight))| row(time, event, weight)).collect();
            rows.iter().for_each(|&row| table.push(row));
            prop_assert_eq!(table.iter().collect::<Vec<_>>(), rows);
        }

        #[test]
        fn either_end_can_be_dropped(
            weights in prop::collection::vec((0u16..3, 0u64..3), 0..50),
            first in 0usize..60,
            len in 0usize..60,
        ) {
            let mut table = SampleTable::default();
            let mut rows: Vec<SampleRow> =
                (0u64..).zip(weights).map(|(time, (event, weight))| row(time, event, weight)).collect();
            rows.iter().for_each(|&row| table.push(row));
            table.truncate(len);
            table.drop_first(first);
            rows.truncate(len);
            rows.drain(..first.min(rows.len()));
            prop_assert_eq!(table.iter().collect::<Vec<_>>(), rows);
        }
    }

    #[test]
    fn both_ends_of_a_time_are_in_it() {
        let mut table = SampleTable::default();
        for time in [5, 7, 7, 9] {
            table.push(row(time, 0, 1));
        }
        assert_eq!(table.within(&(7..=7)), 1..3);
        assert_eq!(table.within(&(0..=6)), 0..1);
        assert_eq!(table.within(&(6..=u64::MAX)), 1..4);
        #[expect(
            clippy::reversed_empty_ranges,
            reason = "what is asked for may be empty"
        )]
        let nothing = table.within(&(9..=5));
        assert_eq!(nothing.len(), 0);
        assert_eq!(table.span_ns(), Some(5..=9));
        assert_eq!(SampleTable::default().span_ns(), None);
    }
}
