//! Who ran when: threads over time.

use crate::SampleSelection;
use crate::chosen::Chosen;
use rprof_profile::SampledProfile;
use std::cmp::Reverse;
use std::ops::RangeInclusive;

/// Threads over time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ThreadLanes {
    /// The time that is shown, nanoseconds of the recording's clock.
    pub times_ns: RangeInclusive<u64>,
    /// How long a slot is, nanoseconds, at least 1.
    pub slot_ns: u64,
    /// The heaviest first.
    pub lanes: Vec<ThreadLane>,
}

/// One thread.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ThreadLane {
    /// Index of the thread.
    pub thread: u32,
    /// How many of its samples are selected.
    pub samples: u64,
    /// Their weight, in the event's unit.
    pub weight: u64,
    /// The same by slot of time.
    pub slots: Vec<u64>,
}

/// Threads over a selection's time, or the recording's, in this many slots. `None` if there are no samples, or no times.
pub fn lanes(
    sampled: &SampledProfile,
    selection: &SampleSelection,
    n_slots: usize,
) -> Option<ThreadLanes> {
    let times_ns = times_of(sampled, selection)?;
    let n_slots = n_slots.max(1);
    let slots = Slots::new(&times_ns, n_slots);
    let chosen = Chosen::new(sampled, selection);
    let mut by_thread: Vec<Option<ThreadLane>> = vec![None; sampled.threads.len()];
    for sample in sampled.samples.rows(chosen.range.clone()) {
        let has_stack = |stack| chosen.is_shown(&sample, stack);
        if !chosen.is_in_totals(&sample) || !sample.stack.is_some_and(has_stack) {
            continue;
        }
        let lane = by_thread[sample.thread as usize].get_or_insert_with(|| ThreadLane {
            thread: sample.thread,
            samples: 0,
            weight: 0,
            slots: vec![0; n_slots],
        });
        lane.samples += 1;
        lane.weight = lane.weight.saturating_add(sample.weight);
        let slot = &mut lane.slots[slots.at(sample.time_ns)];
        *slot = slot.saturating_add(sample.weight);
    }
    let mut lanes: Vec<ThreadLane> = by_thread.into_iter().flatten().collect();
    lanes.sort_by_key(|lane| (Reverse(lane.weight), lane.thread));
    Some(ThreadLanes {
        times_ns,
        slot_ns: slots.slot_ns,
        lanes,
    })
}

/// The time that is asked for, or that of all samples.
pub(crate) fn times_of(
    sampled: &SampledProfile,
    selection: &SampleSelection,
) -> Option<RangeInclusive<u64>> {
    let all = sampled.samples.span_ns().filter(|_| sampled.has_times)?;
    let times = selection.times_ns.clone().unwrap_or(all);
    (!times.is_empty()).then_some(times)
}

/// A time, cut into slots of one length.
struct Slots {
    start_ns: u64,
    slot_ns: u64,
    last: usize,
}

impl Slots {
    fn new(times_ns: &RangeInclusive<u64>, n_slots: usize) -> Self {
        let n = u64::try_from(n_slots).unwrap_or(u64::MAX);
        Self {
            start_ns: *times_ns.start(),
            slot_ns: (times_ns.end() - times_ns.start()) / n + 1,
            last: n_slots - 1,
        }
    }

    fn at(&self, time_ns: u64) -> usize {
        let slot = time_ns.saturating_sub(self.start_ns) / self.slot_ns;
        usize::try_from(slot).unwrap_or(usize::MAX).min(self.last)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rprof_profile::testing;

    #[test]
    fn each_sample_is_in_the_slot_of_its_time() {
        let sampled = testing::sampled(&[
            (100, "a", "main", 1),
            (149, "b", "main", 5),
            (150, "a", "main", 2),
            (199, "a", "main", 1),
        ]);
        let all = lanes(&sampled, &SampleSelection::default(), 4).unwrap();
        assert_eq!((all.times_ns.clone(), all.slot_ns), (100..=199, 25));
        let slots: Vec<_> = all
            .lanes
            .iter()
            .map(|lane| (lane.thread, &lane.slots[..]))
            .collect();
        assert_eq!(slots, [(1, &[0, 5, 0, 0][..]), (0, &[1, 0, 2, 1][..])]);
        let part = SampleSelection {
            times_ns: Some(150..=150),
            ..SampleSelection::default()
        };
        let part = lanes(&sampled, &part, 3).unwrap();
        assert_eq!((part.lanes.len(), part.lanes[0].weight), (1, 2));
        let timeless = SampledProfile {
            has_times: false,
            ..sampled
        };
        assert_eq!(lanes(&timeless, &SampleSelection::default(), 4), None);
    }
}
