//! Which functions are shown.

use rprof_analysis::FoundFunction;

/// Functions to show, in this order, each with its heat: its shares of all events together.
pub(super) struct Wanted {
    pub(super) functions: Vec<(FoundFunction, f64)>,
    /// Stop once the shown functions have this much heat.
    pub(super) heat: f64,
}

impl Wanted {
    /// Functions that are all shown.
    pub(super) fn all(functions: Vec<FoundFunction>) -> Self {
        Self {
            functions: functions.into_iter().map(|one| (one, 0.0)).collect(),
            heat: f64::INFINITY,
        }
    }
}
