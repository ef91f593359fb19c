//! A recording by ptrace from start to end.

use super::fallback::Fallback;
use super::tasks::{Tasks, Thread};
use crate::advice;
use crate::cpu_budget::{Budget, Cut};
use crate::drain::{Drain, DrainedSamples, Tracked};
use crate::error::Error;
use crate::interrupts::{Interrupts, StopRequest, WriterStalled};
use crate::live::process_memory::ProcessMemory;
use crate::live::{DeepStacks, Unreadable};
use crate::note::{Note, OffCpuMethod};
use crate::opening::{Opened, stack_dump};
use crate::output::features;
use crate::pauses::Pauses;
use crate::recording::limits::{EndReason, Limits};
use crate::recording::plan::{DrainedEvents, Plan};
use crate::recording::recorder::Recorder;
use crate::recording::spawn::{note_found, spawn, wait_for_processes};
use crate::recording::stopped::Stopped;
use crate::settings::{Rate, Settings, Summary, Watch};
use crate::targets::{described, targets_of};
use rprof_abi::{Endian, Machine, SampleLayout};
use rprof_perfdata::WrittenEvent;
use rprof_process::{Child, Gated};
use rprof_ringbuf::sys::ptrace;
use rprof_ringbuf::{Poller, Target, sys};
use std::os::fd::AsFd;
use std::process::ExitStatus;
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The id of the only event.
pub(super) const EVENT_ID: u64 = 1;

/// Looking at threads takes at most this share of the time: with very many of them, samples are rarer.
const LOOKING_SHARE: u32 = 10;

/// How long threads may take to stop, so that they can be let go.
const RELEASE_TIMEOUT: Duration = Duration::from_secs(1);

/// Listing ends also for a process that makes threads faster than they are listed.
const MAX_LISTINGS: usize = 10;

/// A recording that is going on.
pub(super) struct Session {
    pub(super) recorder: Recorder,
    unreadable: Arc<Unreadable>,
    pub(super) tasks: Tasks,
    pub(super) memory: ProcessMemory,
    /// As samples are drained.
    pub(super) layout: SampleLayout,
    /// Room for the stack of a sample; none, if stacks are not wanted.
    pub(super) stack: Vec<u8>,
    pub(super) machine: Machine,
    /// The command, and its end.
    pub(super) command: Option<i32>,
    pub(super) ended: Option<ExitStatus>,
    /// Something was written since the last tick.
    pub(super) has_news: bool,
}

/// Makes a recording by ptrace.
pub(crate) fn record(
    settings: &Settings,
    fallback: &Fallback,
    note: &mut dyn FnMut(Note),
) -> Result<Summary, Error> {
    note(fallback.note.clone());
    if settings.off_cpu.is_some() {
        let (method, better) = (OffCpuMethod::Nothing, None);
        note(Note::OffCpu { method, better });
    }
    let interrupts = Rc::new(Interrupts::listen(settings.block_signals())?);
    let waited_since = wait_for_processes(settings, &interrupts, note)?;
    let gated = spawn(settings)?;
    let command = gated.as_ref().map(Gated::pid);
    let tasks = seize_all(settings, command)?;
    let _priority_guard = sys::run_before_others();
    let session = Session::begin(settings, fallback, interrupts, tasks, command)?;
    session
        .run(gated, waited_since, fallback.hz, note)
        .finish(note)
}

/// Seizes all threads, also those that begin meanwhile.
fn seize_all(settings: &Settings, command: Option<i32>) -> Result<Tasks, Error> {
    let mut tasks = Tasks::default();
    for listing in 0..MAX_LISTINGS {
        let targets = match targets_of(settings, command) {
            Err(error) if listing == 0 => return Err(error),
            targets => targets.unwrap_or_default(),
        };
        let n_before = tasks.threads.len();
        for target in targets {
            let Target::Thread(tid) = target else {
                continue;
            };
            if tasks.threads.contains_key(&tid) {
                continue;
            }
            let Ok(pid) = rprof_process::process_of(tid) else {
                continue;
            };
            match ptrace::seize(tid) {
                Ok(()) => {
                    tasks.threads.insert(tid, Thread::new(pid, tid));
                }
                // One that a seized thread has just made, or one that has ended.
                Err(_) if !tasks.threads.is_empty() => {}
                Err(error) => return Err(advice::untraceable(tid, &error)),
            }
        }
        if tasks.threads.len() == n_before {
            break;
        }
    }
    Ok(tasks)
}

impl Session {
    fn begin(
        settings: &Settings,
        fallback: &Fallback,
        interrupts: Rc<Interrupts>,
        tasks: Tasks,
        command: Option<i32>,
    ) -> Result<Self, Error> {
        let attr = &fallback.event.attr;
        let layout = SampleLayout::new(attr, Endian::NATIVE);
        let drained = DrainedEvents {
            events: vec![WrittenEvent {
                name: fallback.event.name.clone(),
                attr: attr.clone(),
                ids: vec![EVENT_ID],
            }],
            n_sampled: 1,
            // There are no watchpoints that would prove anything.
            deep_stacks: DeepStacks::LeftTruncated,
            small_dump_bytes: stack_dump::SMALL_BYTES,
            read_later: Vec::new(),
            blocked: Vec::new(),
        };
        let unreadable = Arc::new(Unreadable::new());
        let mut plan = Plan::for_events(settings, drained, &layout, &unreadable);
        let mut known = features::of_machine(&settings.tool, settings.clock);
        known.extend(command.and_then(features::of_command));
        let (rate, unwinds) = (Rate::Frequency(fallback.hz), plan.unwinder.is_some());
        let samples = DrainedSamples {
            stacks: plan.stacks.clone(),
            own: None,
            clock: settings.clock,
        };
        let budget =
            (settings.cpu_percent).map(|percent| Budget::new(percent, rate, false, unwinds));
        let tracked = Tracked {
            thinning: plan.thinning.take(),
            ..Tracked::default()
        };
        let (files, sink) = plan.start_output(settings, known, &interrupts)?;
        let recorder = Recorder {
            drain: Drain::new(layout.clone(), samples, tracked),
            sink,
            opened: Opened::nothing(),
            files,
            sideband_layout: layout.clone(),
            budget,
            pauses: Pauses::default(),
            interrupts,
            settings: settings.clone(),
            defined: None,
        };
        Ok(Self {
            recorder,
            unreadable,
            tasks,
            memory: ProcessMemory::default(),
            stack: vec![0; usize::try_from(attr.sample_stack_user).unwrap_or(0)],
            layout,
            machine: Machine::native().unwrap_or(Machine::X86_64),
            command,
            ended: None,
            has_news: false,
        })
    }

    /// Records until something ends it.
    fn run(
        mut self,
        gated: Option<Gated>,
        waited_since: Option<Instant>,
        hz: u64,
        note: &mut dyn FnMut(Note),
    ) -> Stopped {
        let (mut command, ended) = match self.start(gated, note) {
            Ok(command) => {
                note_found(waited_since, note);
                (command, self.until_ended(hz, note))
            }
            Err(error) => (None, Err(error)),
        };
        self.release();
        if let (Some(command), Some(status)) = (&mut command, self.ended) {
            command.set_ended(status);
        }
        Stopped {
            was_on: self.recorder.settings.when.is_from_start(),
            recorder: self.recorder,
            control: None,
            trigger: None,
            command,
            ended,
        }
    }

    /// What runs already is described, then the command starts.
    fn start(
        &mut self,
        gated: Option<Gated>,
        note: &mut dyn FnMut(Note),
    ) -> Result<Option<Child>, Error> {
        let with_data = self.recorder.settings.has_data_mappings();
        for thread in self.tasks.threads.values() {
            let mappings = self.tasks.mappings.entry(thread.pid).or_default();
            // They are described below.
            mappings.look(thread.pid, with_data);
        }
        (self.recorder).describe_at_start(&self.unreadable, note)?;
        let Some(mut gated) = gated else {
            note(described::watching(&self.recorder.settings));
            return Ok(None);
        };
        let interrupts = Rc::clone(&self.recorder.interrupts);
        interrupts.command_begins();
        gated.open();
        let mut poller = Poller::default();
        poller.add(&*interrupts);
        poller.add(&gated.as_fd());
        loop {
            // What stops it meanwhile is reported, too.
            let mut ready = poller
                .wait(Duration::MAX)
                .map_err(Error::system("waiting for the command"))?;
            if ready.any(|ready| ready.index == 1) {
                break;
            }
            if interrupts.stop_request() >= StopRequest::Now {
                gated.kill();
                return Err(Error::Interrupted);
            }
            self.take_reports()?;
        }
        let command = gated.pid();
        let started = gated.started();
        if started.is_err() {
            // Its last stop was taken for its end.
            let _ = ptrace::release(command, 0);
            self.tasks.remove(command);
        }
        Ok(Some(started?))
    }

    /// Samples until the command, the time or the user ends it.
    fn until_ended(&mut self, hz: u64, note: &mut dyn FnMut(Note)) -> Result<EndReason, Error> {
        let period_of = |hz: u64| Duration::from_nanos(1_000_000_000 / hz.max(1));
        let mut period = period_of(hz);
        let mut limits = Limits::new(self.recorder.settings.duration);
        let mut poller = Poller::default();
        let interrupts = Rc::clone(&self.recorder.interrupts);
        poller.add(&*interrupts);
        let mut next = Instant::now() + period;
        loop {
            let now = Instant::now();
            let timeout = next.saturating_duration_since(now);
            let timeout = limits
                .time_left(now)
                .map_or(timeout, |left| left.min(timeout));
            // Waits are in milliseconds: not a busy one at their end.
            let waited = poller.wait(timeout + Duration::from_micros(999));
            (waited.map(Iterator::count)).map_err(Error::system("waiting for threads"))?;
            let request = interrupts.stop_request();
            self.take_reports()?;
            let now = Instant::now();
            if now >= next {
                self.tick()?;
                let took = now.elapsed();
                next = (next + period).max(now + took * LOOKING_SHARE);
                (self.recorder.drain.take_notes()).for_each(&mut *note);
                if let Some(Cut::Samples(hz)) = self.recorder.keep_budget()? {
                    period = period_of(hz);
                }
            }
            if limits.is_stopped(request, note) {
                return Ok(EndReason::Interrupted);
            }
            if self.is_ended(request, note) {
                return Ok(EndReason::Ended);
            }
            if let Some(reason) = limits.reached(&self.recorder, note) {
                return Ok(reason);
            }
        }
    }

    /// Whether all that is recorded has ended.
    fn is_ended(&mut self, request: StopRequest, note: &mut dyn FnMut(Note)) -> bool {
        let is_all_gone = self.tasks.threads.is_empty();
        if self.command.is_none() {
            return is_all_gone;
        }
        if self.ended.is_none() {
            return false;
        }
        self.recorder.interrupts.command_ended();
        let settings = &self.recorder.settings;
        let waits_for_all = settings.wait_all && settings.watch == Watch::Command;
        if waits_for_all && request == StopRequest::None && !is_all_gone {
            return false;
        }
        if !is_all_gone && settings.watch == Watch::Command && !settings.wait_all {
            note(Note::OthersLiveOn);
        }
        true
    }

    /// Looks which threads have had CPU time and run now, and has them stop for a sample.
    fn tick(&mut self) -> Result<(), WriterStalled> {
        let mut renamed = Vec::new();
        for (&tid, thread) in &mut self.tasks.threads {
            if thread.is_due {
                continue;
            }
            let Some(state) = thread.look(tid) else {
                continue;
            };
            thread.cpu = state.cpu;
            if state.comm != thread.comm {
                thread.comm.clone_from(&state.comm);
                renamed.push((thread.pid, tid, state.comm));
            }
            thread.is_due = ptrace::interrupt(tid).is_ok();
        }
        for (pid, tid, comm) in renamed {
            self.tell_name(pid, tid, &comm)?;
        }
        self.recorder.drain.fit_thinning();
        if std::mem::take(&mut self.has_news) {
            self.recorder.drain.end_round(&mut self.recorder.sink)
        } else {
            Ok(())
        }
    }

    /// Lets all threads go. One that does not stop in time is let go when rprof ends.
    fn release(&mut self) {
        for &tid in self.tasks.threads.keys() {
            // One that is gone says so.
            let _ = ptrace::interrupt(tid);
        }
        let deadline = Instant::now() + RELEASE_TIMEOUT;
        let mut poller = Poller::default();
        poller.add(&*self.recorder.interrupts);
        while !self.tasks.threads.is_empty() && Instant::now() < deadline {
            while let Ok(Some(report)) = ptrace::next_report() {
                self.let_go(report);
            }
            if self.tasks.threads.is_empty()
                || poller
                    .wait(Duration::from_millis(10))
                    .map(Iterator::count)
                    .is_err()
            {
                break;
            }
            self.recorder.interrupts.stop_request();
        }
    }
}
