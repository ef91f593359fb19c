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
    /// The trigger fired after this moment.
    fired_ns: u64,
    n_windows: u64,
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
    pub(crate) fn fire(&mut self, now: Instant) {
        if self.due.is_none() {
            self.due = Some(now + self.plan.around);
            [self.fired_ns, _] = self.looks_ns;
            self.n_windows += 1;
        }
    }

    /// Takes whether a trigger has fired; returns whether it is time to write.
    pub(crate) fn is_due(&mut self, has_fired: bool, now: Instant) -> bool {
        if has_fired {
            self.fire(now);
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

    /// The command has failed.
    pub(crate) fn note_failure(&mut self, now: Instant) {
        if self.plan.on_failure {
            self.fire(now);
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
        assert!(!window.is_due(false, at(0)) && window.due_in(at(0)).is_none());
        assert!(!window.is_due(true, at(1)));
        assert_eq!(window.due_in(at(2)), Some(Duration::from_secs(1)));
        let since_ns = window.kept().since_ns + 2_000_000_000;
        assert!((before_ns..Clock::Monotonic.now_ns()).contains(&since_ns));
        // The next one is of the same window.
        assert!(!window.is_due(true, at(2)) && window.is_open());
        assert!(window.is_due(false, at(3)));
        assert!(!window.is_due(false, at(9)) && !window.is_open());
        assert_eq!(window.n_windows(), 1);
        window.note_failure(at(9));
        assert!(window.is_open());
    }
}
