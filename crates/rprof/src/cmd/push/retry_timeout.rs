//! How long a message is tried, and when nothing else is: a server that takes no message at all is out; one that takes
//! others has something against this one.

use std::time::{Duration, Instant};

/// How long a message is tried if nothing else is said.
const USUAL: Duration = Duration::from_secs(60);

/// The longest time for which a message is tried, before another recording's is.
const LONGEST: Duration = Duration::from_secs(3600);

/// What happened to the last messages.
#[derive(Debug)]
pub(super) struct RetryTimeout {
    /// After so long without a message that was delivered, nothing else is tried. `None` waits for ever.
    give_up_after: Option<Duration>,
    is_following: bool,
    /// Messages that could not be delivered, one after the other.
    n_failed: u32,
    /// When the first of them was sent first.
    since: Instant,
    /// Until when the server wants nothing (`Retry-After`).
    quiet_until: Option<Instant>,
}

impl RetryTimeout {
    /// Without `--give-up-after`, only a command that follows directories waits for ever.
    pub(super) fn new(give_up_after: Option<Duration>, is_following: bool) -> Self {
        let usual = (!is_following).then_some(USUAL);
        Self {
            give_up_after: give_up_after.or(usual),
            is_following,
            n_failed: 0,
            since: Instant::now(),
            quiet_until: None,
        }
    }

    /// How long the server still wants nothing.
    pub(super) fn quiet(&mut self) -> Option<Duration> {
        let until = self.quiet_until.take()?;
        until.checked_duration_since(Instant::now())
    }

    /// How long the next message is tried. After the first one that could not be delivered, one try of another says
    /// whether the server takes any; if not, each is tried longer, as reading recordings again takes time.
    pub(super) fn of_next(&mut self) -> Duration {
        if self.n_failed == 0 {
            self.since = Instant::now();
        }
        let long = match self.n_failed {
            0 => USUAL,
            1 => return Duration::ZERO,
            n => (USUAL * 2u32.saturating_pow(n.min(8))).min(LONGEST),
        };
        match self.give_up_after {
            // All of the time is the first one's.
            Some(end) => end.saturating_sub(self.since.elapsed()),
            None => long,
        }
    }

    /// A message could not be delivered; for so long, the server wants no other either.
    pub(super) fn failed(&mut self, quiet: Option<Duration>) {
        self.n_failed = self.n_failed.saturating_add(1);
        self.quiet_until = quiet.map(|quiet| Instant::now() + quiet);
    }

    /// A message was delivered, or refused: the server answers. Whether it had taken no other message either.
    pub(super) fn answered(&mut self) -> bool {
        std::mem::take(&mut self.n_failed) > 1
    }

    /// Only the last message could not be delivered: another one says whether that is the server's.
    pub(super) fn is_one(&self) -> bool {
        self.n_failed == 1
    }

    /// The server takes nothing.
    pub(super) fn is_server_out(&self) -> bool {
        self.n_failed > 0
    }

    /// Nothing else is to be tried.
    pub(super) fn is_over(&self) -> bool {
        let is_late = |end| !self.is_following || self.since.elapsed() >= end;
        self.n_failed > 1 && self.give_up_after.is_some_and(is_late)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_message_that_fails_is_put_off_and_a_server_that_is_out_is_waited_for() {
        let mut timeout = RetryTimeout::new(None, true);
        let mut tried = Vec::new();
        for _ in 0..9 {
            tried.push(timeout.of_next().as_secs());
            timeout.failed(None);
        }
        assert_eq!(tried, [60, 0, 240, 480, 960, 1920, 3600, 3600, 3600]);
        assert!(!timeout.is_over());
        assert!(timeout.answered());
        assert_eq!(timeout.of_next(), USUAL);
        timeout.failed(None);
        assert!(!timeout.answered());
    }

    #[test]
    fn a_server_that_wants_nothing_gets_nothing() {
        let mut timeout = RetryTimeout::new(None, true);
        assert_eq!(timeout.quiet(), None);
        timeout.failed(Some(Duration::from_secs(200)));
        let quiet = timeout.quiet().unwrap();
        assert!(quiet > Duration::from_secs(100), "{quiet:?}");
        timeout.failed(Some(Duration::ZERO));
        assert!(timeout.quiet().is_none_or(|quiet| quiet.is_zero()));
    }

    #[test]
    fn without_follow_a_second_message_that_fails_is_the_last() {
        let mut timeout = RetryTimeout::new(Some(Duration::ZERO), false);
        assert_eq!(timeout.of_next(), Duration::ZERO);
        timeout.failed(None);
        assert!(!timeout.is_over() && timeout.is_server_out());
        assert_eq!(timeout.of_next(), Duration::ZERO);
        timeout.failed(None);
        assert!(timeout.is_over());
    }
}
