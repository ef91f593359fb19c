//! How long deep stacks may be read: the recorder must not take the time from what is recorded.

/// Time that was spent in a period.
#[derive(Debug, Default)]
pub(super) struct TimeBudget {
    since_ns: u64,
    spent_ns: u64,
}

/// The most that is spent in each period.
const MOST_NS: u64 = 10_000_000;
const PERIOD_NS: u64 = 100_000_000;

impl TimeBudget {
    /// Whether some is left.
    pub(super) fn has_some(&mut self, now_ns: u64) -> bool {
        if now_ns >= self.since_ns + PERIOD_NS {
            (self.since_ns, self.spent_ns) = (now_ns, 0);
        }
        self.spent_ns < MOST_NS
    }

    pub(super) fn spend(&mut self, time_ns: u64) {
        self.spent_ns += time_ns;
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
}
