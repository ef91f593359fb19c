//! When each thread is on a critical path.

use crate::PathStep;
use foldhash::HashMap;
use std::ops::Range;

/// The times at which threads are on a critical path.
#[derive(Clone, Debug, Default)]
pub struct PathTimes {
    /// By thread, in order, apart from each other.
    threads: HashMap<i32, Vec<Range<u64>>>,
}

impl PathTimes {
    /// Those of a path, whose steps are in order of time.
    pub fn of(steps: &[PathStep]) -> Self {
        let mut threads: HashMap<i32, Vec<Range<u64>>> = HashMap::default();
        for step in steps {
            let times = threads.entry(step.tid).or_default();
            match times.last_mut() {
                Some(last) if last.end >= step.start_ns => last.end = step.end_ns.max(last.end),
                _ => times.push(step.start_ns..step.end_ns),
            }
        }
        Self { threads }
    }

    /// How much of a range a thread is on the path, nanoseconds.
    pub fn ns_in(&self, tid: i32, range: &Range<u64>) -> u64 {
        let times = self.of_thread(tid);
        let first = times.partition_point(|time| time.end <= range.start);
        let touched = times.get(first..).unwrap_or_default();
        let touched = touched.iter().take_while(|time| time.start < range.end);
        let overlaps = touched.map(|time| {
            let (start, end) = (time.start.max(range.start), time.end.min(range.end));
            end.saturating_sub(start)
        });
        overlaps.sum()
    }

    /// Whether a thread is on the path up to a moment.
    pub fn has(&self, tid: i32, time_ns: u64) -> bool {
        let times = self.of_thread(tid);
        let first = times.partition_point(|time| time.end < time_ns);
        times.get(first).is_some_and(|time| time.start < time_ns)
    }

    fn of_thread(&self, tid: i32) -> &[Range<u64>] {
        self.threads.get(&tid).map_or(&[], Vec::as_slice)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Activity;

    #[test]
    fn only_a_threads_own_steps_are_its_times() {
        let step = |tid, start_ns, end_ns| PathStep {
            tid,
            start_ns,
            end_ns,
            activity: Activity::Running,
        };
        let steps = [
            step(7, 10, 20),
            step(7, 20, 25),
            step(8, 25, 30),
            step(7, 30, 40),
        ];
        let times = PathTimes::of(&steps);
        for (range, of_7, of_8) in [
            (0..50, 25, 5),
            (0..10, 0, 0),
            (12..33, 16, 5),
            (25..30, 0, 5),
            (40..50, 0, 0),
            (20..20, 0, 0),
        ] {
            assert_eq!(times.ns_in(7, &range), of_7, "{range:?}");
            assert_eq!(times.ns_in(8, &range), of_8, "{range:?}");
        }
        assert_eq!(times.ns_in(9, &(0..50)), 0);
        let at = [10, 11, 25, 26, 30, 31, 40, 41];
        let on = at.map(|time_ns| times.has(7, time_ns));
        assert_eq!(
            on,
            [false, true, true, false, false, true, true, false],
            "a sample stands for the time before it"
        );
    }
}
