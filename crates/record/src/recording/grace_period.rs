//! How long a command may take to end.

use std::time::{Duration, Instant};

/// After this the user is told, or the command is killed.
const GRACE_PERIOD: Duration = Duration::from_secs(1);

/// Reports once that [`GRACE_PERIOD`] has passed.
#[derive(Debug, Default)]
pub(super) struct GracePeriod {
    since: Option<Instant>,
    is_told: bool,
}

impl GracePeriod {
    /// Whether it is over just now, counted from the first time of asking.
    pub(super) fn is_over(&mut self) -> bool {
        let since = *self.since.get_or_insert_with(Instant::now);
        let is_over = !self.is_told && since.elapsed() >= GRACE_PERIOD;
        self.is_told |= is_over;
        is_over
    }
}
