//! A recording by ptrace from start to end.

use super::Fallback;
use super::tasks::{Tasks, Thread};
use crate::begin;
use crate::control::Control;
use crate::cpu_budget::Cut;
use crate::drain::plan::{DrainedEvents, Plan};
use crate::grace_period::GracePeriod;
use crate::interrupts::{Interrupts, NoAnswer, Wish};
use crate::live::DeepStacks;
use crate::live::process_memory::ProcessMemory;
use crate::opening::Opened;
use crate::output::features;
use crate::run::{Begin, Over, Run};
use crate::switching::Switching;
use crate::targets::{targets_of, watched};
use crate::{Error, Note, Rate, Settings, Summary, Watch, advice};
use rprof_abi::{Endian, Machine, SampleLayout};
use rprof_perfdata::WrittenEvent;
use rprof_process::Gated;
use rprof_ringbuf::sys::ptrace;
use rprof_ringbuf::{Poller, Target, sys};
use std::os::fd::AsFd;
use std::process::ExitStatus;
use std::rc::Rc;
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
pub(super) struct Session<'a> {
    pub(super) run: Run<'a>,
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
    let interrupts = Rc::new(Interrupts::listen(settings.block_signals())?);
    let waited_since = begin::wait_for_processes(settings, &interrupts, note)?;
    let gated = begin::spawn(settings)?;
    let command = gated.as_ref().map(Gated::pid);
    let tasks = seize_all(settings, command)?;
    let _priority_guard = sys::run_before_others();
    let mut session = Session::begin(settings, fallback, interrupts, tasks, command)?;
    let started = session.start(gated, note);
    begin::note_found(&started, waited_since, note);
    let ended = started.and_then(|()| session.until_stopped(fallback.hz, note));
    session.release();
    if let (Some(child), Some(status)) = (&mut session.run.child, session.ended) {
        child.set_ended(status);
    }
    session.run.finish(ended, note)
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

impl<'a> Session<'a> {
    fn begin(
        settings: &'a Settings,
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
        };
        let control = Control::of_fixed_dump_size(Instant::now());
        let plan = Plan::of(settings, drained, &layout, control);
        let mut known = features::of_machine(&settings.tool, settings.clock);
        known.extend(command.and_then(features::of_command));
        let run = Run::begin(
            settings,
            Begin {
                plan,
                known,
                opened: Opened::nothing(),
                drained_layout: layout.clone(),
                sideband_layout: layout.clone(),
                left_out: None,
                rate: Rate::Frequency(fallback.hz),
                switching: Switching::new(&settings.when)?,
                trigger: None,
                interrupts,
            },
        )?;
        Ok(Self {
            run,
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

    /// What runs already is described, then the command starts.
    fn start(&mut self, gated: Option<Gated>, note: &mut dyn FnMut(Note)) -> Result<(), Error> {
        for thread in self.tasks.threads.values() {
            let mappings = self.tasks.mappings.entry(thread.pid).or_default();
            // They are described below.
            mappings.look(thread.pid, self.run.settings.has_data_mappings());
        }
        self.run.describe_at_start(note)?;
        let Some(mut gated) = gated else {
            note(Note::Watching {
                who: watched::in_words(self.run.settings),
                duration: self.run.settings.duration,
            });
            return Ok(());
        };
        self.run.interrupts.command_begins();
        gated.open();
        let mut poller = Poller::default();
        poller.add(&*self.run.interrupts);
        poller.add(&gated.as_fd());
        loop {
            // What stops it meanwhile is reported, too.
            let mut ready = poller
                .wait(Duration::MAX)
                .map_err(Error::system("waiting for the command"))?;
            if ready.any(|ready| ready.index == 1) {
                break;
            }
            if self.run.interrupts.wish() >= Wish::Stop {
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
        self.run.child = Some(started?);
        Ok(())
    }

    /// Samples until the command, the time or the user ends it.
    fn until_stopped(&mut self, hz: u64, note: &mut dyn FnMut(Note)) -> Result<Over, Error> {
        let period_of = |hz: u64| Duration::from_nanos(1_000_000_000 / hz.max(1));
        let mut period = period_of(hz);
        let duration = self.run.settings.duration;
        let deadline = duration.and_then(|time| Instant::now().checked_add(time));
        let mut poller = Poller::default();
        let interrupts = Rc::clone(&self.run.interrupts);
        poller.add(&*interrupts);
        let mut grace_period = GracePeriod::default();
        let mut next = Instant::now() + period;
        loop {
            let until = deadline.map_or(next, |deadline| deadline.min(next));
            let timeout = until.saturating_duration_since(Instant::now());
            // Waits are in milliseconds: not a busy one at their end.
            let timeout = timeout + Duration::from_micros(999);
            let waited = poller.wait(timeout).map(Iterator::count);
            waited.map_err(Error::system("waiting for threads"))?;
            let wish = interrupts.wish();
            self.take_reports()?;
            let now = Instant::now();
            if now >= next {
                self.tick()?;
                let took = now.elapsed();
                next = (next + period).max(now + took * LOOKING_SHARE);
                self.run.drain.take_notes().for_each(&mut *note);
                if let Some(Cut::Samples(hz)) = self.run.keep_budget()? {
                    period = period_of(hz);
                }
            }
            match wish {
                Wish::GoOn => {}
                Wish::EndWithCommand if grace_period.is_over() => note(Note::CommandHasSignal),
                Wish::EndWithCommand => {}
                Wish::Stop | Wish::GiveUp => return Ok(Over::Interrupted),
            }
            let is_ended = self.is_ended(wish, note);
            if is_ended {
                return Ok(Over::Ended);
            }
            if deadline.is_some_and(|deadline| Instant::now() >= deadline) {
                note(Note::DurationOver);
                return Ok(Over::Time);
            }
            if self.run.is_full() {
                note(Note::FileFull);
                return Ok(Over::Size);
            }
        }
    }

    /// Whether all that is recorded has ended.
    fn is_ended(&mut self, wish: Wish, note: &mut dyn FnMut(Note)) -> bool {
        let is_all_gone = self.tasks.threads.is_empty();
        if self.command.is_none() {
            return is_all_gone;
        }
        if self.ended.is_none() {
            return false;
        }
        self.run.interrupts.command_ended();
        let settings = self.run.settings;
        let waits_for_all = settings.wait_all && settings.watch == Watch::Command;
        if waits_for_all && wish == Wish::GoOn && !is_all_gone {
            return false;
        }
        if !is_all_gone && settings.watch == Watch::Command && !settings.wait_all {
            note(Note::OthersLiveOn);
        }
        true
    }

    /// Looks which threads have had CPU time and run now, and has them stop for a sample.
    fn tick(&mut self) -> Result<(), NoAnswer> {
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
        if std::mem::take(&mut self.has_news) {
            self.run.drain.end_round(&mut self.run.sink)
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
        poller.add(&*self.run.interrupts);
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
            self.run.interrupts.wish();
        }
    }
}
