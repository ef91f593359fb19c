//! How long deep stacks may be read: the recorder must not take the time from what is recorded.

/// Time that was spent, less what the periods since have earned.
#[derive(Debug, Default)]
pub(super) struct TimeBudget {
    since_ns: u64,
    spent_ns: u64,
}

/// What each period earns. It is not saved up; whoever spent more at once waits until it is earned.
const MOST_NS: u64 = 10_000_000;
const PERIOD_NS: u64 = 100_000_000;

impl TimeBudget {
    /// Whether some is left.
    pub(super) fn has_some(&mut self, now_ns: u64) -> bool {
        let periods = now_ns.saturating_sub(self.since_ns) / PERIOD_NS;
        self.since_ns += periods * PERIOD_NS;
        self.spent_ns = self
            .spent_ns
            .saturating_sub(periods.saturating_mul(MOST_NS));
        self.spent_ns < MOST_NS
    }

    pub(super) fn spend(&mut self, time_ns: u64) {
        self.spent_ns = self.spent_ns.saturating_add(time_ns);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_budget_is_spent_and_renewed() {
        let mut budget = TimeBudget::default();
        assert!(budget.has_some(PERIOD_NS));
        budget.spend(MOST_NS - 1);
        assert!(budget.has_some(PERIOD_NS + 1));
        budget.spend(1);
        assert!(!budget.has_some(2 * PERIOD_NS - 1));
        assert!(budget.has_some(2 * PERIOD_NS));
    }

    #[test]
    fn no_more_than_the_share_is_spent_even_if_each_reading_takes_longer_than_a_period() {
        const READING_NS: u64 = 11 * MOST_NS;
        const END_NS: u64 = 1000 * PERIOD_NS;
        let mut budget = TimeBudget::default();
        let (mut now_ns, mut spent_ns) = (PERIOD_NS, 0);
        while now_ns < END_NS {
            if budget.has_some(now_ns) {
                budget.spend(READING_NS);
                spent_ns += READING_NS;
                now_ns += READING_NS;
            } else {
                now_ns += MOST_NS;
            }
        }
        let share_ns = END_NS / PERIOD_NS * MOST_NS;
        let about = share_ns - 2 * READING_NS..=share_ns + READING_NS;
        assert!(about.contains(&spent_ns), "{spent_ns} {share_ns}");
    }
}
