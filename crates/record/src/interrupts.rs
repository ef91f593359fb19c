//! What the user asks for by signals. Every loop and every wait of a recording asks here, so that none
//! ignores Ctrl-C.

use crate::error::Error;
use crossbeam_channel::{Receiver, RecvTimeoutError};
use rprof_ringbuf::Poller;
use rprof_ringbuf::sys::{Signal, Signals};
use std::cell::Cell;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::time::{Duration, Instant};

/// The end that the user asks for; each signal makes it more urgent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum StopRequest {
    /// No signal came.
    None,
    /// Ctrl-C came, and the command got it, too: it may take its time to end.
    WithCommand,
    /// Stop recording, and end the command.
    Now,
    /// Stop waiting for whatever it is.
    GiveUp,
}

/// Who got a signal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum HeardBy {
    /// The terminal sent it to the command, too.
    CommandToo,
    Recorder,
}

impl StopRequest {
    fn after(self, heard: HeardBy) -> Self {
        match (self, heard) {
            (Self::None, HeardBy::CommandToo) => Self::WithCommand,
            (Self::None | Self::WithCommand, _) => Self::Now,
            (Self::Now | Self::GiveUp, _) => Self::GiveUp,
        }
    }
}

/// Why the writer thread is not waited for any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WriterStalled {
    /// Its own error says more.
    Gone,
    /// The user wants an end, and the output has taken nothing for [`STALL_TIMEOUT`].
    Stuck,
    /// The user asked once more for an end, while stacks were unwound.
    GivenUp,
    /// The user wants an end, and not one record was unwound for [`STEP_TIMEOUT`]: a file that is read for it does not
    /// answer.
    NoProgress,
}

/// How far the thread is that is waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Progress {
    /// Changes with every step.
    pub(crate) steps: u64,
    pub(crate) at: Step,
}

/// What it does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// It waits for the output, which may be a disk, or a pipe that nobody reads.
    Writing,
    /// It computes, and comes to an end.
    Unwinding,
}

impl Progress {
    /// Of what writes only.
    pub(crate) fn writing(steps: u64) -> Self {
        let at = Step::Writing;
        Self { steps, at }
    }
}

impl From<WriterStalled> for Error {
    fn from(stalled: WriterStalled) -> Self {
        match stalled {
            WriterStalled::Gone => Self::WriterGone,
            WriterStalled::Stuck => Self::Stuck,
            WriterStalled::GivenUp => Self::GivenUp,
            WriterStalled::NoProgress => Self::NoProgress,
        }
    }
}

/// How long a disk, or the reader of a pipe, may do nothing once the user wants an end.
const STALL_TIMEOUT: Duration = Duration::from_secs(2);

/// How long one step of unwinding may take once the user wants an end: reading a large file is one.
const STEP_TIMEOUT: Duration = Duration::from_secs(60);

/// How often waits that no signal ends ask whether one came.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// Signals that came since the recording began.
#[derive(Debug)]
pub(crate) struct Interrupts {
    signals: Signals,
    request: Cell<StopRequest>,
    /// The last signal that asked for an end.
    stopped_by: Cell<Option<i32>>,
    has_command: Cell<bool>,
    has_waited: Cell<bool>,
    stalled: Cell<Option<WriterStalled>>,
    wants_snapshot: Cell<bool>,
}

impl Interrupts {
    /// From now on these signals are heard here; they must be blocked before any thread is started.
    pub(crate) fn listen(signals: io::Result<Signals>) -> Result<Self, Error> {
        Ok(Self {
            signals: signals.map_err(Error::system("blocking signals"))?,
            request: Cell::new(StopRequest::None),
            stopped_by: Cell::new(None),
            has_command: Cell::new(false),
            has_waited: Cell::new(false),
            stalled: Cell::new(None),
            wants_snapshot: Cell::new(false),
        })
    }

    /// A command runs from now on that gets the terminal's signals, too.
    pub(crate) fn command_begins(&self) {
        self.has_command.set(true);
    }

    /// The command has ended.
    pub(crate) fn command_ended(&self) {
        self.has_command.set(false);
    }

    /// What the user wants by now.
    pub(crate) fn stop_request(&self) -> StopRequest {
        while let Some(signal) = self.signals.next() {
            if signal == Signal::Snapshot {
                self.wants_snapshot.set(true);
            }
            if let Signal::Stop {
                number,
                is_from_terminal,
            } = signal
            {
                self.stopped_by.set(Some(number));
                let heard = if is_from_terminal && self.has_command.get() {
                    HeardBy::CommandToo
                } else {
                    HeardBy::Recorder
                };
                let request = self.request.get().after(heard);
                self.request.set(request);
                let waits = request == StopRequest::WithCommand;
                self.has_waited.set(self.has_waited.get() || waits);
            }
        }
        self.request.get()
    }

    /// The last signal that asked for an end.
    pub(crate) fn stopped_by(&self) -> Option<i32> {
        self.stopped_by.get()
    }

    /// What was recorded until now is wanted.
    pub(crate) fn request_snapshot(&self) {
        self.wants_snapshot.set(true);
    }

    /// Whether what was recorded until now is wanted (SIGUSR2), since this was last asked.
    pub(crate) fn take_snapshot_request(&self) -> bool {
        self.stop_request();
        self.wants_snapshot.take()
    }

    /// The recording is over: what comes now is to end the command.
    pub(crate) fn set_over(&self) {
        let request = self.stop_request().max(StopRequest::Now);
        self.request.set(request);
        self.command_ended();
    }

    /// Whether the command was left to end by itself at first.
    pub(crate) fn has_waited_for_command(&self) -> bool {
        self.has_waited.get()
    }

    /// An error if the user wants an end before the recording has begun.
    pub(crate) fn check(&self) -> Result<(), Error> {
        match self.stop_request() {
            StopRequest::None => Ok(()),
            _ => Err(Error::Interrupted),
        }
    }

    /// Waits until a descriptor can be read, or hangs up. An error if the user no longer wants to wait.
    pub(crate) fn wait_for(&self, fd: BorrowedFd<'_>) -> Result<(), Error> {
        let mut poller = Poller::default();
        poller.add(&fd);
        poller.add(self);
        loop {
            let mut ready = poller
                .wait(Duration::MAX)
                .map_err(Error::system("waiting for the command"))?;
            if ready.any(|ready| ready.index == 0) {
                return Ok(());
            }
            if self.stop_request() >= StopRequest::Now {
                return Err(Error::Interrupted);
            }
        }
    }

    /// Waits for what another thread sends. Once the user wants an end, it waits only while something moves
    /// there, or is computed. After nothing moved once, it does not wait again.
    pub(crate) fn receive<T>(
        &self,
        from: &Receiver<T>,
        progress: impl Fn() -> Progress,
    ) -> Result<T, WriterStalled> {
        let mut last = (progress(), Instant::now());
        loop {
            match from.recv_timeout(POLL_INTERVAL) {
                Ok(sent) => return Ok(sent),
                Err(RecvTimeoutError::Disconnected) => return Err(WriterStalled::Gone),
                Err(RecvTimeoutError::Timeout) => {}
            }
            let (now, request) = (progress(), self.stop_request());
            if now != last.0 || request < StopRequest::Now {
                last = (now, Instant::now());
            }
            let stalled = why_stalled(now.at, request, last.1.elapsed());
            let stalled = self.stalled.get().or(stalled);
            self.stalled.set(stalled);
            if let Some(stalled) = stalled {
                return Err(stalled);
            }
        }
    }
}

/// Whether a thread that does this, and nothing else for so long, is not waited for any more, and why.
fn why_stalled(at: Step, request: StopRequest, since: Duration) -> Option<WriterStalled> {
    match at {
        Step::Writing if request == StopRequest::GiveUp || since >= STALL_TIMEOUT => {
            Some(WriterStalled::Stuck)
        }
        Step::Unwinding if request == StopRequest::GiveUp => Some(WriterStalled::GivenUp),
        Step::Unwinding if since >= STEP_TIMEOUT => Some(WriterStalled::NoProgress),
        Step::Writing | Step::Unwinding => None,
    }
}

impl AsFd for Interrupts {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.signals.as_fd()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_an_output_that_takes_nothing_is_given_up_by_itself() {
        let (long, below) = (STEP_TIMEOUT, STEP_TIMEOUT.mul_f64(0.9));
        let (stop, give_up) = (StopRequest::Now, StopRequest::GiveUp);
        assert_eq!(why_stalled(Step::Writing, stop, Duration::ZERO), None);
        assert_eq!(
            why_stalled(Step::Writing, stop, long),
            Some(WriterStalled::Stuck)
        );
        assert_eq!(why_stalled(Step::Unwinding, stop, below), None);
        // A file system that does not answer.
        let no_progress = Some(WriterStalled::NoProgress);
        assert_eq!(why_stalled(Step::Unwinding, stop, long), no_progress);
        let now = Duration::ZERO;
        assert_eq!(
            why_stalled(Step::Writing, give_up, now),
            Some(WriterStalled::Stuck)
        );
        assert_eq!(
            why_stalled(Step::Unwinding, give_up, now),
            Some(WriterStalled::GivenUp)
        );
    }

    #[test]
    fn each_signal_asks_for_more() {
        let (too, alone) = (HeardBy::CommandToo, HeardBy::Recorder);
        let after = |signals: &[HeardBy]| {
            signals
                .iter()
                .fold(StopRequest::None, |w, &heard| w.after(heard))
        };
        assert_eq!(after(&[]), StopRequest::None);
        assert_eq!(after(&[too]), StopRequest::WithCommand);
        assert_eq!(after(&[too, too]), StopRequest::Now);
        assert_eq!(after(&[too, alone]), StopRequest::Now);
        assert_eq!(after(&[alone]), StopRequest::Now);
        assert_eq!(after(&[alone, alone]), StopRequest::GiveUp);
        assert_eq!(after(&[too, too, too]), StopRequest::GiveUp);
    }
}
