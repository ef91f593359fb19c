//! When each thread is on a critical path.

use crate::PathStep;
use foldhash::HashMap;
use std::ops::Range;

/// The times at which threads are on critical paths.
#[derive(Clone, Debug, Default)]
pub struct PathTimes {
    /// By thread, in order, apart from each other.
    threads: HashMap<i32, Vec<PathTime>>,
}

/// A time at which a thread is on as many paths.
#[derive(Clone, Debug, PartialEq, Eq)]
struct PathTime {
    range: Range<u64>,
    n_paths: u64,
}

impl PathTimes {
    /// Those of the steps of one path, or of several: then a thread may be on some of them at the same time.
    pub fn of(steps: &[PathStep]) -> Self {
        let mut edges: HashMap<i32, Vec<(u64, i64)>> = HashMap::default();
        for step in steps {
            let edges = edges.entry(step.tid).or_default();
            edges.extend([(step.start_ns, 1), (step.end_ns, -1)]);
        }
        let times = |mut edges: Vec<(u64, i64)>| {
            edges.sort_unstable();
            let mut times: Vec<PathTime> = Vec::new();
            let (mut n_paths, mut since_ns) = (0u64, 0);
            for (at_ns, change) in edges {
                if n_paths > 0 && at_ns > since_ns {
                    match times.last_mut() {
                        Some(last) if last.range.end == since_ns && last.n_paths == n_paths => {
                            last.range.end = at_ns;
                        }
                        _ => times.push(PathTime {
                            range: since_ns..at_ns,
                            n_paths,
                        }),
                    }
                }
                n_paths = n_paths.saturating_add_signed(change);
                since_ns = at_ns;
            }
            times
        };
        let threads = edges.into_iter().map(|(tid, edges)| (tid, times(edges)));
        Self {
            threads: threads.collect(),
        }
    }

    /// How much of a range a thread is on a path, nanoseconds; and the same counted once for each path.
    pub fn ns_in(&self, tid: i32, range: &Range<u64>) -> [u64; 2] {
        let times = self.of_thread(tid);
        let first = times.partition_point(|time| time.range.end <= range.start);
        let touched = times.get(first..).unwrap_or_default();
        let touched = touched
            .iter()
            .take_while(|time| time.range.start < range.end);
        let mut sums = [0u64; 2];
        for time in touched {
            let (start, end) = (
                time.range.start.max(range.start),
                time.range.end.min(range.end),
            );
            let ns = end.saturating_sub(start);
            let all_ns = ns.saturating_mul(time.n_paths);
            sums = [sums[0].saturating_add(ns), sums[1].saturating_add(all_ns)];
        }
        sums
    }

    /// Whether a thread is on a path up to a moment.
    pub fn has(&self, tid: i32, time_ns: u64) -> bool {
        let times = self.of_thread(tid);
        let first = times.partition_point(|time| time.range.end < time_ns);
        (times.get(first)).is_some_and(|time| time.range.start < time_ns)
    }

    fn of_thread(&self, tid: i32) -> &[PathTime] {
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
            assert_eq!(times.ns_in(7, &range), [of_7; 2], "{range:?}");
            assert_eq!(times.ns_in(8, &range), [of_8; 2], "{range:?}");
        }
        assert_eq!(times.ns_in(9, &(0..50)), [0; 2]);
        let at = [10, 11, 25, 26, 30, 31, 40, 41];
        let on = at.map(|time_ns| times.has(7, time_ns));
        assert_eq!(
            on,
            [false, true, true, false, false, true, true, false],
            "a sample stands for the time before it"
        );
    }

    #[test]
    fn a_thread_may_be_on_several_paths_at_once() {
        let step = |start_ns, end_ns| PathStep {
            tid: 7,
            start_ns,
            end_ns,
            activity: Activity::Running,
        };
        let times = PathTimes::of(&[step(10, 30), step(20, 40), step(20, 25), step(60, 70)]);
        assert_eq!(times.ns_in(7, &(0..100)), [40, 55]);
        assert_eq!(times.ns_in(7, &(22..26)), [4, 11]);
        assert!(times.has(7, 40) && !times.has(7, 41) && !times.has(7, 60));
    }
}
