//! How much of each stack is copied. The size is fixed when an event is opened, so there are two
//! sets of events, one for stacks of most programs and one for the deepest that can be copied;
//! one of them is on, for everybody.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// What the unwinder has seen; told to the thread that switches.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    /// Stacks that ended with their copy.
    pub(crate) cut: AtomicU64,
    /// Stacks that needed more than a shallow copy.
    pub(crate) deep: AtomicU64,
    /// Images whose unwind tables were read.
    pub(crate) images: AtomicU64,
}

/// Which set is on, and why.
#[derive(Debug)]
pub(crate) struct Depth {
    is_deep: bool,
    since: Instant,
    /// How long stacks must be shallow before copies are.
    hold: Duration,
    cut: u64,
    deep: u64,
    /// When stacks were last cut although copies are deep.
    cut_at: Option<Instant>,
}

/// Stacks are taken to be cut so long after the last one was.
const CUTTING: Duration = Duration::from_millis(100);

/// Starting deep, a program is known by then.
const FIRST_HOLD: Duration = Duration::from_millis(500);

/// A program that goes deep again and again is copied deep all the time.
const LONGEST_HOLD: Duration = Duration::from_secs(64);

impl Depth {
    /// Deep, until stacks turn out to be shallow.
    pub(crate) fn new(now: Instant) -> Self {
        Self {
            is_deep: true,
            since: now,
            hold: FIRST_HOLD,
            cut: 0,
            deep: 0,
            cut_at: None,
        }
    }

    /// Whether copies are deep just now.
    pub(crate) fn is_deep(&self) -> bool {
        self.is_deep
    }

    /// Whether there are stacks just now that the deepest copies do not hold.
    pub(crate) fn is_cutting(&self, now: Instant) -> bool {
        let since = self.cut_at.map(|at| now.duration_since(at));
        since.is_some_and(|since| since < CUTTING)
    }

    /// Whether copies should be deep from now on, if that is a change.
    pub(crate) fn change(&mut self, now: Instant, seen: &Seen) -> Option<bool> {
        let cut = seen.cut.load(Ordering::Relaxed);
        let deep = seen.deep.load(Ordering::Relaxed);
        let (was_cut, was_deep) = (cut != self.cut, deep != self.deep);
        (self.cut, self.deep) = (cut, deep);
        if self.is_deep {
            if was_cut {
                self.cut_at = Some(now);
            }
            if was_deep || was_cut {
                self.since = now;
            }
            if now.duration_since(self.since) < self.hold {
                return None;
            }
        } else {
            if !was_cut {
                return None;
            }
            self.hold = (self.hold * 2).min(LONGEST_HOLD);
        }
        self.is_deep = !self.is_deep;
        self.since = now;
        Some(self.is_deep)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_are_deep_until_stacks_are_shallow_and_again_when_one_is_cut() {
        let start = Instant::now();
        let at = |millis| start + Duration::from_millis(millis);
        let (mut depth, seen) = (Depth::new(start), Seen::default());
        seen.deep.store(1, Ordering::Relaxed);
        assert_eq!(depth.change(at(400), &seen), None);
        assert_eq!(depth.change(at(800), &seen), None);
        assert_eq!(depth.change(at(900), &seen), Some(false));
        assert_eq!(depth.change(at(5000), &seen), None);
        seen.cut.store(1, Ordering::Relaxed);
        assert_eq!(depth.change(at(5100), &seen), Some(true));
        // It is not trusted as fast as at first.
        assert_eq!(depth.change(at(5700), &seen), None);
        assert_eq!(depth.change(at(6200), &seen), Some(false));
    }
}
