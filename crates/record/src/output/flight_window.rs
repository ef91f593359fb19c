//! When a flight recorder writes what its rings hold: some time after a trigger.

use crate::settings::FlightPlan;
use rprof_ringbuf::sys::Clock;
use std::time::{Duration, Instant};

/// The time around the last trigger.
#[derive(Clone, Debug)]
pub(crate) struct FlightWindow {
    plan: FlightPlan,
    /// Of samples.
    clock: Clock,
    /// When it is over.
    due: Option<Instant>,
    /// When the last two looks were, by the clock of samples: a trigger that is noticed now fired after the first.
    looks_ns: [u64; 2],
    /// The trigger fired then or later.
    fired_ns: u64,
    n_windows: u64,
}

/// When a trigger fired.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fired {
    Now,
    /// By the clock of samples: it was noticed later.
    At(u64),
}

/// What is written of overwritten rings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Kept {
    /// From then on.
    pub(crate) since_ns: u64,
    /// How long that was before the trigger; `None` where all is kept, whenever it was.
    pub(crate) before: Option<Duration>,
}

impl Kept {
    /// All that the rings hold.
    pub(crate) const ALL: Self = Self {
        since_ns: 0,
        before: None,
    };
}

impl FlightWindow {
    pub(crate) fn new(plan: FlightPlan, clock: Clock) -> Self {
        Self {
            plan,
            clock,
            due: None,
            looks_ns: [clock.now_ns(); 2],
            fired_ns: 0,
            n_windows: 0,
        }
    }

    /// A trigger has fired. Others until the window is written are of the same one.
    pub(crate) fn fire(&mut self, fired: Fired, now: Instant) {
        if self.due.is_none() {
            let now_ns = self.clock.now_ns();
            let [not_before_ns, _] = self.looks_ns;
            let since;
            (self.fired_ns, since) = match fired {
                Fired::Now => (not_before_ns, Duration::ZERO),
                Fired::At(ns) => {
                    let ns = ns.min(now_ns);
                    (ns, Duration::from_nanos(now_ns - ns))
                }
            };
            self.due = Some(now + self.plan.around.saturating_sub(since));
            self.n_windows += 1;
        }
    }

    /// Takes when a trigger has fired, if one has; returns whether it is time to write.
    pub(crate) fn is_due(&mut self, fired: Option<Fired>, now: Instant) -> bool {
        if let Some(fired) = fired {
            self.fire(fired, now);
        }
        let [_, last_ns] = self.looks_ns;
        self.looks_ns = [last_ns, self.clock.now_ns()];
        let is_due = self.due.is_some_and(|due| due <= now);
        if is_due {
            self.due = None;
        }
        is_due
    }

    /// How long it is until then, if a trigger has fired.
    pub(crate) fn due_in(&self, now: Instant) -> Option<Duration> {
        Some(self.due?.saturating_duration_since(now))
    }

    /// Whether a trigger has fired whose window is not written yet.
    pub(crate) fn is_open(&self) -> bool {
        self.due.is_some()
    }

    /// It ends now, before it is over.
    pub(crate) fn end(&mut self) {
        self.due = None;
    }

    /// The command has failed.
    pub(crate) fn note_failure(&mut self, now: Instant) {
        if self.plan.on_failure {
            self.fire(Fired::Now, now);
        }
    }

    /// What is written of the last window.
    pub(crate) fn kept(&self) -> Kept {
        let before = self.plan.around;
        let before_ns = u64::try_from(before.as_nanos()).unwrap_or(u64::MAX);
        Kept {
            since_ns: self.fired_ns.saturating_sub(before_ns),
            before: Some(before),
        }
    }

    /// Windows so far.
    pub(crate) fn n_windows(&self) -> u64 {
        self.n_windows
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rings_are_written_some_time_after_a_trigger() {
        let plan = FlightPlan {
            around: Duration::from_secs(2),
            on_failure: true,
            slow_spans: Vec::new(),
        };
        let before_ns = Clock::Monotonic.now_ns();
        let mut window = FlightWindow::new(plan, Clock::Monotonic);
        let start = Instant::now();
        let at = |seconds| start + Duration::from_secs(seconds);
        assert!(!window.is_due(None, at(0)) && window.due_in(at(0)).is_none());
        assert!(!window.is_due(Some(Fired::Now), at(1)));
        assert_eq!(window.due_in(at(2)), Some(Duration::from_secs(1)));
        let since_ns = window.kept().since_ns + 2_000_000_000;
        assert!((before_ns..Clock::Monotonic.now_ns()).contains(&since_ns));
        // The next one is of the same window.
        assert!(!window.is_due(Some(Fired::Now), at(2)) && window.is_open());
        assert!(window.is_due(None, at(3)));
        assert!(!window.is_due(None, at(9)) && !window.is_open());
        assert_eq!(window.n_windows(), 1);
        window.note_failure(at(9));
        assert!(window.is_open());
    }

    #[test]
    fn a_window_is_around_the_moment_that_was_noticed_late() {
        let plan = FlightPlan {
            around: Duration::from_secs(2),
            on_failure: false,
            slow_spans: Vec::new(),
        };
        let mut window = FlightWindow::new(plan, Clock::Monotonic);
        let now = Instant::now();
        let fired_ns = Clock::Monotonic.now_ns() - 500_000_000;
        window.fire(Fired::At(fired_ns), now);
        assert_eq!(window.kept().since_ns, fired_ns - 2_000_000_000);
        assert!(window.due_in(now).unwrap() <= Duration::from_millis(1500));
        // Longer ago than the window is long.
        window.end();
        assert!(window.is_due(Some(Fired::At(0)), now) && !window.is_open());
    }
}
