//! A safe way and a cheap one: the safe one at once if it is needed, the cheap one after a while without need.

use std::time::{Duration, Instant};

/// A way that always does, and one that costs less.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    Safe,
    Cheap,
}

/// What a pass asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Need {
    Safe,
    Cheap,
    /// The cheap way would do, but cannot begin now.
    Unchanged,
}

/// Goes the safe way at once, and the cheap one after a hold, which doubles each time.
#[derive(Debug)]
pub(crate) struct Hysteresis {
    way: Way,
    /// The last change, or when the safe way was last needed.
    since: Instant,
    hold: Duration,
}

/// What fails again and again is not tried more often than this.
const LONGEST_HOLD: Duration = Duration::from_secs(64);

impl Hysteresis {
    /// This way at first; the safe one for so long at least.
    pub(crate) fn new(way: Way, since: Instant, hold: Duration) -> Self {
        Self { way, since, hold }
    }

    /// The way from now on, by what is needed.
    pub(crate) fn next(&mut self, now: Instant, need: Need) -> Way {
        match (self.way, need) {
            (Way::Safe, Need::Safe) => self.since = now,
            (Way::Safe, Need::Cheap) if now.duration_since(self.since) >= self.hold => {
                (self.way, self.since) = (Way::Cheap, now);
            }
            (Way::Cheap, Need::Safe) => {
                self.hold = (self.hold * 2).min(LONGEST_HOLD);
                (self.way, self.since) = (Way::Safe, now);
            }
            _ => {}
        }
        self.way
    }

    /// The way that holds.
    pub(crate) fn way(&self) -> Way {
        self.way
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hold_does_not_double_for_ever() {
        let start = Instant::now();
        let mut hysteresis = Hysteresis::new(Way::Safe, start, Duration::from_millis(500));
        let mut now = start;
        for _ in 0..20 {
            now += LONGEST_HOLD;
            assert_eq!(hysteresis.next(now, Need::Cheap), Way::Cheap);
            assert_eq!(hysteresis.next(now, Need::Safe), Way::Safe);
        }
        assert_eq!(hysteresis.hold, LONGEST_HOLD);
    }
}
