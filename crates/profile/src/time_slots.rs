//! Slots of time that samples are grouped by, and how many of them have samples.

use std::ops::{Range, RangeInclusive};

/// The slots of a recording: its times, cut at multiples of a quantum.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TimeSlots {
    quantum_ns: u64,
    times_ns: Vec<RangeInclusive<u64>>,
}

/// How many slots have samples.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UsedSlots {
    /// Slots with and without samples.
    pub n_slots: u64,
    /// Those without.
    pub n_empty: u64,
    /// The longest time without samples, the first of several: from the beginning of a slot to the end of one,
    /// nanoseconds.
    pub longest_empty_ns: Option<Range<u64>>,
    /// How much of the first slot and of the last was recorded, nanoseconds; `None` if the times have gaps.
    pub recorded_ns: Option<(u64, u64)>,
}

impl TimeSlots {
    /// Slots of `quantum_ns` nanoseconds (at least 1). `times_ns` are those of the first sample and the last, as far as a
    /// filter asks for them: in order, apart from each other.
    pub fn new(quantum_ns: u64, mut times_ns: Vec<RangeInclusive<u64>>) -> Self {
        times_ns.retain(|times| !times.is_empty());
        Self {
            quantum_ns: quantum_ns.max(1),
            times_ns,
        }
    }

    /// How long each is, nanoseconds.
    pub fn quantum_ns(&self) -> u64 {
        self.quantum_ns
    }

    /// How many there are, given the times at which slots with samples begin, in any order. `None` for fewer than two.
    /// The time that this takes does not depend on how many slots are empty.
    pub fn used(&self, begins_ns: impl Iterator<Item = u64>) -> Option<UsedSlots> {
        let spans = self.spans();
        let mut used: Vec<u64> = begins_ns.map(|begin| begin / self.quantum_ns).collect();
        used.sort_unstable();
        used.dedup();
        let (mut n_slots, mut n_used) = (0u64, 0u64);
        let mut longest: Option<Range<u64>> = None;
        let mut note = |empty: Range<u64>| {
            let len = |range: &Range<u64>| range.end.saturating_sub(range.start);
            if len(&empty) > longest.as_ref().map_or(0, len) {
                longest = Some(empty);
            }
        };
        for span in &spans {
            let (mut next, last) = (*span.start(), *span.end());
            n_slots = n_slots.saturating_add((last - next).saturating_add(1));
            let from = used.partition_point(|slot| *slot < next);
            let within = used.iter().skip(from).take_while(|slot| **slot <= last);
            for &slot in within {
                n_used += 1;
                note(next..slot);
                next = slot.saturating_add(1);
            }
            note(next..last.saturating_add(1));
        }
        let in_ns = |empty: Range<u64>| {
            let at = |slot: u64| slot.saturating_mul(self.quantum_ns);
            at(empty.start)..at(empty.end)
        };
        (n_slots > 1).then(|| UsedSlots {
            n_slots,
            n_empty: n_slots - n_used,
            longest_empty_ns: longest.map(in_ns),
            recorded_ns: self.recorded_ns(),
        })
    }

    /// Numbers of slots, first and last, that have a part of the times; those that touch are one span.
    fn spans(&self) -> Vec<RangeInclusive<u64>> {
        let mut spans: Vec<RangeInclusive<u64>> = Vec::new();
        for times in &self.times_ns {
            let (first, last) = (
                times.start() / self.quantum_ns,
                times.end() / self.quantum_ns,
            );
            match spans.last_mut() {
                Some(span) if first <= span.end().saturating_add(1) => {
                    *span = *span.start()..=last.max(*span.end());
                }
                _ => spans.push(first..=last),
            }
        }
        spans
    }

    fn recorded_ns(&self) -> Option<(u64, u64)> {
        let [times] = self.times_ns.as_slice() else {
            return None;
        };
        let before = times.start() % self.quantum_ns;
        Some((self.quantum_ns - before, times.end() % self.quantum_ns))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn slots_without_samples_are_counted_and_the_longest_stretch_is_found() {
        let slots = TimeSlots::new(100, vec![163..=1021]);
        let used = slots.used([300, 100, 700, 300, 1000].into_iter()).unwrap();
        let expected = UsedSlots {
            n_slots: 10,
            n_empty: 6,
            // Slots 4 to 6 come before 8 and 9.
            longest_empty_ns: Some(400..700),
            recorded_ns: Some((37, 21)),
        };
        assert_eq!(used, expected);
        let all = slots.used((1..=10).map(|slot| slot * 100)).unwrap();
        assert_eq!((all.n_empty, all.longest_empty_ns), (0, None));
    }

    #[test]
    fn slots_before_the_first_sample_shown_and_after_the_last_are_empty_too() {
        let slots = TimeSlots::new(10, vec![0..=99]);
        let longest = |begins: &[u64]| {
            let used = slots.used(begins.iter().copied()).unwrap();
            used.longest_empty_ns.unwrap()
        };
        assert_eq!(longest(&[90]), 0..90);
        assert_eq!(longest(&[0]), 10..100);
        assert_eq!(longest(&[]), 0..100);
    }

    #[test]
    fn what_is_between_times_is_in_no_slot() {
        let slots = TimeSlots::new(10, vec![0..=15, 18..=29, 70..=89]);
        let used = slots.used([0, 80].into_iter()).unwrap();
        assert_eq!((used.n_slots, used.n_empty), (5, 3));
        assert_eq!(used.longest_empty_ns, Some(10..30));
        assert_eq!(used.recorded_ns, None);
    }

    #[test]
    fn one_slot_and_none_are_nothing_to_speak_of() {
        assert_eq!(
            TimeSlots::new(10, vec![11..=19]).used([10].into_iter()),
            None
        );
        assert_eq!(TimeSlots::new(10, vec![]).used([10].into_iter()), None);
    }

    #[test]
    fn times_that_claim_everything_are_only_large_numbers() {
        let slots = TimeSlots::new(0, vec![0..=u64::MAX]);
        let used = slots.used([0, 1, u64::MAX].into_iter()).unwrap();
        assert_eq!(used.n_slots, u64::MAX);
        assert_eq!(used.longest_empty_ns, Some(2..u64::MAX));
    }

    proptest! {
        #[test]
        fn every_slot_is_used_or_empty(
            times in prop::collection::btree_set(0u64..5_000, 1..40),
            quantum in 1u64..300,
        ) {
            let (first, last) = (*times.first().unwrap(), *times.last().unwrap());
            let slots = TimeSlots::new(quantum, vec![first..=last]);
            let begins: Vec<u64> = times.iter().map(|time| time / quantum * quantum).collect();
            let all: Vec<u64> = (first / quantum..=last / quantum).collect();
            let is_used = |slot: &u64| begins.contains(&(slot * quantum));
            let expected = all.iter().filter(|slot| !is_used(slot)).count();
            let used = slots.used(begins.iter().copied());
            let used = used.map(|used| (used.n_slots, used.n_empty));
            let n_all = all.len() as u64;
            prop_assert_eq!(used, (n_all > 1).then_some((n_all, expected as u64)));
        }
    }
}
