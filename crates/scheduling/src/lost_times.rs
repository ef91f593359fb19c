//! [`LostTimes`]: when records were lost, and what of threads' time that hides.

use crate::{Open, ThreadRun, Wait, WakeUp};
use foldhash::HashMap;
use std::ops::RangeInclusive;

/// When records were lost, nanoseconds: from the last record of a ring to where the kernel said that some are missing.
/// What a thread was seen to do from before such a time to after it, it may not have done all the while.
#[derive(Clone, Debug, Default)]
pub struct LostTimes {
    /// Of any ring: in order, apart from each other.
    all: Vec<RangeInclusive<u64>>,
    /// By CPU; those of rings of no CPU are in each.
    by_cpu: HashMap<u32, Vec<RangeInclusive<u64>>>,
    /// Of rings of no CPU.
    of_no_cpu: Vec<RangeInclusive<u64>>,
}

impl LostTimes {
    /// Of some rings, with the CPU of each.
    pub fn new(rings: impl IntoIterator<Item = (Option<u32>, Vec<RangeInclusive<u64>>)>) -> Self {
        let mut lost = Self::default();
        for (cpu, times) in rings {
            lost.all.extend_from_slice(&times);
            match cpu {
                Some(cpu) => lost.by_cpu.entry(cpu).or_default().extend(times),
                None => lost.of_no_cpu.extend(times),
            }
        }
        lost.all = joined(lost.all);
        lost.of_no_cpu = joined(lost.of_no_cpu);
        for times in lost.by_cpu.values_mut() {
            times.extend_from_slice(&lost.of_no_cpu);
            *times = joined(std::mem::take(times));
        }
        lost
    }

    /// Whether none were.
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// When the first records of any CPU were lost in a span of time: a thread without a CPU may have run on that one.
    pub fn first(&self, start_ns: u64, end_ns: u64) -> Option<u64> {
        first_in(&self.all, start_ns, end_ns)
    }

    /// The same of a CPU, or of any if it is not known: a thread on it may have left.
    pub fn first_on(&self, cpu: Option<u32>, start_ns: u64, end_ns: u64) -> Option<u64> {
        let times = match cpu {
            Some(cpu) => self.by_cpu.get(&cpu).unwrap_or(&self.of_no_cpu),
            None => &self.all,
        };
        first_in(times, start_ns, end_ns)
    }

    /// Takes back what lost records hide of a run, on a CPU if that is known, and of the wait before it. Returns how much
    /// that is, nanoseconds: of the wait, of the run.
    pub fn hide(&self, run: &mut ThreadRun, cpu: Option<u32>) -> [Option<u64>; 2] {
        let Some(start_ns) = run.start_ns else {
            return [None; 2];
        };
        let wait_ns = self.hide_wait((&mut run.wait, &mut run.woken), start_ns);
        run.is_wait_lost = wait_ns.is_some();
        run.is_lost = self.first_on(cpu, start_ns, run.end_ns).is_some();
        let run_ns = run.end_ns.saturating_sub(start_ns);
        [wait_ns, Some(run_ns).filter(|_| run.is_lost)]
    }

    /// The same of what a thread on a CPU, or on none, does at a moment.
    pub fn hide_open(&self, open: &mut Open, cpu: Option<u32>, end_ns: u64) -> [Option<u64>; 2] {
        let waits_until = open.start_ns.unwrap_or(end_ns);
        let wait_ns = self.hide_wait((&mut open.wait, &mut open.woken), waits_until);
        open.is_wait_lost = wait_ns.is_some();
        let Some(start_ns) = open.start_ns else {
            return [wait_ns, None];
        };
        open.is_lost = self.first_on(cpu, start_ns, end_ns).is_some();
        let run_ns = end_ns.saturating_sub(start_ns);
        [wait_ns, Some(run_ns).filter(|_| open.is_lost)]
    }

    fn hide_wait(
        &self,
        (wait, woken): (&mut Option<Wait>, &mut Option<WakeUp>),
        end_ns: u64,
    ) -> Option<u64> {
        let woken_ns = woken.map(|woken| woken.time_ns);
        let since_ns = wait.map(|wait| wait.start_ns).or(woken_ns)?;
        self.first(since_ns, end_ns)?;
        (*wait, *woken) = (None, None);
        Some(end_ns.saturating_sub(since_ns))
    }
}

fn first_in(times: &[RangeInclusive<u64>], start_ns: u64, end_ns: u64) -> Option<u64> {
    let at = times.partition_point(|lost| *lost.end() <= start_ns);
    let lost = times.get(at).filter(|lost| *lost.start() < end_ns)?;
    Some(start_ns.max(*lost.start()))
}

/// Ranges in order, apart from each other; those that end before they begin are none.
pub fn joined(mut ranges: Vec<RangeInclusive<u64>>) -> Vec<RangeInclusive<u64>> {
    ranges.retain(|range| !range.is_empty());
    ranges.sort_unstable_by_key(|range| *range.start());
    let mut all: Vec<RangeInclusive<u64>> = Vec::new();
    for range in ranges {
        match all.last_mut() {
            Some(last) if range.start() <= last.end() => {
                *last = *last.start()..=*range.end().max(last.end());
            }
            _ => all.push(range),
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{SwitchState, ThreadTotals, Waker};

    #[test]
    fn ranges_that_touch_are_one_and_reversed_ones_are_none() {
        let reversed = RangeInclusive::new(40, 30);
        let all = joined(vec![20..=22, reversed, 5..=7, 21..=25, 7..=8]);
        assert_eq!(all, [5..=8, 20..=25]);
    }

    /// On CPU 0 from 30 to 40, woken at 25 from a wait since 10.
    fn run() -> ThreadRun {
        let waker = Waker::Interrupt;
        ThreadRun {
            tid: 7,
            cpu: 0,
            start_ns: Some(30),
            end_ns: 40,
            state: SwitchState::Sleeping,
            wait: Some(Wait {
                start_ns: 10,
                state: SwitchState::Sleeping,
            }),
            woken: Some(WakeUp { time_ns: 25, waker }),
            is_lost: false,
            is_wait_lost: false,
        }
    }

    #[test]
    fn a_run_is_hidden_by_its_cpu_and_a_wait_by_any() {
        for (cpu, times, hidden) in [
            (Some(0), 31..=32, [None, Some(10)]),
            (Some(1), 31..=32, [None, None]),
            (None, 31..=32, [None, Some(10)]),
            (Some(1), 12..=12, [Some(20), None]),
            (Some(0), 29..=30, [Some(20), None]),
            (Some(0), 29..=31, [Some(20), Some(10)]),
            // What is seen at the ends of such a time is seen.
            (Some(0), 5..=10, [None, None]),
            (Some(0), 40..=50, [None, None]),
        ] {
            let mut run = run();
            let lost = LostTimes::new([(cpu, vec![times.clone()])]);
            assert_eq!(lost.hide(&mut run, Some(0)), hidden, "{cpu:?} {times:?}");
            let [wait_ns, run_ns] = hidden;
            assert_eq!(
                (run.is_wait_lost, run.is_lost),
                (wait_ns.is_some(), run_ns.is_some())
            );
            assert_eq!(
                (run.wait.is_some(), run.woken.is_some()),
                (wait_ns.is_none(), wait_ns.is_none())
            );
            // It is unknown, and all together the time that passed.
            let mut totals = ThreadTotals::default();
            totals.add(&ThreadRun {
                start_ns: Some(9),
                end_ns: 10,
                wait: None,
                woken: None,
                ..self::run()
            });
            totals.add(&run);
            let unknown = wait_ns.unwrap_or(0) + run_ns.unwrap_or(0);
            assert_eq!(
                (totals.wall_ns(), totals.unknown_ns()),
                (31, unknown),
                "{times:?}"
            );
        }
    }

    #[test]
    fn what_goes_on_may_be_over_if_records_are_lost() {
        let at = |start_ns, cpu, times: RangeInclusive<u64>| {
            let ThreadRun { wait, woken, .. } = run();
            let mut open = Open {
                start_ns,
                wait,
                woken,
                is_lost: false,
                is_wait_lost: false,
            };
            let lost = LostTimes::new([(Some(0), vec![times])]);
            let hidden = lost.hide_open(&mut open, cpu, 50);
            let [wait_ns, run_ns] = hidden;
            assert_eq!(
                (open.is_lost, open.is_wait_lost),
                (run_ns.is_some(), wait_ns.is_some())
            );
            assert_eq!(open.wait.is_some(), wait_ns.is_none());
            hidden
        };
        assert_eq!(at(Some(30), Some(0), 45..=u64::MAX), [None, Some(20)]);
        assert_eq!(at(Some(30), Some(1), 45..=u64::MAX), [None, None]);
        assert_eq!(at(Some(30), None, 45..=u64::MAX), [None, Some(20)]);
        assert_eq!(at(Some(30), Some(0), 20..=21), [Some(20), None]);
        assert_eq!(at(None, None, 45..=u64::MAX), [Some(40), None]);
        assert_eq!(at(None, None, 50..=u64::MAX), [None, None]);
    }
}
