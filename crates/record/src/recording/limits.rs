//! What ends any recording, whatever is recorded: the user's signals, the time, the size of the file.

use super::grace_period::GracePeriod;
use super::recorder::Recorder;
use crate::interrupts::StopRequest;
use crate::note::Note;
use std::time::{Duration, Instant};

/// Why a recording is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EndReason {
    /// What was recorded has ended.
    Ended,
    /// The time is over, or the user has said so on the control pipe.
    Time,
    /// The file is as large as it may be.
    Size,
    /// The user wants an end.
    Interrupted,
}

/// Limits of a recording that has begun.
pub(crate) struct Limits {
    deadline: Option<Instant>,
    grace_period: GracePeriod,
}

impl Limits {
    /// The time counts from now on.
    pub(crate) fn new(duration: Option<Duration>) -> Self {
        Self {
            deadline: duration.and_then(|time| Instant::now().checked_add(time)),
            grace_period: GracePeriod::default(),
        }
    }

    /// How long it is until the time is over, if it ever is.
    pub(crate) fn time_left(&self, now: Instant) -> Option<Duration> {
        let deadline = self.deadline?;
        Some(deadline.saturating_duration_since(now))
    }

    /// Whether the time is over.
    pub(crate) fn is_time_over(&self) -> bool {
        self.time_left(Instant::now())
            .is_some_and(|left| left.is_zero())
    }

    /// Whether the user wants an end now. While the command may take its time to end, the user is told so.
    pub(crate) fn is_stopped(&mut self, request: StopRequest, note: &mut dyn FnMut(Note)) -> bool {
        match request {
            StopRequest::None => false,
            StopRequest::WithCommand => {
                if self.grace_period.is_over() {
                    note(Note::CommandHasSignal);
                }
                false
            }
            StopRequest::Now | StopRequest::GiveUp => true,
        }
    }

    /// Which limit is reached, told to the user.
    pub(crate) fn reached(
        &self,
        recorder: &Recorder,
        note: &mut dyn FnMut(Note),
    ) -> Option<EndReason> {
        if self.is_time_over() {
            note(Note::DurationOver);
            Some(EndReason::Time)
        } else if recorder.is_full() {
            note(Note::FileFull);
            Some(EndReason::Size)
        } else {
            None
        }
    }
}
