//! First phase: what was asked for is made to fit this machine. No event is open for good, and the command is not there;
//! signals are heard, control pipes are open, and probes have their definitions.

use super::armed::Armed;
use super::spawn::{spawn, wait_for_processes};
use super::toggling::Toggling;
use crate::error::Error;
use crate::interrupts::Interrupts;
use crate::note::{Degraded, Note};
use crate::opening::attrs::{self, Attrs};
use crate::opening::off_cpu::{OffCpuEvents, Purpose, newest_task, wakee_filter};
use crate::opening::sampled_by::{OpenedFor, SampledBy, open_all, vanished};
use crate::opening::trial::Trial;
use crate::opening::{
    Opened, Scope, group_attrs, off_cpu_attrs, ring_size, span_attrs, stack_dump, thinned,
};
use crate::output::trigger::Trigger;
use crate::probes::{self, Placed};
use crate::settings::{CallChains, Inherit, Settings, Watch};
use crate::targets::targets_of;
use rprof_events::{Sources, online_cpus};
use rprof_process::{Gated, started_by};
use rprof_ringbuf::Target;
use std::rc::Rc;

/// Settings that fit this machine, and the attrs to open.
pub(super) struct Prepared {
    pub(super) settings: Settings,
    cpus: Vec<u32>,
    pub(super) toggling: Toggling,
    pub(super) attrs: Attrs,
    /// How switches are recorded, if that was asked for.
    pub(super) off_cpu: Option<OffCpuEvents>,
    /// What is less than was asked for.
    degraded: Degraded,
    /// What is defined goes after all that is opened.
    pub(super) placed: Placed,
    /// The last field: signals are held back until the probes are gone.
    pub(super) interrupts: Rc<Interrupts>,
}

impl Prepared {
    pub(super) fn new(settings: &Settings, note: &mut dyn FnMut(Note)) -> Result<Self, Error> {
        if settings.command.is_empty() && settings.watch == Watch::Command {
            return Err(Error::NothingToRecord);
        }
        let cpus = cpus_of(settings)?;
        let toggling = Toggling::new(&settings.when)?;
        let interrupts = Rc::new(Interrupts::listen(settings.block_signals())?);
        let placed = probes::place(settings, note)?;
        let settings = possible(settings, &placed);
        let mut degraded = Degraded::default();
        let mut attrs = attrs::prepare(&settings, &interrupts, &mut degraded, note)?;
        span_attrs::add(&mut attrs, &placed.edges, &settings, note)?;
        let off_cpu = (settings.off_cpu).map(|_| off_cpu_attrs::add(&mut attrs, &settings));
        group_attrs::complete(&mut attrs.sampling, Trial::new(&settings), note)?;
        if settings.samples_per_hour.is_some() {
            thinned::ask_for_periods(&mut attrs.sampling)?;
        }
        let mut cpus = cpus;
        if off_cpu.is_some() && settings.cpus.is_some() {
            off_cpu_attrs::sample_on(&mut attrs.sampling, &cpus);
            cpus = online_cpus(&Sources::default())?;
        }
        if settings.writing.overwrite {
            attrs = attrs.overwriting();
        }
        Ok(Self {
            settings,
            cpus,
            toggling,
            interrupts,
            attrs,
            off_cpu,
            degraded,
            placed,
        })
    }

    /// Forks the command, which waits, and opens all events, which are off.
    pub(super) fn arm(mut self, note: &mut dyn FnMut(Note)) -> Result<Armed, Error> {
        let waited_since = wait_for_processes(&self.settings, &self.interrupts, note)?;
        let newest = newest_task();
        let gated = spawn(&self.settings)?;
        let child = gated.as_ref().map(Gated::pid);
        self.filter_wakings(child, newest)?;
        let settings = &self.settings;
        let processes = unrecorded_children(settings);
        let mut scope = self.scope(child)?;
        let OpenedFor { opened, by } = open_all(&self.attrs, &mut scope, settings, child, note)?;
        opened.tell(note);
        if let Some(off_cpu) = &self.off_cpu {
            note(off_cpu.note());
        }
        if processes > 0 {
            note(Note::ChildrenUnrecorded { processes });
        }
        self.placed.tell(note);
        self.note_lacks(&opened, by, &scope, note);
        let (trigger, threads) = (
            Trigger::open(settings, &self.placed, &scope)?,
            scope.threads(),
        );
        Ok(Armed {
            opened,
            by,
            threads,
            trigger,
            gated,
            waited_since,
            prepared: self,
        })
    }

    /// Of wake-ups, wants those of what is recorded. `newest` is the newest task from before that is known.
    fn filter_wakings(&mut self, child: Option<i32>, newest: Option<i32>) -> Result<(), Error> {
        if self.settings.off_cpu.is_none() || self.settings.watch == Watch::All {
            return Ok(());
        }
        let targets = targets_of(&self.settings, child)?;
        let threads = targets.iter().filter_map(|target| match target {
            Target::Thread(tid) => Some(*tid),
            _ => None,
        });
        let threads: Vec<i32> = threads.collect();
        // Later ones are recorded if their parents are.
        let newest = newest.filter(|_| self.settings.inherit == Inherit::Inherited);
        for event in &mut self.attrs.sampling {
            if matches!(event.purpose, Purpose::Waking { .. }) {
                event.filter = wakee_filter(&threads, newest);
            }
        }
        Ok(())
    }

    /// Whom events are opened for, and where.
    fn scope(&self, child: Option<i32>) -> Result<Scope<'_>, Error> {
        let (settings, attrs) = (&self.settings, &self.attrs);
        let targets = targets_of(settings, child)?;
        let n_rings = match settings.inherit {
            Inherit::PerThread => targets.len(),
            _ => self.cpus.len(),
        };
        Ok(Scope {
            targets,
            per_thread: settings.inherit == Inherit::PerThread,
            until_exec: settings.watch == Watch::Command && settings.when.is_from_start(),
            ring_pages: ring_size::ring_pages(settings, attrs, n_rings),
            sideband_pages: settings.sideband_pages(),
            is_size_asked: settings.ring_pages.is_some(),
            dump_sizes: attrs.dump_sizes(),
            // What was overwritten is not known to be missing.
            also_by_cpu: !settings.writing.overwrite
                && settings.is_for_all_time()
                // Switches of all tasks would be very many, to keep those of few.
                && settings.off_cpu.is_none()
                && attrs.can_watch_all(settings),
            few_files: None,
            interrupts: &self.interrupts,
            cpus: self.cpus.clone(),
        })
    }

    /// Says what was asked for and could not be had.
    fn note_lacks(
        &self,
        opened: &Opened,
        by: SampledBy,
        scope: &Scope<'_>,
        note: &mut dyn FnMut(Note),
    ) {
        let vanished = vanished(&self.settings, opened);
        if by == SampledBy::Thread && !vanished.is_empty() {
            note(Note::Vanished(vanished));
        }
        let degraded = Degraded {
            rings: opened.small_rings,
            few_files: scope.few_files,
            ..self.degraded.clone()
        };
        if degraded != Degraded::default() {
            note(Note::Degraded(degraded));
        }
    }
}

/// Settings with events that have a place, and chains that this machine has.
fn possible(settings: &Settings, placed: &Placed) -> Settings {
    Settings {
        call_chains: if settings.fields.no_samples {
            CallChains::None
        } else {
            stack_dump::possible(settings.call_chains)
        },
        events: placed.events.clone(),
        ..settings.clone()
    }
}

/// Children that run already and are not recorded, since that was not asked for.
fn unrecorded_children(settings: &Settings) -> usize {
    match (&settings.watch, settings.children) {
        (Watch::Processes(pids), false) => started_by(pids).len(),
        _ => 0,
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
