//! When samples are taken: always, after a delay, in spans of time, or when it is told.

use rprof_targets::ControlPipes;
use std::ops::Range;
use std::time::Duration;

/// When samples are taken.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct When {
    /// By time.
    pub delay: Delay,
    /// By words that are written to a pipe.
    pub control: Option<ControlPipes>,
}

/// From when on samples are taken.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Delay {
    /// From the start.
    #[default]
    None,
    /// After this time.
    Time(Duration),
    /// Once it is told.
    UntilTold,
    /// In these spans, in order; the recording ends with the last.
    Spans(Vec<Range<Duration>>),
}

impl When {
    /// Whether samples are taken from the start.
    pub(crate) fn is_from_start(&self) -> bool {
        self.delay == Delay::None
    }

    /// Whether samples are taken from the start to the end.
    pub(crate) fn is_always(&self) -> bool {
        self.is_from_start() && self.control.is_none()
    }
}
