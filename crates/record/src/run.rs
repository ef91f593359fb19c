//! A recording from start to end.

use crate::control::{Control, Decision, POLL_INTERVAL, PassStatistics};
use crate::coverage::{Coverage, Recorded};
use crate::cpu_budget::Budget;
use crate::drain::Drain;
use crate::drain::flight::Flight;
use crate::drain::lineage::Lineage;
use crate::drain::plan::Plan;
use crate::grace_period::GracePeriod;
use crate::interrupts::{Interrupts, NoAnswer, Wish};
use crate::live::Unreadable;
use crate::note::Less;
use crate::opening::attrs::{self, Attrs};
use crate::opening::group_attrs;
use crate::opening::groups;
use crate::opening::sampled_by::{OpenedFor, SampledBy, open_all};
use crate::opening::stack_dump;
use crate::opening::trial::Trial;
use crate::opening::{self, Opened, Scope};
use crate::output::Created;
use crate::output::alive::Alive;
use crate::output::features::{self, Features};
use crate::output::files::Files;
use crate::output::trigger::Trigger;
use crate::sink::Sink;
use crate::switching::{Goes, Switching};
use crate::targets::watched;
use crate::targets::{self, started_by, targets_of};
use crate::wakeups::Wakeups;
use crate::{
    CallChains, ControlNote, Error, Inherit, Note, Output, Rate, Settings, Summary, Watch, probes,
};
use rprof_abi::{AttrFlags, Endian, PerfEventAttr, SampleLayout, SampleType};
use rprof_events::{Sources, online_cpus};
use rprof_process::{Child, Gated, Stdout};
use rprof_ringbuf::sys;
use std::os::fd::AsFd;
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Makes a recording by events.
pub(crate) fn by_events(settings: &Settings, note: &mut dyn FnMut(Note)) -> Result<Summary, Error> {
    if settings.command.is_empty() && settings.watch == Watch::Command {
        return Err(Error::NothingToRecord);
    }
    let settings = &Settings {
        call_chains: match settings.fields.no_samples {
            true => CallChains::None,
            false => stack_dump::possible(settings.call_chains),
        },
        events: probes::resolve(settings, note)?,
        ..settings.clone()
    };
    let cpus = cpus_of(settings)?;
    let switching = Switching::new(&settings.when)?;
    let interrupts = Rc::new(Interrupts::listen()?);
    let mut less = Less::default();
    let mut attrs = attrs::prepare(settings, &interrupts, &mut less, note)?;
    group_attrs::complete(&mut attrs.sampling, Trial::of(settings), note)?;
    let is_flight = settings.writing.overwrite;
    let attrs = match is_flight {
        true => attrs.overwriting(),
        false => attrs,
    };
    let waited_since = match (&settings.watch, settings.wait) {
        (Watch::Matching(matching), true) => matching.wait(&interrupts, note)?,
        _ => None,
    };
    let gated = match settings.command.is_empty() {
        true => None,
        false => Some(Gated::spawn(&settings.command, stdout_of(settings))?),
    };
    let child = gated.as_ref().map(Gated::pid);
    note_children(settings, note);
    let targets = targets_of(settings, child)?;
    let n_rings = match settings.inherit {
        Inherit::PerThread => targets.len(),
        _ => cpus.len(),
    };
    let mut scope = Scope {
        targets,
        per_thread: settings.inherit == Inherit::PerThread,
        until_exec: settings.watch == Watch::Command && settings.when.is_from_start(),
        ring_pages: opening::ring_size::ring_pages(settings, &attrs, n_rings),
        sideband_pages: settings.sideband.ring_pages(),
        is_size_asked: settings.ring_pages.is_some(),
        two_dump_sizes: attrs.has_auto_dumps(),
        // What was overwritten is not known to be missing.
        also_by_cpu: !is_flight && settings.is_for_all_time() && attrs.can_watch_all(settings),
        few_files: None,
        interrupts: &interrupts,
        cpus,
    };
    let OpenedFor { opened, by } = open_all(&attrs, &mut scope, settings, child, note)?;
    opened.tell(note);
    let vanished = targets::vanished(settings, &opened);
    if by == SampledBy::Thread && !vanished.is_empty() {
        note(Note::Vanished(vanished));
    }
    less.rings = opened.small_rings;
    less.few_files = scope.few_files;
    if less != Less::default() {
        note(Note::Less(less));
    }
    let sideband = opened.sideband.events.first();
    let mut sideband = sideband.map_or_else(PerfEventAttr::default, |event| event.attr.clone());
    // As the kernel writes it, and as the file has it.
    let drained_layout = SampleLayout::new(&sideband, Endian::NATIVE);
    sideband.flags = sideband.flags.with(AttrFlags::BUILD_ID);
    let sideband_layout = SampleLayout::new(&sideband, Endian::NATIVE);
    let plan = Plan::new(settings, &attrs, &opened, &sideband_layout)?;
    let mut known = features::of_machine(&settings.tool, settings.clock);
    known.extend(features::of_tracepoints(&settings.events));
    let sampled = opened.sampling.events.iter();
    let groupings: Vec<_> = sampled.map(|event| &event.grouping).collect();
    known.extend(groups::section(&groupings));
    known.extend(child.and_then(features::of_command));
    let trigger = Trigger::open(settings, &scope, note)?;
    // The command is forked already, and keeps its own priority. What is drained late is lost, what is
    // unwound late is truncated; neither takes much time.
    let _priority_guard = sys::run_before_others();
    let mut run = Run::begin(
        settings,
        Begin {
            plan,
            known,
            opened,
            drained_layout: drained_layout.clone(),
            sideband_layout,
            left_out: left_out(settings, &attrs),
            rate: settings.rate.unwrap_or(Rate::DEFAULT),
            switching,
            trigger,
            interrupts: Rc::clone(&interrupts),
        },
    )?;
    let describes_later = settings.writing.switch.is_some() || settings.writing.synthesis_at_end;
    run.drain.alive = describes_later.then(|| Alive::new(drained_layout));
    run.drain.lineage = (by == SampledBy::Cpu).then(Lineage::default);
    let recorded = child.filter(|_| settings.watch == Watch::Command);
    if let (Some(lineage), Some(child)) = (&mut run.drain.lineage, recorded) {
        lineage.add(child, &[child]);
    }
    if run.opened.is_extended {
        run.drain.streams = Some(run.opened.streams()?);
    }
    run.drain.flight = is_flight.then(Flight::default);
    // A clock's samples are compared with the time that there was.
    let is_compared = settings.is_for_all_time() && !is_flight && !settings.fields.no_samples;
    if settings.watch != Watch::All && by == SampledBy::Thread && is_compared {
        let threads = scope.threads();
        let recorded = match settings.watch {
            Watch::Command => Recorded::Command(&threads),
            _ => Recorded::Running(&threads),
        };
        let (by_thread, by_cpu) = (&run.opened.sampling, run.opened.by_cpu.as_ref());
        run.drain.coverage = Coverage::of(by_thread, by_cpu, recorded);
    }
    let ended = run.start(gated, note);
    if let (Ok(()), Some(since)) = (&ended, waited_since) {
        let within = since.elapsed();
        note(Note::Found { within });
    }
    let ended = ended.and_then(|()| run.until_stopped(note));
    run.finish(ended, note)
}

/// Says that children which run already are not recorded, unless that was asked for.
fn note_children(settings: &Settings, note: &mut dyn FnMut(Note)) {
    let (Watch::Processes(pids), false) = (&settings.watch, settings.children) else {
        return;
    };
    let processes = started_by(pids).len();
    if processes > 0 {
        note(Note::ChildrenUnrecorded { processes });
    }
}

/// The recorder's own process, if its samples are left out. No sample is left out where samples have
/// values of counters: readers take the differences from sample to sample.
fn left_out(settings: &Settings, attrs: &Attrs) -> Option<u32> {
    let mut events = attrs.sampling.iter();
    let has_values = events.any(|event| event.attr.sample_type.has(SampleType::READ));
    let is_own = settings.watch == Watch::All && !settings.include_self && !has_values;
    is_own.then(std::process::id)
}

pub(crate) fn stdout_of(settings: &Settings) -> Stdout {
    match settings.output {
        Output::File(_) => Stdout::Inherited,
        Output::Pipe(_) => Stdout::ToStderr,
    }
}

/// The CPUs to record on: those asked for, if they are online.
fn cpus_of(settings: &Settings) -> Result<Vec<u32>, Error> {
    let online = online_cpus(&Sources::default())?;
    let Some(asked) = &settings.cpus else {
        return Ok(online);
    };
    match asked.iter().find(|cpu| !online.contains(cpu)) {
        Some(&cpu) => Err(Error::NoSuchCpu { cpu }),
        None => Ok(asked.clone()),
    }
}

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
    fn start(&mut self, gated: Option<Gated>, note: &mut dyn FnMut(Note)) -> Result<(), Error> {
        let enabling = "enabling events";
        self.opened
            .sideband
            .enable()
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
                .enable()
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
    fn until_stopped(&mut self, note: &mut dyn FnMut(Note)) -> Result<Over, Error> {
        let deadline = (self.settings.duration).and_then(|time| Instant::now().checked_add(time));
        let mut wakeups = Wakeups::new(&self.opened, &self.interrupts);
        let triggers = self.trigger.iter().flat_map(Trigger::ring_owners);
        triggers.for_each(|owner| wakeups.add(owner));
        self.switching.begin(&self.settings.when, &mut wakeups);
        let mut grace_period = GracePeriod::default();
        let mut poll_interval = POLL_INTERVAL;
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
