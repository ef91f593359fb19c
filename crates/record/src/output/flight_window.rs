//! When a flight recorder writes what its rings hold: some time after something happened.

use crate::settings::FlightPlan;
use std::time::{Duration, Instant};

/// What is waited for.
#[derive(Clone, Debug)]
pub(crate) struct FlightWindow {
    plan: FlightPlan,
    /// When what was around the last moment is to be written.
    due: Option<Instant>,
    n_fired: u64,
}

impl FlightWindow {
    pub(crate) fn new(plan: FlightPlan) -> Self {
        Self {
            plan,
            due: None,
            n_fired: 0,
        }
    }

    /// Takes whether something has happened; returns whether it is time to write. What happens until then is in the
    /// same file.
    pub(crate) fn is_due(&mut self, has_happened: bool, now: Instant) -> bool {
        if has_happened && self.due.is_none() {
            self.due = Some(now + self.plan.around);
            self.n_fired += 1;
        }
        let is_due = self.due.is_some_and(|due| due <= now);
        if is_due {
            self.due = None;
        }
        is_due
    }

    /// How long it is until then, if something has happened.
    pub(crate) fn due_in(&self, now: Instant) -> Option<Duration> {
        Some(self.due?.saturating_duration_since(now))
    }

    /// The recording ends: returns whether what rings hold is to be written.
    pub(crate) fn keeps_rest(&self) -> bool {
        self.due.is_some()
    }

    /// The command has failed.
    pub(crate) fn note_failure(&mut self, now: Instant) {
        if self.plan.on_failure {
            self.is_due(true, now);
        }
    }

    /// How often something happened.
    pub(crate) fn n_fired(&self) -> u64 {
        self.n_fired
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rings_are_written_some_time_after_something_happened() {
        let mut window = FlightWindow::new(FlightPlan {
            around: Duration::from_secs(2),
            on_failure: true,
            slow_spans: Vec::new(),
        });
        let start = Instant::now();
        let at = |seconds| start + Duration::from_secs(seconds);
        assert!(!window.is_due(false, at(0)) && window.due_in(at(0)).is_none());
        assert!(!window.is_due(true, at(1)));
        assert_eq!(window.due_in(at(2)), Some(Duration::from_secs(1)));
        // The next one is in the same file.
        assert!(!window.is_due(true, at(2)) && window.keeps_rest());
        assert!(window.is_due(false, at(3)));
        assert!(!window.is_due(false, at(9)) && !window.keeps_rest());
        assert_eq!(window.n_fired(), 1);
        window.note_failure(at(9));
        assert!(window.keeps_rest());
    }
}
