//! Third and fourth phase: the file exists, then events are on.

use super::limits::{EndReason, Limits};
use super::recorder::Recorder;
use super::spawn::note_found;
use super::stopped::Stopped;
use super::toggling::{Continue, Toggling};
use super::wakeups::{Wakeups, Woken};
use crate::control::{Control, Decision, DumpSize, POLL_INTERVAL};
use crate::cpu_budget::Cut;
use crate::error::Error;
use crate::interrupts::StopRequest;
use crate::live::Unreadable;
use crate::note::{ControlNote, Note};
use crate::output::trigger::Trigger;
use crate::settings::Watch;
use crate::targets::described;
use rprof_process::{Child, Gated};
use std::os::fd::AsFd;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// A recording whose file exists, and whose events are off.
pub(super) struct Ready {
    pub(super) running: Running,
    /// The unwinder is told by it.
    pub(super) unreadable: Arc<Unreadable>,
    pub(super) gated: Option<Gated>,
    pub(super) waited_since: Option<Instant>,
}

impl Ready {
    /// Records until something ends it.
    pub(super) fn run(mut self, note: &mut dyn FnMut(Note)) -> Stopped {
        let started = self.start(note);
        let mut running = self.running;
        let ended = started.and_then(|command| {
            note_found(self.waited_since, note);
            running.command = command;
            running.until_ended(note)
        });
        Stopped {
            recorder: running.recorder,
            was_on: running.toggling.was_on,
            control: running.toggling.into_control(),
            trigger: running.trigger,
            command: running.command,
            ended,
        }
    }

    /// Sideband first, then what runs already, then samples: nothing falls between. Returns the command, which has
    /// begun.
    fn start(&mut self, note: &mut dyn FnMut(Note)) -> Result<Option<Child>, Error> {
        let enabling = "enabling events";
        let recorder = &mut self.running.recorder;
        let before_ns = recorder.settings.clock.now_ns();
        (recorder.opened.sideband)
            .enable(DumpSize::Large)
            .map_err(Error::system(enabling))?;
        if let Some(trigger) = &self.running.trigger {
            trigger.enable()?;
        }
        if recorder.settings.sideband.cgroups {
            recorder.describe_cgroups()?;
        }
        if let (Some(gated), true) = (&self.gated, recorder.settings.sideband.namespaces) {
            recorder.describe_namespaces(gated.pid())?;
        }
        recorder.describe_at_start(&self.unreadable, note)?;
        if !recorder.settings.when.is_from_start() {
            recorder.opened.hold();
            recorder.note_pauses(before_ns);
            let event = None;
            let toggled = ControlNote::Toggled {
                event,
                is_on: false,
            };
            note(toggled.into());
        } else if recorder.settings.watch != Watch::Command
            || recorder.drain.tracked.lineage.is_some()
        {
            (recorder.opened.sampling)
                .enable(recorder.opened.dump_size)
                .map_err(Error::system(enabling))?;
        } else {
            let enabled = recorder.opened.enable_wakings();
            enabled.map_err(Error::system(enabling))?;
        }
        if let Some(gated) = self.gated.take() {
            return self.start_command(gated).map(Some);
        }
        note(described::watching(&recorder.settings));
        Ok(None)
    }

    /// Executing a file may take its time, too.
    fn start_command(&mut self, mut gated: Gated) -> Result<Child, Error> {
        let interrupts = &self.running.recorder.interrupts;
        // From now on it gets the terminal's signals, too.
        interrupts.command_begins();
        gated.open();
        if let Err(error) = interrupts.wait_for(gated.as_fd()) {
            // Not the command yet, or only just.
            gated.kill();
            return Err(error);
        }
        Ok(gated.started()?)
    }
}

/// What a recording that is going on needs.
pub(super) struct Running {
    pub(super) recorder: Recorder,
    pub(super) control: Control,
    pub(super) toggling: Toggling,
    pub(super) trigger: Option<Trigger>,
    /// Once it has begun.
    pub(super) command: Option<Child>,
}

/// When rings are drained next, unless something happens before.
#[derive(Clone, Copy, Debug)]
struct NextPass {
    due: Instant,
    /// The longest time to wait. Poll counts milliseconds: what is a little less than one is none.
    wait: Duration,
    /// Although one of them wakes us, if enough of it is free.
    lets_rings_fill: bool,
}

impl NextPass {
    fn within(wait: Duration) -> Self {
        Self {
            due: Instant::now() + wait,
            wait,
            lets_rings_fill: false,
        }
    }

    /// The same after a wake-up, if it is not due by then.
    fn later(self) -> Option<Self> {
        let wait = self.due.saturating_duration_since(Instant::now());
        let is_due = wait < Duration::from_millis(1);
        (self.lets_rings_fill && !is_due).then_some(Self { wait, ..self })
    }
}

impl Running {
    /// Drains until the command, the time or the user ends it.
    fn until_ended(&mut self, note: &mut dyn FnMut(Note)) -> Result<EndReason, Error> {
        let Recorder {
            opened,
            interrupts,
            settings,
            ..
        } = &self.recorder;
        let mut limits = Limits::new(settings.duration);
        let mut wakeups = Wakeups::new(opened, interrupts);
        let triggers = self.trigger.iter().flat_map(Trigger::ring_owners);
        triggers.for_each(|owner| wakeups.add(owner));
        self.toggling.begin(&settings.when, &mut wakeups);
        let mut next_pass = NextPass::within(self.control.calm_interval(Instant::now()));
        loop {
            let timeout = self.timeout(&next_pass, &limits);
            let woken = self.wait(&mut wakeups, timeout)?;
            // The larger a pass, the less it costs for each sample.
            if woken == Woken::BySamples
                && self.recorder.opened.sampling.is_half_empty()
                && let Some(later) = next_pass.later()
            {
                next_pass = later;
                continue;
            }
            let goes_on = self.toggling.toggle(&mut self.recorder, note)?;
            next_pass = self.pass(note)?;
            let request = self.recorder.interrupts.stop_request();
            if limits.is_stopped(request, note) {
                return Ok(EndReason::Interrupted);
            }
            let has_command_ended = self.command_ended()?;
            if goes_on == Continue::No || self.recorder.is_unwatched() {
                return Ok(EndReason::Time);
            }
            let reached = if has_command_ended {
                self.end_after_command(&mut wakeups, request, &limits, note)?
            } else {
                limits.reached(&self.recorder, note)
            };
            if let Some(reason) = reached {
                return Ok(reason);
            }
            if self.all_gone(&wakeups) && self.command.is_none() {
                return Ok(EndReason::Ended);
            }
        }
    }

    /// How long may be waited: until something is due.
    fn timeout(&self, next_pass: &NextPass, limits: &Limits) -> Duration {
        let now = Instant::now();
        let due = [
            self.recorder.files.due_in(now),
            self.toggling.due_in(now),
            limits.time_left(now),
        ];
        let calm = next_pass
            .wait
            .min(self.coverage_poll_interval(now))
            .min(self.recorder.drain.poll_interval());
        due.into_iter().flatten().fold(calm, Duration::min)
    }

    /// Drains the rings and does what follows from it. Returns when the next pass is due.
    fn pass(&mut self, note: &mut dyn FnMut(Note)) -> Result<NextPass, Error> {
        let recorder = &mut self.recorder;
        let statistics = recorder.pass()?;
        recorder.drain.take_notes().for_each(&mut *note);
        let decision = self.control.decide(Instant::now(), statistics);
        self.follow(decision, note)?;
        if self.recorder.keep_budget()? == Some(Cut::LargeDumps) {
            self.control.keep_dumps_small();
        }
        self.recorder.rotate_if_due(self.trigger.as_mut(), note)?;
        Ok(NextPass {
            lets_rings_fill: decision.lets_rings_fill,
            ..NextPass::within(decision.poll_interval)
        })
    }

    fn follow(&mut self, decision: Decision, note: &mut dyn FnMut(Note)) -> Result<(), Error> {
        let resized = self.recorder.opened.set_dump_size(decision.dump_size);
        resized.map_err(Error::system("switching events"))?;
        self.cover_short_processes(note)?;
        Ok(self.recorder.sink.unwind_in(decision.unwind_place)?)
    }

    /// Samples CPUs if processes are too short for samples of their own.
    fn cover_short_processes(&mut self, note: &mut dyn FnMut(Note)) -> Result<(), Error> {
        let opened = &mut self.recorder.opened;
        if let Some(coverage) = &mut self.recorder.drain.tracked.coverage
            && opened.may_go_by_cpu()
            && coverage.is_lacking(&opened.sampling)
        {
            let gone = opened.go_by_cpu();
            gone.map_err(Error::system("switching events"))?;
            note(Note::ShortProcesses);
        }
        Ok(())
    }

    /// After how long it is polled whether processes are too short for samples.
    fn coverage_poll_interval(&self, now: Instant) -> Duration {
        match &self.recorder.drain.tracked.coverage {
            Some(coverage) if self.recorder.opened.may_go_by_cpu() => coverage.poll_interval(now),
            _ => POLL_INTERVAL,
        }
    }

    fn wait(&self, wakeups: &mut Wakeups, timeout: Duration) -> Result<Woken, Error> {
        let waited = wakeups.wait(&self.recorder.opened, timeout);
        waited.map_err(Error::system("waiting for samples"))
    }

    fn command_ended(&mut self) -> Result<bool, Error> {
        let Some(command) = &mut self.command else {
            return Ok(false);
        };
        let status = command.try_wait();
        let has_ended = (status.map_err(Error::system("waiting for the command"))?).is_some();
        if has_ended {
            self.recorder.interrupts.command_ended();
        }
        Ok(has_ended)
    }

    /// Whether a recording is over whose command has ended: others that it started may be waited for.
    fn end_after_command(
        &mut self,
        wakeups: &mut Wakeups,
        request: StopRequest,
        limits: &Limits,
        note: &mut dyn FnMut(Note),
    ) -> Result<Option<EndReason>, Error> {
        let all_gone = self.all_gone(wakeups);
        let settings = &self.recorder.settings;
        let records_command = settings.watch == Watch::Command;
        // After Ctrl-C only the command is waited for, and not what it started.
        let goes_on = request == StopRequest::None && !limits.is_time_over();
        if !all_gone && settings.wait_all && records_command && goes_on {
            return Ok(None);
        }
        let may_leave_others = !all_gone && records_command && !settings.wait_all;
        if may_leave_others && self.others_live(wakeups)? {
            note(Note::OthersLiveOn);
        }
        Ok(Some(EndReason::Ended))
    }

    /// Whether all that is recorded has ended, as far as it was seen.
    fn all_gone(&self, wakeups: &Wakeups) -> bool {
        wakeups.all_gone() || self.is_lineage_gone().unwrap_or(false)
    }

    /// Whether the tasks are gone whose samples are kept; `None` if all are kept.
    fn is_lineage_gone(&self) -> Option<bool> {
        let lineage = self.recorder.drain.tracked.lineage.as_ref()?;
        Some(lineage.is_gone())
    }

    fn others_live(&mut self, wakeups: &mut Wakeups) -> Result<bool, Error> {
        if self.recorder.drain.tracked.lineage.is_some() {
            // The command's own end may be the last record.
            self.recorder.pass()?;
            return Ok(self.is_lineage_gone() == Some(false));
        }
        self.wait(wakeups, Duration::ZERO)?;
        Ok(!wakeups.all_gone())
    }
}
