//! Fifth phase: why the recording ended is known, and the command, if it still runs, is asked to end.

use super::closed::Closed;
use super::drained::Drained;
use super::limits::EndReason;
use super::recorder::Recorder;
use crate::error::Error;
use crate::interrupts::StopRequest;
use crate::note::Note;
use crate::output::flight_window::Fired;
use crate::output::trigger::Trigger;
use crate::settings::Summary;
use rprof_process::Child;
use rprof_targets::ControlLines;
use std::rc::Rc;
use std::time::Instant;

/// A recording that has just ended, or failed, after its file was created.
pub(crate) struct Stopped {
    pub(crate) recorder: Recorder,
    /// Samples were taken at some time.
    pub(crate) was_on: bool,
    /// Open until the file is complete: a controller that reads acknowledgements to their end knows that it is.
    pub(crate) control: Option<ControlLines>,
    pub(crate) trigger: Option<Trigger>,
    pub(crate) command: Option<Child>,
    pub(crate) ended: Result<EndReason, Error>,
}

impl Stopped {
    /// Drains the rest and closes the file, whatever happened before. Then waits for the command: the
    /// file must be complete even if the command takes its time to end.
    pub(crate) fn finish(mut self, note: &mut dyn FnMut(Note)) -> Result<Summary, Error> {
        let interrupts = Rc::clone(&self.recorder.interrupts);
        self.look_at_triggers(note);
        // Its events may be defined, too.
        drop(self.trigger.take());
        // As perf: what was started for the recording ends with it. A command whose recording
        // failed runs on.
        let is_to_end = self.ended.is_ok() || interrupts.stop_request() >= StopRequest::Now;
        if let (true, Some(command)) = (is_to_end, &self.command) {
            command.terminate();
        }
        // What is defined goes after all that is opened, and signals are held back until then.
        let _defined = self.recorder.defined.take();
        let reason = self.ended.as_ref().ok().copied();
        let summary = Drained::new(self.recorder, self.was_on, note).close(self.ended, note);
        drop(self.control);
        Closed {
            summary,
            reason,
            command: self.command,
            is_to_end,
            interrupts: Rc::clone(&interrupts),
        }
        .wait_for_command(note)
    }

    /// What came since the last look is a trigger of a flight recorder, too, and so is the end of a command that failed.
    fn look_at_triggers(&mut self, note: &mut dyn FnMut(Note)) {
        let Some(window) = &mut self.recorder.files.flight else {
            return;
        };
        let now = Instant::now();
        let interrupts = &self.recorder.interrupts;
        // It may have come with the signal that stopped the recording.
        if interrupts.take_snapshot_request() {
            window.fire(Fired::Now, now);
        }
        if let Some(trigger) = &mut self.trigger {
            if let Some(fired) = trigger.has_fired_at_end() {
                window.fire(fired, now);
            }
            let edges = trigger.n_lost_edges();
            if edges > 0 {
                note(Note::LostEdges { edges });
            }
        }
        // A command that the user stops, by Ctrl-C or with the recording, did not fail.
        let is_stopped = interrupts.stop_request() != StopRequest::None;
        let command = self.command.as_mut().filter(|_| !is_stopped);
        if let Some(Ok(Some(status))) = command.map(Child::try_wait)
            && !status.success()
        {
            window.note_failure(now);
        }
    }
}
