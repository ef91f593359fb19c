//! Samples between events that switch them on and off.

/// Which events switch samples on and off, in order of time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EventSwitches {
    /// Samples count after this event only, by its whole name.
    pub on: Option<String>,
    /// They count no more after this one.
    pub off: Option<String>,
    /// Whether the samples that switch count, too.
    pub are_shown: bool,
}

impl EventSwitches {
    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.on.is_none() && self.off.is_none()
    }
}
