//! Last phase: the file is complete, or failed. The command may still run.

use super::grace_period::GracePeriod;
use super::limits::EndReason;
use crate::error::Error;
use crate::interrupts::{Interrupts, StopRequest};
use crate::note::Note;
use crate::settings::Summary;
use rprof_process::Child;
use rprof_ringbuf::Poller;
use std::process::ExitStatus;
use std::rc::Rc;
use std::time::Duration;

/// Signals end the wait for a command; a poll now and then does no harm.
const POLL_INTERVAL: Duration = Duration::from_millis(250);

/// A recording whose file is closed.
pub(super) struct Closed {
    pub(super) summary: Result<Summary, Error>,
    /// Why it ended; `None` if it failed.
    pub(super) reason: Option<EndReason>,
    pub(super) command: Option<Child>,
    /// The command was asked to end.
    pub(super) is_to_end: bool,
    pub(super) interrupts: Rc<Interrupts>,
}

impl Closed {
    /// Waits for the command to end; the result has its status.
    pub(super) fn wait_for_command(mut self, note: &mut dyn FnMut(Note)) -> Result<Summary, Error> {
        if let (Err(Error::Write { source, .. }), Some(_)) = (&self.summary, &self.command) {
            note(Note::WritingFailed(source.to_string()));
        }
        let stopped_by = self.interrupts.stopped_by();
        if self.is_to_end {
            self.interrupts.set_over();
        }
        let status = self.status(note);
        // If the time was over, or the file full, the recording succeeded, whatever became of the command.
        let is_by_us = matches!(self.reason, Some(EndReason::Time | EndReason::Size));
        let status = status.filter(|_| !is_by_us);
        match self.summary {
            Ok(summary) => Ok(Summary {
                status,
                ended_by: stopped_by.filter(|_| self.reason == Some(EndReason::Interrupted)),
                ..summary
            }),
            Err(Error::Write {
                source, size_bytes, ..
            }) => Err(Error::Write {
                source,
                size_bytes,
                status,
            }),
            Err(error) => Err(error),
        }
    }

    /// The end of the command. Each further signal makes the wait shorter: the command is asked to end, then killed.
    fn status(&mut self, note: &mut dyn FnMut(Note)) -> Option<ExitStatus> {
        let (command, interrupts) = (self.command.as_mut()?, &self.interrupts);
        let mut is_asked = self.is_to_end;
        let mut poller = Poller::default();
        poller.add(&**interrupts);
        let mut grace_period = GracePeriod::default();
        loop {
            if let Some(status) = command.try_wait().ok()? {
                return Some(status);
            }
            if !is_asked && interrupts.stop_request() >= StopRequest::Now {
                command.terminate();
                is_asked = true;
            }
            // After Ctrl-C twice, the command had its time.
            let is_over = is_asked && grace_period.is_over();
            let gives_up = interrupts.stop_request() == StopRequest::GiveUp;
            if gives_up || is_over && interrupts.has_waited_for_command() {
                command.kill();
            } else if is_over {
                note(Note::CommandEnds);
            }
            let waited = poller.wait(POLL_INTERVAL).map(Iterator::count);
            waited.ok()?;
        }
    }
}
