//! A count, and how long it was counted.

/// What a counter says at one moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Reading {
    /// Events counted while it was on the PMU.
    pub count: u64,
    /// How long it was enabled, nanoseconds.
    pub enabled_ns: u64,
    /// How long of that it was on the PMU, nanoseconds: less where counters took turns.
    pub running_ns: u64,
}

impl Reading {
    /// The count as it would be, had it been on the PMU all the time that it was enabled; `None` if it never
    /// was on the PMU.
    ///
    /// Source: "quot = count / running" in `struct perf_event_mmap_page` of
    /// `include/uapi/linux/perf_event.h` (v6.12), without its overflows.
    pub fn scaled(&self) -> Option<u64> {
        if self.running_ns == self.enabled_ns {
            return (self.running_ns != 0).then_some(self.count);
        }
        let product = u128::from(self.count) * u128::from(self.enabled_ns);
        let scaled = product.checked_div(u128::from(self.running_ns))?;
        Some(u64::try_from(scaled).unwrap_or(u64::MAX))
    }

    /// What came since an earlier reading. What went back counts as nothing.
    #[must_use]
    pub fn since(&self, before: &Self) -> Self {
        Self {
            count: self.count.saturating_sub(before.count),
            enabled_ns: self.enabled_ns.saturating_sub(before.enabled_ns),
            running_ns: self.running_ns.saturating_sub(before.running_ns),
        }
    }

    /// Both together.
    #[must_use]
    pub fn plus(&self, other: &Self) -> Self {
        Self {
            count: self.count.saturating_add(other.count),
            enabled_ns: self.enabled_ns.saturating_add(other.enabled_ns),
            running_ns: self.running_ns.saturating_add(other.running_ns),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reading(count: u64, enabled_ns: u64, running_ns: u64) -> Reading {
        Reading {
            count,
            enabled_ns,
            running_ns,
        }
    }

    #[test]
    fn what_took_turns_is_scaled_as_the_kernels_header_says() {
        for (count, enabled, running) in [
            (1_000, 2_000, 1_000),
            (999, 1_000_000, 333_333),
            (123_456_789, 10_000_000_019, 3_333_333_333),
            (7, 3, 2),
            (0, 100, 1),
        ] {
            let (quot, rem) = (count / running, count % running);
            let expected = quot * enabled + (rem * enabled) / running;
            assert_eq!(reading(count, enabled, running).scaled(), Some(expected));
        }
    }

    #[test]
    fn what_was_always_on_is_as_it_is_and_what_never_was_is_nothing() {
        assert_eq!(reading(5, 10, 10).scaled(), Some(5));
        assert_eq!(reading(5, 10, 0).scaled(), None);
        assert_eq!(reading(0, 0, 0).scaled(), None);
        assert_eq!(reading(u64::MAX, u64::MAX, 1).scaled(), Some(u64::MAX));
        assert_eq!(reading(u64::MAX, 3, 2).scaled(), Some(u64::MAX));
    }

    #[test]
    fn differences_and_sums_are_of_all_three() {
        let (a, b) = (reading(10, 20, 30), reading(1, 2, 3));
        assert_eq!(a.since(&b), reading(9, 18, 27));
        assert_eq!(b.since(&a), Reading::default());
        assert_eq!(a.plus(&b), reading(11, 22, 33));
    }
}
