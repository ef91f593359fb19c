//! `--cpu-percent`: the CPU time that the recorder may take itself. If it takes more, it gives up something,
//! stacks before samples, and never takes it back.

use crate::settings::Rate;
use rprof_perfdata::feature::CpuBudget;
use rprof_ringbuf::sys::Clock;
use std::time::Duration;

/// What is given up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cut {
    /// Large dumps, and what is read beyond them.
    LargeDumps,
    /// Unwinding.
    Unwinding,
    /// Half of the samples: this many a second from now on.
    Samples(u64),
}

/// The time over which is measured. The first is not counted: tables are read, and what runs is described.
const WINDOW: Duration = Duration::from_millis(250);

/// A budget, and what was given up for it.
#[derive(Debug)]
pub(crate) struct Budget {
    began_ns: u64,
    /// CPU time and time when the window began; nothing before the first one is over.
    window: Option<(u64, u64)>,
    /// Left to give up, the first last.
    left: Vec<Cut>,
    pub(crate) cuts: CpuBudget,
}

impl Budget {
    /// A budget for a recording whose stacks are unwound like this, from now on.
    pub(crate) fn new(percent: u32, rate: Rate, has_auto_dumps: bool, unwinds: bool) -> Self {
        let mut left = Vec::new();
        // Periods were asked for, and are what samples stand for.
        if let Rate::Frequency(hz) = rate {
            let halves = (1..=u64::BITS).map(|n| hz.checked_shr(n).unwrap_or(0));
            left.extend(halves.take_while(|&hz| hz > 0).map(Cut::Samples));
            left.reverse();
        }
        left.extend(unwinds.then_some(Cut::Unwinding));
        left.extend(has_auto_dumps.then_some(Cut::LargeDumps));
        Self {
            began_ns: Clock::Monotonic.now_ns(),
            window: None,
            left,
            cuts: CpuBudget {
                percent: percent.into(),
                hz: match rate {
                    Rate::Frequency(hz) => hz,
                    Rate::Period(_) => 0,
                },
                ..CpuBudget::default()
            },
        }
    }

    /// What to give up at this moment: something, if a window has ended in which too much was taken.
    pub(crate) fn next_cut(&mut self, cpu_ns: u64, now_ns: u64) -> Option<Cut> {
        let (cpu_before, before) = match self.window {
            Some(window) => window,
            None => (u64::MAX, self.began_ns),
        };
        let passed_ns = u128::from(now_ns.saturating_sub(before));
        if passed_ns < WINDOW.as_nanos() {
            return None;
        }
        self.window = Some((cpu_ns, now_ns));
        let taken_ns = u128::from(cpu_ns.saturating_sub(cpu_before));
        let allowed_ns = passed_ns * u128::from(self.cuts.percent) / 100;
        if taken_ns <= allowed_ns {
            return None;
        }
        let cut = self.left.pop()?;
        let after_ns = now_ns.saturating_sub(self.began_ns).max(1);
        match cut {
            Cut::LargeDumps => self.cuts.small_dumps_after_ns = after_ns,
            Cut::Unwinding => self.cuts.not_unwound_after_ns = after_ns,
            Cut::Samples(hz) => {
                self.cuts.hz = hz;
                if self.cuts.rarer_after_ns == 0 {
                    self.cuts.rarer_after_ns = after_ns;
                }
            }
        }
        Some(cut)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is given up when windows end, by the percent of a CPU that each took.
    fn cuts<const N: usize>(budget: &mut Budget, taken: [u64; N]) -> [Option<Cut>; N] {
        let window_ns = u64::try_from(WINDOW.as_nanos()).unwrap();
        let (mut cpu_ns, mut now_ns) = (5, budget.began_ns);
        taken.map(|percent| {
            now_ns += window_ns;
            cpu_ns += window_ns * percent / 100;
            let cut = budget.next_cut(cpu_ns, now_ns);
            assert_eq!(budget.next_cut(cpu_ns + window_ns, now_ns + 1), None);
            cut
        })
    }

    #[test]
    fn stacks_are_given_up_before_samples() {
        let mut budget = Budget::new(10, Rate::Frequency(5), true, true);
        // The first window is not counted.
        let given_up = cuts(&mut budget, [50, 10, 11, 9, 50, 20, 20, 20]);
        let expected = [
            None,
            None,
            Some(Cut::LargeDumps),
            None,
            Some(Cut::Unwinding),
            Some(Cut::Samples(2)),
            Some(Cut::Samples(1)),
            None,
        ];
        assert_eq!(given_up, expected);
        let ms = |ms: u64| ms * 1_000_000;
        let expected = CpuBudget {
            percent: 10,
            small_dumps_after_ns: ms(750),
            not_unwound_after_ns: ms(1250),
            rarer_after_ns: ms(1500),
            hz: 1,
        };
        assert_eq!(budget.cuts, expected);
    }

    #[test]
    fn only_what_there_is_can_be_given_up() {
        let mut budget = Budget::new(1, Rate::Period(1), false, false);
        assert_eq!(cuts(&mut budget, [50, 50, 50]), [None; 3]);
        let mut budget = Budget::new(1, Rate::Period(1), false, true);
        let unwinding = Some(Cut::Unwinding);
        assert_eq!(cuts(&mut budget, [50, 50, 50]), [None, unwinding, None]);
    }
}
