//! When something is due. Moments are computed from the start, never from the last one: nothing drifts.

use std::time::Duration;

/// What is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Due {
    /// Counting begins.
    Begin,
    /// Counts of an interval are written.
    Interval,
    /// The end.
    End,
}

/// The moments of one run, since it was started.
#[derive(Clone, Debug)]
pub(crate) struct Schedule {
    delay: Option<Duration>,
    interval: Option<Duration>,
    n_intervals: u32,
    most_intervals: Option<u32>,
    timeout: Option<Duration>,
    next_interval: Duration,
}

impl Schedule {
    pub(crate) fn new(
        delay: Option<Duration>,
        interval: Option<Duration>,
        most_intervals: Option<u32>,
        timeout: Option<Duration>,
    ) -> Self {
        Self {
            delay,
            interval,
            n_intervals: 0,
            most_intervals,
            timeout,
            next_interval: interval.unwrap_or_default(),
        }
    }

    /// The next moment; `None` if nothing will ever be due.
    pub(crate) fn next(&self) -> Option<Duration> {
        let interval = self.interval.map(|_| self.next_interval);
        [self.delay, interval, self.timeout]
            .into_iter()
            .flatten()
            .min()
    }

    /// What is due now, and is done with. Intervals that were missed are not made up for.
    pub(crate) fn due(&mut self, now: Duration) -> Option<Due> {
        if self.delay.is_some_and(|delay| delay <= now) {
            self.delay = None;
            return Some(Due::Begin);
        }
        if let Some(interval) = self.interval
            && self.next_interval <= now
        {
            self.n_intervals = self.n_intervals.saturating_add(1);
            if self.most_intervals == Some(self.n_intervals) {
                // The end writes what there is.
                self.interval = None;
                self.timeout = Some(now);
                return Some(Due::Interval);
            }
            let n_passed = now.as_nanos() / interval.as_nanos().max(1) + 1;
            let n_passed = u32::try_from(n_passed).unwrap_or(u32::MAX);
            self.next_interval = interval.saturating_mul(n_passed);
            return Some(Due::Interval);
        }
        if self.timeout.is_some_and(|timeout| timeout <= now) {
            self.timeout = None;
            return Some(Due::End);
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    #[test]
    fn an_hour_of_10_ms_does_not_drift() {
        let mut schedule = Schedule::new(None, Some(10 * MS), None, None);
        let mut now = Duration::ZERO;
        let mut n = 0u32;
        while now < Duration::from_secs(3600) {
            // A machine that is late by up to 9 ms, each time by another.
            now = schedule.next().unwrap() + MS * (n % 10);
            while schedule.due(now).is_some() {
                n += 1;
                assert_eq!(schedule.next().unwrap(), 10 * MS * (n + 1));
            }
        }
        assert_eq!(n, 360_000);
    }

    #[test]
    fn missed_intervals_are_one() {
        let mut schedule = Schedule::new(None, Some(10 * MS), None, None);
        assert_eq!(schedule.due(9 * MS), None);
        assert_eq!(schedule.due(57 * MS), Some(Due::Interval));
        assert_eq!(schedule.due(57 * MS), None);
        assert_eq!(schedule.next(), Some(60 * MS));
    }

    #[test]
    fn the_last_interval_is_the_end() {
        let mut schedule = Schedule::new(None, Some(10 * MS), Some(2), None);
        assert_eq!(schedule.due(10 * MS), Some(Due::Interval));
        assert_eq!(schedule.due(20 * MS), Some(Due::Interval));
        assert_eq!(schedule.due(20 * MS), Some(Due::End));
        assert_eq!(schedule.next(), None);
    }

    #[test]
    fn delays_and_ends_come_once() {
        let mut schedule = Schedule::new(Some(5 * MS), None, None, Some(7 * MS));
        assert_eq!(schedule.next(), Some(5 * MS));
        assert_eq!(schedule.due(8 * MS), Some(Due::Begin));
        assert_eq!(schedule.due(8 * MS), Some(Due::End));
        assert_eq!(schedule.due(8 * MS), None);
        assert_eq!(schedule.next(), None);
    }
}
