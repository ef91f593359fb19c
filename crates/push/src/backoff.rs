//! How long to wait before the next try.

use std::hash::{BuildHasher, RandomState};
use std::time::Duration;

/// Waits that double, each with a random part: many machines whose server comes back must not come at once.
#[derive(Debug)]
pub(crate) struct Backoff {
    next: Duration,
    random: RandomState,
    n_waits: u64,
}

impl Backoff {
    const FIRST: Duration = Duration::from_millis(250);
    const LONGEST: Duration = Duration::from_secs(60);

    pub(crate) fn new() -> Self {
        Self {
            next: Self::FIRST,
            random: RandomState::new(),
            n_waits: 0,
        }
    }

    /// The next wait: between half of what it may be and all of it. What the server asks for is the least, and up to a
    /// quarter more: it may have asked many at once.
    pub(crate) fn next(&mut self, asked: Option<Duration>) -> Duration {
        let longest = self.next;
        self.next = (longest * 2).min(Self::LONGEST);
        self.n_waits += 1;
        let share = u32::try_from(self.random.hash_one(self.n_waits) % 1000).unwrap_or(0);
        let half = longest / 2;
        let wait = half + half * share / 1000;
        let asked = asked.unwrap_or_default();
        wait.max(asked + asked * share / 4000)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_double_up_to_a_minute() {
        let mut backoff = Backoff::new();
        let mut longest = Backoff::FIRST;
        for _ in 0..20 {
            let wait = backoff.next(None);
            assert!(longest / 2 <= wait && wait <= longest, "{wait:?}");
            longest = (longest * 2).min(Backoff::LONGEST);
        }
        let asked = Duration::from_secs(100);
        let wait = backoff.next(Some(asked));
        assert!(asked <= wait && wait <= asked * 5 / 4, "{wait:?}");
        assert!(backoff.next(Some(Duration::ZERO)) >= Duration::from_secs(30));
    }
}
