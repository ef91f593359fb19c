//! Threads over time: one is selected, and a time can be marked.

use crate::cursor::Cursor;
use rprof_query::ThreadLanes;
use std::ops::RangeInclusive;

/// What is selected.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct LanesView {
    pub(crate) cursor: Cursor,
    /// The slot of time.
    pub(crate) slot: usize,
    /// The other end of the time that is marked.
    pub(crate) mark: Option<usize>,
}

impl LanesView {
    /// Moves by slots.
    pub(crate) fn sideways(&mut self, by: isize, n_slots: usize) {
        let last = n_slots.saturating_sub(1);
        self.slot = self.slot.saturating_add_signed(by).min(last);
    }

    /// Starts or clears the mark of a time range.
    pub(crate) fn mark(&mut self) {
        self.mark = match self.mark {
            Some(_) => None,
            None => Some(self.slot),
        };
    }

    /// Slots that are marked.
    pub(crate) fn marked(&self) -> Option<RangeInclusive<usize>> {
        let mark = self.mark?;
        Some(mark.min(self.slot)..=mark.max(self.slot))
    }

    /// The time of the marked slots, or of the selected one.
    pub(crate) fn times(&self, lanes: &ThreadLanes) -> RangeInclusive<u64> {
        let slots = self.marked().unwrap_or(self.slot..=self.slot);
        times_of(lanes, &slots)
    }
}

/// The time range of slots, both ends included.
pub(crate) fn times_of(lanes: &ThreadLanes, slots: &RangeInclusive<usize>) -> RangeInclusive<u64> {
    let begin = |slot: usize| {
        let slot = u64::try_from(slot).unwrap_or(u64::MAX);
        lanes
            .times_ns
            .start()
            .saturating_add(lanes.slot_ns.saturating_mul(slot))
    };
    let end = begin(slots.end() + 1).saturating_sub(1);
    begin(*slots.start())..=end.min(*lanes.times_ns.end())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_marked_time_is_all_of_its_slots() {
        let lanes = ThreadLanes {
            times_ns: 1000..=1094,
            slot_ns: 10,
            lanes: Vec::new(),
        };
        let mut view = LanesView::default();
        view.sideways(2, 10);
        assert_eq!(view.times(&lanes), 1020..=1029);
        view.mark();
        view.sideways(-5, 10);
        assert_eq!(
            (view.marked(), view.times(&lanes)),
            (Some(0..=2), 1000..=1029)
        );
        view.sideways(20, 10);
        assert_eq!(view.times(&lanes), 1020..=1094);
        view.mark();
        assert_eq!(view.marked(), None);
    }
}
