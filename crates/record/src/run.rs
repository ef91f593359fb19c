//! A recording that is going on.

use crate::control::{Control, Decision, DumpSize, POLL_INTERVAL, PassStatistics};
use crate::cpu_budget::Budget;
use crate::drain::Drain;
use crate::drain::lineage::Lineage;
use crate::drain::plan::Plan;
use crate::grace_period::GracePeriod;
use crate::interrupts::{Interrupts, NoAnswer, Wish};
use crate::live::Unreadable;
use crate::opening::Opened;
use crate::output::Created;
use crate::output::features::Features;
use crate::output::files::Files;
use crate::output::trigger::Trigger;
use crate::sink::Sink;
use crate::switching::{Goes, Switching};
use crate::targets::watched;
use crate::wakeups::Wakeups;
use crate::{ControlNote, Error, Note, Output, Rate, Settings, Watch};
use rprof_abi::SampleLayout;
use rprof_process::{Child, Gated};
use std::os::fd::AsFd;
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Why a recording is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Over {
    /// What was recorded has ended.
    Ended,
    /// The time is over, or the user has said so on the control pipe.
    Time,
    /// The file is as large as it may be.
    Size,
    /// The user wants an end.
    Interrupted,
}

/// A recording that is going on.
pub(crate) struct Run<'a> {
    pub(crate) settings: &'a Settings,
    pub(crate) sink: Sink,
    pub(crate) drain: Drain,
    pub(crate) opened: Opened,
    pub(crate) switching: Switching,
    pub(crate) interrupts: Rc<Interrupts>,
    pub(crate) sideband_layout: SampleLayout,
    pub(crate) control: Control,
    pub(crate) budget: Option<Budget>,
    pub(crate) unreadable: Arc<Unreadable>,
    pub(crate) child: Option<Child>,
    pub(crate) created: Created,
    pub(crate) files: Files,
    /// Begins another of them.
    pub(crate) trigger: Option<Trigger>,
}

/// What a recording begins with.
pub(crate) struct Begin {
    pub(crate) plan: Plan,
    /// What is known of machine and recording.
    pub(crate) known: Features,
    pub(crate) opened: Opened,
    /// Sideband as the kernel writes it, and as the file has it.
    pub(crate) drained_layout: SampleLayout,
    pub(crate) sideband_layout: SampleLayout,
    /// The process whose samples are left out.
    pub(crate) left_out: Option<u32>,
    /// How often samples are taken.
    pub(crate) rate: Rate,
    pub(crate) switching: Switching,
    pub(crate) trigger: Option<Trigger>,
    pub(crate) interrupts: Rc<Interrupts>,
}

impl Run<'_> {
    /// Sideband first, then what runs already, then samples: nothing falls between.
    pub(crate) fn start(
        &mut self,
        gated: Option<Gated>,
        note: &mut dyn FnMut(Note),
    ) -> Result<(), Error> {
        let enabling = "enabling events";
        self.opened
            .sideband
            .enable(DumpSize::Large)
            .map_err(Error::system(enabling))?;
        if let Some(trigger) = &self.trigger {
            trigger.enable()?;
        }
        if self.settings.sideband.cgroups {
            self.describe_cgroups()?;
        }
        if let (Some(gated), true) = (&gated, self.settings.sideband.namespaces) {
            self.describe_namespaces(gated.pid())?;
        }
        self.describe_at_start(note)?;
        if !self.settings.when.is_from_start() {
            self.opened.hold();
            note(
                ControlNote::Switched {
                    event: None,
                    is_on: false,
                }
                .into(),
            );
        } else if self.settings.watch != Watch::Command || self.drain.lineage.is_some() {
            self.opened
                .sampling
                .enable(self.opened.dump_size)
                .map_err(Error::system(enabling))?;
        }
        match gated {
            Some(gated) => self.start_command(gated),
            None => {
                note(Note::Watching {
                    who: watched::in_words(self.settings),
                    duration: self.settings.duration,
                });
                Ok(())
            }
        }
    }

    /// Executing a file may take its time, too.
    fn start_command(&mut self, mut gated: Gated) -> Result<(), Error> {
        // From now on it gets the terminal's signals, too.
        self.interrupts.command_begins();
        gated.open();
        if let Err(error) = self.interrupts.wait_for(gated.as_fd()) {
            // Not the command yet, or only just.
            gated.kill();
            return Err(error);
        }
        self.child = Some(gated.started()?);
        Ok(())
    }

    /// Drains until the command, the time or the user ends it.
    pub(crate) fn until_stopped(&mut self, note: &mut dyn FnMut(Note)) -> Result<Over, Error> {
        let deadline = (self.settings.duration).and_then(|time| Instant::now().checked_add(time));
        let mut wakeups = Wakeups::new(&self.opened, &self.interrupts);
        let triggers = self.trigger.iter().flat_map(Trigger::ring_owners);
        triggers.for_each(|owner| wakeups.add(owner));
        self.switching.begin(&self.settings.when, &mut wakeups);
        let mut grace_period = GracePeriod::default();
        let mut poll_interval = self.control.calm_interval(Instant::now());
        loop {
            let now = Instant::now();
            let timeout = self.coverage_poll_interval(now).min(poll_interval);
            let timeout = self.files.due_in(now).unwrap_or(timeout).min(timeout);
            let timeout = self.switching.shorten(timeout, now);
            let timeout = deadline.map_or(timeout, |deadline| {
                deadline.saturating_duration_since(now).min(timeout)
            });
            self.wait(&mut wakeups, timeout)?;
            let goes = self.switch(note)?;
            let statistics = self.pass()?;
            self.drain.take_notes().for_each(&mut *note);
            let decision = self.control.decide(Instant::now(), statistics);
            poll_interval = decision.poll_interval;
            self.follow(decision, note)?;
            let _ = self.keep_budget()?;
            self.switch_if_due(note)?;
            let wish = self.interrupts.wish();
            match wish {
                Wish::GoOn => {}
                Wish::EndWithCommand if grace_period.is_over() => note(Note::CommandHasSignal),
                Wish::EndWithCommand => {}
                Wish::Stop | Wish::GiveUp => return Ok(Over::Interrupted),
            }
            let command_ended = self.command_ended()?;
            let is_time_over = deadline.is_some_and(|deadline| Instant::now() >= deadline);
            if goes == Goes::ToEnd {
                return Ok(Over::Time);
            }
            if self.is_unwatched() {
                return Ok(Over::Time);
            }
            if is_time_over && !command_ended {
                note(Note::DurationOver);
                return Ok(Over::Time);
            }
            if self.is_full() && !command_ended {
                note(Note::FileFull);
                return Ok(Over::Size);
            }
            let lineage = self.drain.lineage.as_ref();
            let all_gone = wakeups.all_gone() || lineage.is_some_and(Lineage::is_gone);
            // After Ctrl-C only the command is waited for, and not what it started.
            let goes_on = wish == Wish::GoOn && !is_time_over;
            let waits_for_all = self.waits_for_all() && goes_on;
            if command_ended && (all_gone || !waits_for_all) {
                if !all_gone
                    && self.settings.watch == Watch::Command
                    && !self.settings.wait_all
                    && self.others_live(&mut wakeups)?
                {
                    note(Note::OthersLiveOn);
                }
                return Ok(Over::Ended);
            }
            if all_gone && self.child.is_none() {
                return Ok(Over::Ended);
            }
        }
    }

    pub(crate) fn pass(&mut self) -> Result<PassStatistics, NoAnswer> {
        let writer = self.sink.writer_state();
        let pass = self.drain.pass(&mut self.opened, &mut self.sink)?;
        Ok(PassStatistics {
            fullest_ring_percent: pass.fullest_ring_percent,
            writer,
            unwinding: self.sink.take_statistics(),
        })
    }

    fn follow(&mut self, decision: Decision, note: &mut dyn FnMut(Note)) -> Result<(), Error> {
        let resized = self.opened.set_dump_size(decision.dump_size);
        resized.map_err(Error::system("switching events"))?;
        self.cover_short_processes(note)?;
        Ok(self.sink.unwind_in(decision.unwind_place)?)
    }

    /// Samples CPUs if processes are too short for samples of their own.
    fn cover_short_processes(&mut self, note: &mut dyn FnMut(Note)) -> Result<(), Error> {
        let Some(coverage) = &mut self.drain.coverage else {
            return Ok(());
        };
        let may = self.opened.by_cpu.is_some() && !self.opened.is_by_cpu();
        if may && coverage.is_lacking(&self.opened.sampling) {
            let switched = self.opened.go_by_cpu();
            switched.map_err(Error::system("switching events"))?;
            note(Note::ShortProcesses);
        }
        Ok(())
    }

    /// After how long it is polled whether processes are too short for samples.
    fn coverage_poll_interval(&self, now: Instant) -> Duration {
        let coverage = self.drain.coverage.as_ref();
        let may = self.opened.by_cpu.is_some() && !self.opened.is_by_cpu();
        let coverage = coverage.filter(|_| may);
        coverage.map_or(POLL_INTERVAL, |coverage| coverage.poll_interval(now))
    }

    /// Whether nobody looks any more at a recording in memory.
    fn is_unwatched(&self) -> bool {
        matches!(&self.settings.output, Output::Segments(to) if to.is_over())
    }

    fn waits_for_all(&self) -> bool {
        self.settings.wait_all && self.settings.watch == Watch::Command
    }

    fn wait(&self, wakeups: &mut Wakeups, timeout: Duration) -> Result<(), Error> {
        let waited = wakeups.wait(&self.opened, timeout);
        waited.map_err(Error::system("waiting for samples"))
    }

    fn others_live(&mut self, wakeups: &mut Wakeups) -> Result<bool, Error> {
        if self.drain.lineage.is_some() {
            // The command's own end may be the last record.
            self.pass()?;
            let lineage = self.drain.lineage.as_ref();
            return Ok(lineage.is_some_and(|lineage| !lineage.is_gone()));
        }
        self.wait(wakeups, Duration::ZERO)?;
        Ok(!wakeups.all_gone())
    }

    fn command_ended(&mut self) -> Result<bool, Error> {
        match &mut self.child {
            None => Ok(false),
            Some(child) => {
                let status = child
                    .try_wait()
                    .map_err(Error::system("waiting for the command"))?;
                if status.is_some() {
                    self.interrupts.command_ended();
                }
                Ok(status.is_some())
            }
        }
    }
}
