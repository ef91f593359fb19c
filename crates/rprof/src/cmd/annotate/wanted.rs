//! Which functions are shown.

use rprof_analysis::FoundFunction;

/// Functions to show, in this order, each with its heat: its shares of all events together.
pub(super) struct Wanted {
    pub(super) functions: Vec<(FoundFunction, f64)>,
    /// No more are shown once those shown have this much.
    pub(super) heat: f64,
}

impl Wanted {
    /// Functions that are shown all of them.
    pub(super) fn all(functions: Vec<FoundFunction>) -> Self {
        Self {
            functions: functions.into_iter().map(|one| (one, 0.0)).collect(),
            heat: f64::INFINITY,
        }
    }
}
