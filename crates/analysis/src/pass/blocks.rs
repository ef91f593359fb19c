//! Blocks: the time of a recording, in equal spans. Runs are counted by them.

use super::block_log::BlockLog;
use rprof_abi::SampleType;
use rprof_perfdata::Reader;
use rprof_profile::SampleCount;
use rprof_profile::run::Block;
use std::ops::{Range, RangeInclusive};
use std::sync::Arc;

/// Equal spans of time, one after the other. Of several times, each begins where the one before has ended.
#[derive(Clone, Debug)]
pub(crate) struct Blocks {
    start_ns: u64,
    /// Of each; never 0.
    len_ns: u64,
    n: u32,
    /// The times that they are of, in order, each with what lies between those before it; none if times do not matter.
    times: Arc<[(RangeInclusive<u64>, u64)]>,
}

impl Blocks {
    /// One, whatever the time.
    pub(super) fn one() -> Self {
        Self {
            start_ns: 0,
            len_ns: u64::MAX,
            n: 1,
            times: Arc::default(),
        }
    }

    /// This many of times that are in order and apart from each other; `None` if there are no times.
    pub(super) fn of(times: &[RangeInclusive<u64>], n: u32) -> Option<Self> {
        let (first, last) = (*times.first()?.start(), *times.last()?.end());
        let n = n.max(1);
        let (mut between, mut end) = (0, first);
        let times = times.iter().map(|range| {
            between += range.start().saturating_sub(end);
            end = range.end().saturating_add(1);
            (range.clone(), between)
        });
        let times: Arc<[_]> = times.collect();
        let between = times.last().map_or(0, |(_, between)| *between);
        Some(Self {
            start_ns: first,
            len_ns: last.saturating_sub(first).saturating_sub(between) / u64::from(n) + 1,
            n,
            times,
        })
    }

    /// The times that they are of.
    pub(super) fn times_ns(&self) -> Vec<RangeInclusive<u64>> {
        let times = self.times.iter();
        times.map(|(range, _)| range.clone()).collect()
    }

    /// A time without what lies between the times before it.
    #[inline]
    fn moved(&self, time_ns: u64) -> u64 {
        if self.times.len() < 2 {
            return time_ns;
        }
        let at = self
            .times
            .partition_point(|(range, _)| *range.start() <= time_ns);
        match at.checked_sub(1).and_then(|at| self.times.get(at)) {
            Some((_, between)) => time_ns.saturating_sub(*between),
            None => time_ns,
        }
    }

    /// Whether there are several.
    #[inline]
    pub(super) fn are_several(&self) -> bool {
        self.n > 1
    }

    pub(super) fn len(&self) -> usize {
        self.n as usize
    }

    /// The number of the block that a [moved](Self::moved) time is in; of times outside all of them, that of the nearest.
    fn at(&self, moved_ns: u64) -> u32 {
        let number = moved_ns.saturating_sub(self.start_ns) / self.len_ns;
        u32::try_from(number).unwrap_or(u32::MAX).min(self.n - 1)
    }

    fn span(&self, number: u32) -> Range<u64> {
        let before = self.len_ns.saturating_mul(number.into());
        let start = self.start_ns.saturating_add(before);
        start..start.saturating_add(self.len_ns)
    }

    /// As a run has them, with what was counted in each.
    pub(super) fn counted(&self, all: &[SampleCount]) -> Vec<Block> {
        let blocks = (0..self.n).zip(all);
        let blocks = blocks.map(|(number, &all)| Block {
            start_ns: self.span(number).start,
            end_ns: self.span(number).end,
            all,
        });
        blocks.collect()
    }
}

/// Whether samples of all events have times.
pub(super) fn have_times(reader: &Reader) -> bool {
    let mut events = reader.events().iter().filter(|event| !event.is_dummy());
    events.all(|event| event.attr.sample_type.has(SampleType::TIME))
}

/// The block of the last sample: mostly, the next one is in it, too.
#[derive(Clone, Debug)]
pub(super) struct BlockCursor {
    number: u32,
    span: Range<u64>,
}

impl Default for BlockCursor {
    fn default() -> Self {
        Self {
            number: 0,
            span: 0..0,
        }
    }
}

impl BlockCursor {
    /// The number of a sample's block.
    #[inline]
    pub(super) fn at(&mut self, blocks: &Blocks, time_ns: Option<u64>) -> u32 {
        let Some(time) = time_ns.filter(|_| blocks.are_several()) else {
            return 0;
        };
        let time = blocks.moved(time);
        if !self.span.contains(&time) {
            self.number = blocks.at(time);
            self.span = blocks.span(self.number);
        }
        self.number
    }
}

/// Stacks that a thread kept, counted by block: each at a node of some event's tree.
#[derive(Clone, Debug)]
pub(super) struct LoggedStacks {
    /// By number of the stack; sorted.
    pub(super) log: Arc<BlockLog>,
    /// The same.
    pub(super) places: Vec<StackPlace>,
}

/// Where a stack was counted.
#[derive(Clone, Copy, Debug)]
pub(super) struct StackPlace {
    event: u32,
    node: u32,
}

impl StackPlace {
    /// Of what is not shown.
    pub(super) const NONE: Self = Self {
        event: u32::MAX,
        node: u32::MAX,
    };

    pub(super) fn of(event: usize, node: u32) -> Self {
        let event = u32::try_from(event).unwrap_or(u32::MAX);
        Self { event, node }
    }
}

impl LoggedStacks {
    /// Says where nodes are now, by event and number.
    pub(super) fn move_to(&mut self, moved: &[Vec<u32>]) {
        for place in &mut self.places {
            let nodes = moved.get(place.event as usize);
            let node = nodes.and_then(|nodes| nodes.get(place.node as usize));
            match node {
                Some(&node) => place.node = node,
                None => *place = StackPlace::NONE,
            }
        }
    }

    /// Counts at nodes, by event.
    pub(super) fn count(&self, events: &mut [BlockCounts]) {
        self.log.for_each(|stack, block, count| {
            let place = self.places.get(stack as usize);
            if let Some(place) = place
                && let Some(blocks) = events.get_mut(place.event as usize)
            {
                blocks.count(block, place.node, count);
            }
        });
    }

    /// Adds what a block counted of an event, by node.
    pub(super) fn add_to(&self, event: usize, block: usize, nodes: &mut [SampleCount]) {
        let block = u32::try_from(block).unwrap_or(u32::MAX);
        self.log.for_each_of(block, |stack, count| {
            let place = self.places.get(stack as usize);
            let Some(place) = place.filter(|place| place.event as usize == event) else {
                return;
            };
            if let Some(sum) = nodes.get_mut(place.node as usize) {
                sum.add(count);
            }
        });
    }
}

/// What an event counted, by block. Empty where there is one block: that is the event itself.
#[derive(Clone, Debug, Default)]
pub(super) struct BlockCounts {
    /// By block: all samples that percentages are of.
    pub(super) totals: Vec<SampleCount>,
    /// By block and by node of the event's tree: stacks that are not in logs. What counted nothing may be missing at
    /// the end.
    pub(super) nodes: Vec<Vec<SampleCount>>,
}

impl BlockCounts {
    /// Counts samples for the totals.
    #[inline]
    pub(super) fn add_samples(&mut self, block: u32, count: SampleCount) {
        place(&mut self.totals, block).add(count);
    }

    /// Counts samples of a node.
    #[inline]
    pub(super) fn count(&mut self, block: u32, node: u32, count: SampleCount) {
        place(place(&mut self.nodes, block), node).add(count);
    }

    /// Adds what a block counted, by node.
    pub(super) fn add_to(&self, block: usize, nodes: &mut [SampleCount]) {
        let counted = self.nodes.get(block).into_iter().flatten();
        for (sum, &count) in nodes.iter_mut().zip(counted) {
            sum.add(count);
        }
    }

    /// Adds what was counted elsewhere, where nodes have other numbers.
    pub(super) fn merge(&mut self, other: &Self, moved: &[u32]) {
        for (block, &count) in (0..).zip(&other.totals) {
            self.add_samples(block, count);
        }
        for (block, nodes) in (0..).zip(&other.nodes) {
            let counted = moved.iter().zip(nodes).filter(|(_, one)| one.samples > 0);
            counted.for_each(|(&node, &count)| self.count(block, node, count));
        }
    }
}

/// The place with a number, made if there is none.
pub(super) fn place<T: Default>(places: &mut Vec<T>, number: u32) -> &mut T {
    let number = number as usize;
    if places.len() <= number {
        places.resize_with(number + 1, T::default);
    }
    &mut places[number]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_equal_and_hold_every_time() {
        for (span, n) in [
            (100..=199, 4),
            (100..=200, 4),
            (7..=7, 5),
            (0..=u64::MAX, 3),
        ] {
            let blocks = Blocks::of(std::slice::from_ref(&span), n).unwrap();
            assert_eq!(blocks.len(), n as usize);
            assert_eq!(blocks.at(*span.start()), 0);
            assert_eq!(blocks.at(0), 0);
            assert_eq!(blocks.at(u64::MAX), n - 1);
            let last = blocks.at(*span.end());
            assert!(last < n);
            let all = blocks.counted(&vec![SampleCount::default(); n as usize]);
            assert_eq!(all[0].start_ns, *span.start());
            assert!(all.windows(2).all(|two| two[0].end_ns == two[1].start_ns));
            assert!(all[n as usize - 1].end_ns >= *span.end());
        }
        let blocks = Blocks::of(&[100..=199], 4).unwrap();
        let at = |time| blocks.at(time);
        assert_eq!(
            [at(99), at(124), at(125), at(199), at(200)],
            [0, 0, 1, 3, 3]
        );
    }

    #[test]
    fn what_lies_between_times_is_in_no_block() {
        let times = [100..=149, 1000..=1019, 2000..=2029];
        let blocks = Blocks::of(&times, 5).unwrap();
        assert_eq!(blocks.times_ns(), times);
        let all = blocks.counted(&[SampleCount::default(); 5]);
        assert_eq!((all[0].start_ns, all[4].end_ns), (100, 200));
        let mut cursor = BlockCursor::default();
        let mut at = |time| cursor.at(&blocks, Some(time));
        assert_eq!([at(100), at(149), at(1000), at(1019)], [0, 2, 2, 3]);
        assert_eq!([at(2000), at(2009), at(2010), at(2029)], [3, 3, 4, 4]);
        assert_eq!([at(5000), at(0), at(1009)], [4, 0, 2]);
        assert!(Blocks::of(&[], 5).is_none());
    }

    #[test]
    fn the_cursor_says_what_blocks_say() {
        let blocks = Blocks::of(&[10..=49], 4).unwrap();
        let mut cursor = BlockCursor::default();
        for time in [0, 10, 19, 20, 45, 12, 60, 49, 5] {
            assert_eq!(cursor.at(&blocks, Some(time)), blocks.at(time), "{time}");
        }
        assert_eq!(cursor.at(&blocks, None), 0);
        assert_eq!(cursor.at(&Blocks::one(), Some(30)), 0);
    }

    #[test]
    fn merged_counts_are_of_the_nodes_where_they_are_now() {
        let count = SampleCount::one;
        let mut all = BlockCounts::default();
        all.count(1, 0, count(5));
        all.add_samples(1, count(5));
        let mut other = BlockCounts::default();
        other.count(0, 1, count(7));
        other.count(1, 0, count(9));
        other.add_samples(0, count(7));
        all.merge(&other, &[2, 0]);
        assert_eq!(all.totals, [count(7), count(5)]);
        assert_eq!(all.nodes[0], [count(7)]);
        let none = SampleCount::default();
        assert_eq!(all.nodes[1], [count(5), none, count(9)]);
    }
}
