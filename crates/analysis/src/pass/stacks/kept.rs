//! Stacks that a thread keeps until their locations have names.

use foldhash::HashMap;

/// Which frames of stacks are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum KeptFrames {
    /// All.
    All,
    /// Only those that samples were taken in.
    Innermost,
}

/// Stacks that a thread keeps.
#[derive(Default)]
pub(super) struct KeptStacks {
    stacks: Vec<KeptStack>,
    /// Numbers of the locations of all stacks, innermost first.
    pub(super) locations: Vec<u32>,
}

#[derive(Clone, Copy)]
pub(super) struct KeptStack {
    /// As [`Pass::group`](crate::pass::driver::Pass::group) said.
    pub(super) group: u64,
    /// The end of its locations; they start where those of the stack before end.
    end: usize,
}

impl KeptStacks {
    pub(super) fn bytes(&self) -> usize {
        size_of_val(&*self.stacks) + size_of_val(&*self.locations)
    }

    /// Ends a stack, whose locations are there. Returns its number.
    pub(super) fn end_stack(&mut self, group: u64) -> u32 {
        let number = self.stacks.len();
        self.stacks.push(KeptStack {
            group,
            end: self.locations.len(),
        });
        u32::try_from(number).unwrap_or(u32::MAX)
    }

    /// A stack, and the numbers of its locations.
    #[inline]
    pub(super) fn of(&self, number: usize) -> Option<(KeptStack, &[u32])> {
        let stack = *self.stacks.get(number)?;
        let before = number.checked_sub(1).and_then(|n| self.stacks.get(n));
        let start = before.map_or(0, |before| before.end);
        Some((stack, self.locations.get(start..stack.end)?))
    }
}

/// Kept stacks of one location, by group and location: those that came last, since samples come nearly in order of time.
/// A stack that was forgotten is kept once more.
#[derive(Default)]
pub(super) struct RecentStacks(HashMap<(u64, u32), u32>);

impl RecentStacks {
    /// The location of an empty stack.
    pub(super) const EMPTY: u32 = u32::MAX;
    /// At most: what a core's own cache holds.
    const MOST: usize = 1 << 14;

    /// The number of the stack of a group and a location.
    #[inline]
    pub(super) fn number(&mut self, kept: &mut KeptStacks, group: u64, location: u32) -> u32 {
        if self.0.len() >= Self::MOST {
            self.0.clear();
        }
        *self.0.entry((group, location)).or_insert_with(|| {
            let locations = Some(location).filter(|&location| location != Self::EMPTY);
            kept.locations.extend(locations);
            kept.end_stack(group)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stack_of_a_group_and_a_location_is_kept_once() {
        let (mut kept, mut recent) = (KeptStacks::default(), RecentStacks::default());
        let asked = [(1, 7), (2, 7), (1, RecentStacks::EMPTY), (1, 7), (2, 7)];
        let numbers = asked.map(|(group, location)| recent.number(&mut kept, group, location));
        assert_eq!(numbers, [0, 1, 2, 0, 1]);
        let of = |number| {
            kept.of(number)
                .map(|(stack, locations)| (stack.group, locations))
        };
        assert_eq!(of(0), Some((1, &[7][..])));
        assert_eq!(of(1), Some((2, &[7][..])));
        assert_eq!(of(2), Some((1, &[][..])));
        assert_eq!(of(3), None);
    }

    #[test]
    fn what_is_remembered_is_bounded() {
        let (mut kept, mut recent) = (KeptStacks::default(), RecentStacks::default());
        for location in (0..).take(3 * RecentStacks::MOST) {
            recent.number(&mut kept, 0, location);
        }
        assert!(recent.0.len() <= RecentStacks::MOST);
        assert_eq!(recent.number(&mut kept, 0, 0), 3 * 16384);
    }
}
