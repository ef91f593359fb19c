//! Who ran when: threads over time.

use crate::SampleSelection;
use crate::chosen::Chosen;
use foldhash::HashMap;
use rprof_profile::{SampleRow, SampledProfile, StrId, Thread};
use std::cmp::Reverse;
use std::ops::{Range, RangeInclusive};

/// Threads over time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ThreadLanes {
    /// The time that is shown, nanoseconds of the recording's clock.
    pub times_ns: RangeInclusive<u64>,
    /// How long a slot is, nanoseconds, at least 1.
    pub slot_ns: u64,
    /// The heaviest first.
    pub lanes: Vec<ThreadLane>,
    /// What all of them have that is no wait, by slot of time.
    pub running: Vec<u64>,
}

/// One thread.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ThreadLane {
    /// Index of the thread, under the last of its names.
    pub thread: u32,
    /// How many of its samples are selected.
    pub samples: u64,
    /// Their weight, in the event's unit.
    pub weight: u64,
    /// The same by slot of time.
    pub slots: Vec<u64>,
    /// What of it are waits, by name of the cause. Waits whose begin is known are in all slots that they last for, those
    /// that began before the first one, too.
    pub waits: Vec<(StrId, Vec<u64>)>,
}

impl ThreadLane {
    /// What a slot is for the most part: what is waited for, or nothing if the thread runs or nothing is known of it.
    pub fn wait_at(&self, slot: usize) -> Option<StrId> {
        let of_slot = |(cause, slots): &(StrId, Vec<u64>)| Some((*slots.get(slot)?, *cause));
        let waits = self.waits.iter().filter_map(of_slot);
        let all = self.slots.get(slot).copied().unwrap_or(0);
        let (waited, sum, longest) =
            waits.fold((0, 0, None), |(most, sum, longest), (ns, cause)| {
                let longest = if ns > most { Some(cause) } else { longest };
                (ns.max(most), ns.saturating_add(sum), longest)
            });
        longest.filter(|_| waited > all.saturating_sub(sum))
    }

    /// What a slot has that is no wait.
    pub fn running_at(&self, slot: usize) -> u64 {
        let waits = self.waits.iter().filter_map(|(_, slots)| slots.get(slot));
        let waited = waits.fold(0, |sum: u64, one| sum.saturating_add(*one));
        let all = self.slots.get(slot).copied().unwrap_or(0);
        all.saturating_sub(waited)
    }
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
    let mut waits = Waits::of(sampled);
    // Waits that began before the time may last into it.
    let begin = if waits.have_begins {
        0
    } else {
        chosen.range.start
    };
    let latest = latest_names(sampled);
    let mut by_thread: Vec<Option<ThreadLane>> = vec![None; sampled.threads.len()];
    for (idx, sample) in (begin..).zip(sampled.samples.rows(begin..chosen.range.end)) {
        let has_stack = |stack| chosen.is_shown(&sample, stack);
        if !chosen.is_in_totals(&sample) || !sample.stack.is_some_and(has_stack) {
            continue;
        }
        let cause = waits.cause(&sample);
        let is_within = chosen.range.contains(&idx);
        let lasts = waits.lasts(&sample, cause);
        if !is_within && lasts.end <= *times_ns.start() {
            continue;
        }
        let thread = latest[sample.thread as usize];
        let lane = by_thread[thread as usize].get_or_insert_with(|| ThreadLane {
            thread,
            samples: 0,
            weight: 0,
            slots: vec![0; n_slots],
            waits: Vec::new(),
        });
        if is_within {
            lane.samples += 1;
            lane.weight = lane.weight.saturating_add(sample.weight);
        }
        lane.add(&slots, &lasts, sample.weight, cause);
    }
    let mut lanes: Vec<ThreadLane> = by_thread.into_iter().flatten().collect();
    lanes.sort_by_key(|lane| (Reverse(lane.weight), lane.thread));
    let mut running = vec![0; n_slots];
    for lane in &lanes {
        lane.add_running(&mut running);
    }
    Some(ThreadLanes {
        times_ns,
        slot_ns: slots.slot_ns,
        lanes,
        running,
    })
}

/// Of each thread, the index of the same thread under its last name: threads are listed once for each of their names.
/// Recordings of several machines have no common host: there, equal ids may be other threads.
fn latest_names(sampled: &SampledProfile) -> Vec<u32> {
    let threads = &sampled.threads;
    if sampled.profile.about.host.is_none() {
        return (0..).take(threads.len()).collect();
    }
    let task = |thread: &Thread| (thread.pid, thread.tid);
    let mut last: HashMap<(i32, i32), u32> = HashMap::default();
    for (idx, thread) in (0..).zip(threads) {
        let is_later = |other: u32| threads[other as usize].end_ns <= thread.end_ns;
        let known = last.entry(task(thread)).or_insert(idx);
        if is_later(*known) {
            *known = idx;
        }
    }
    threads.iter().map(|thread| last[&task(thread)]).collect()
}

/// The time that is asked for, or that of all samples.
pub(crate) fn times_of(
    sampled: &SampledProfile,
    selection: &SampleSelection,
) -> Option<RangeInclusive<u64>> {
    let all = sampled.samples.span_ns().filter(|_| sampled.has_times)?;
    let times = selection.times_ns.clone().unwrap_or_else(|| {
        // The last wait may last on after the last sample.
        let last_ns = last_end_of_waits(sampled).map_or(0, |end_ns| end_ns.saturating_sub(1));
        *all.start()..=last_ns.max(*all.end())
    });
    (!times.is_empty()).then_some(times)
}

/// What samples are waits.
struct Waits<'s> {
    sampled: &'s SampledProfile,
    /// By group.
    causes: Vec<Option<StrId>>,
    have_begins: bool,
    /// Of each thread, when its last wait's sample was, and until when that lasted.
    lasted: HashMap<u32, (u64, u64)>,
}

impl<'s> Waits<'s> {
    fn of(sampled: &'s SampledProfile) -> Self {
        let causes = sampled.causes();
        let has_waits = causes.iter().any(Option::is_some);
        Self {
            sampled,
            causes,
            have_begins: sampled.waits_have_begins && has_waits,
            lasted: HashMap::default(),
        }
    }

    fn cause(&self, sample: &SampleRow) -> Option<StrId> {
        let node = self.sampled.stacks.nodes().get(sample.stack? as usize)?;
        self.causes.get(node.group as usize).copied().flatten()
    }
}

impl Waits<'_> {
    /// Since when and until when a sample lasts, if it is a wait whose begin is known; else a moment. Samples come in
    /// order.
    fn lasts(&mut self, sample: &SampleRow, cause: Option<StrId>) -> Range<u64> {
        if !self.have_begins || cause.is_none() {
            return sample.time_ns..sample.time_ns;
        }
        // A thread is blocked first, and waits for a CPU then: both are of one moment.
        let start_ns = match self.lasted.get(&sample.thread) {
            Some(&(time_ns, end_ns)) if time_ns == sample.time_ns => end_ns,
            _ => sample.time_ns,
        };
        let end_ns = start_ns.saturating_add(sample.weight);
        self.lasted.insert(sample.thread, (sample.time_ns, end_ns));
        start_ns..end_ns
    }
}

/// When the last wait ended, if it is known when waits began.
fn last_end_of_waits(sampled: &SampledProfile) -> Option<u64> {
    let mut waits = Waits::of(sampled);
    if !waits.have_begins {
        return None;
    }
    let ends = sampled.samples.iter().map(|sample| {
        let cause = waits.cause(&sample);
        waits.lasts(&sample, cause).end
    });
    ends.max()
}

impl ThreadLane {
    /// Adds what is no wait to the slots of all threads.
    fn add_running(&self, all: &mut [u64]) {
        for (slot, sum) in all.iter_mut().enumerate() {
            *sum = sum.saturating_add(self.running_at(slot));
        }
    }

    /// Adds a weight to the slots that it lasts for; all of it to the first, if it has no length.
    fn add(&mut self, slots: &Slots, lasts: &Range<u64>, weight: u64, cause: Option<StrId>) {
        let of_cause = cause.map(|cause| {
            let known = self.waits.iter().position(|(of, _)| *of == cause);
            known.unwrap_or_else(|| {
                self.waits.push((cause, vec![0; self.slots.len()]));
                self.waits.len() - 1
            })
        });
        let mut count = |slot: usize, weight: u64| {
            let waits = of_cause.map(|nth| &mut self.waits[nth].1);
            let columns = waits.into_iter().chain([&mut self.slots]);
            columns.for_each(|column| column[slot] = column[slot].saturating_add(weight));
        };
        if lasts.is_empty() {
            count(slots.at(lasts.start), weight);
            return;
        }
        let first_ns = lasts.start.max(slots.start_ns);
        let last_ns = (lasts.end - 1).min(slots.last_ns);
        if first_ns > last_ns {
            return;
        }
        for slot in slots.at(first_ns)..=slots.at(last_ns) {
            let begin_ns = slots.begin_ns(slot);
            let end_ns = begin_ns.saturating_add(slots.slot_ns).min(last_ns + 1);
            count(slot, end_ns.saturating_sub(begin_ns.max(first_ns)));
        }
    }
}

/// A time, cut into slots of one length.
struct Slots {
    start_ns: u64,
    last_ns: u64,
    slot_ns: u64,
    last: usize,
}

impl Slots {
    fn new(times_ns: &RangeInclusive<u64>, n_slots: usize) -> Self {
        let n = u64::try_from(n_slots).unwrap_or(u64::MAX);
        Self {
            start_ns: *times_ns.start(),
            last_ns: *times_ns.end(),
            slot_ns: (times_ns.end() - times_ns.start()) / n + 1,
            last: n_slots - 1,
        }
    }

    /// When a slot begins.
    fn begin_ns(&self, slot: usize) -> u64 {
        let slot = u64::try_from(slot).unwrap_or(u64::MAX);
        let since = self.slot_ns.saturating_mul(slot);
        self.start_ns.saturating_add(since)
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
        assert_eq!(all.running, [1, 5, 2, 1]);
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

    #[test]
    fn a_thread_that_is_renamed_has_one_lane() {
        let mut sampled = testing::sampled(&[
            (100, "sh", "main", 1),
            (101, "other", "main", 1),
            (102, "cc1", "main", 5),
        ]);
        let (pid, tid) = (sampled.threads[0].pid, sampled.threads[0].tid);
        (sampled.threads[2].pid, sampled.threads[2].tid) = (pid, tid);
        let of_lanes = |sampled: &SampledProfile| -> Vec<(u32, u64)> {
            let all = lanes(sampled, &SampleSelection::default(), 3).unwrap();
            all.lanes
                .iter()
                .map(|lane| (lane.thread, lane.weight))
                .collect()
        };
        // Of several machines, perhaps.
        assert_eq!(of_lanes(&sampled), [(2, 5), (0, 1), (1, 1)]);
        sampled.profile.about.host = Some("host".to_owned());
        assert_eq!(of_lanes(&sampled), [(2, 6), (1, 1)]);
    }

    #[test]
    fn a_wait_is_in_all_slots_that_it_lasts_for() {
        let mut sampled = testing::sampled(&[
            (100, "a", "main;wait;[futex]", 25),
            (100, "a", "main;wait;[runnable]", 5),
            (135, "a", "main", 5),
            (139, "a", "main;wait;[pipe]", 1),
        ]);
        sampled.waits_have_begins = true;
        let of = |sampled: &SampledProfile, times_ns| {
            let selection = SampleSelection {
                times_ns,
                ..SampleSelection::default()
            };
            let all = lanes(sampled, &selection, 4).unwrap();
            let [lane] = &all.lanes[..] else {
                panic!("one thread, not {}", all.lanes.len());
            };
            let name = |cause| sampled.profile.strings.of(cause).into_raw().to_owned();
            let mostly = (0..4).map(|slot| lane.wait_at(slot).map(name));
            let mostly: Vec<_> = mostly.collect();
            (lane.slots.clone(), mostly, lane.weight)
        };
        let named = |names: [&str; 4]| {
            let names = names.map(|name| Some(name.to_owned()).filter(|name| !name.is_empty()));
            names.to_vec()
        };
        let (slots, mostly, weight) = of(&sampled, None);
        assert_eq!((slots, weight), (vec![10, 10, 10, 6], 36));
        assert_eq!(mostly, named(["futex", "futex", "futex", ""]));
        // It began before.
        let (slots, mostly, weight) = of(&sampled, Some(120..=139));
        assert_eq!((slots, weight), (vec![5, 5, 0, 6], 6));
        assert_eq!(mostly, named(["futex", "runnable", "", ""]));
        // The last one lasts on.
        let mut longer = testing::sampled(&[(0, "a", "main;wait;[pipe]", 39)]);
        longer.waits_have_begins = true;
        let (slots, _, _) = of(&longer, None);
        assert_eq!(slots, [10, 10, 10, 9]);
        // When these began is not known.
        sampled.waits_have_begins = false;
        let (slots, _, _) = of(&sampled, None);
        assert_eq!(slots, [30, 0, 0, 6]);
    }
}
