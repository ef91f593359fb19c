//! A recording by events: what is opened, in which order, and what is said of it.

use crate::begin;
use crate::coverage::{Coverage, Recorded};
use crate::drain::flight::Flight;
use crate::drain::lineage::Lineage;
use crate::drain::plan::Plan;
use crate::interrupts::Interrupts;
use crate::note::Less;
use crate::opening::attrs::{self, Attrs};
use crate::opening::sampled_by::{OpenedFor, SampledBy, open_all};
use crate::opening::trial::Trial;
use crate::opening::{Opened, Scope, group_attrs, groups, ring_size, stack_dump};
use crate::output::alive::Alive;
use crate::output::features::{self, Features};
use crate::output::trigger::Trigger;
use crate::probes::{self, Placed};
use crate::run::{Begin, Run};
use crate::switching::Switching;
use crate::targets::{self, started_by, targets_of};
use crate::{CallChains, Error, Inherit, Note, Rate, Settings, Summary, Watch};
use rprof_abi::{AttrFlags, Endian, PerfEventAttr, SampleLayout, SampleType};
use rprof_events::{Sources, online_cpus};
use rprof_process::Gated;
use rprof_ringbuf::sys;
use std::rc::Rc;

/// Makes a recording by events.
pub(crate) fn by_events(settings: &Settings, note: &mut dyn FnMut(Note)) -> Result<Summary, Error> {
    if settings.command.is_empty() && settings.watch == Watch::Command {
        return Err(Error::NothingToRecord);
    }
    let cpus = cpus_of(settings)?;
    let switching = Switching::new(&settings.when)?;
    let interrupts = Rc::new(Interrupts::listen(settings.block_signals())?);
    // What is defined goes after all that is opened.
    let placed = probes::place(settings, note)?;
    let settings = &possible(settings, &placed);
    let mut less = Less::default();
    let attrs = prepare(settings, &interrupts, &mut less, note)?;
    let waited_since = begin::wait_for_processes(settings, &interrupts, note)?;
    let gated = begin::spawn(settings)?;
    let child = gated.as_ref().map(Gated::pid);
    let unrecorded = unrecorded_children(settings);
    let mut scope = scope_of(settings, &attrs, cpus, child, &interrupts)?;
    let OpenedFor { opened, by } = open_all(&attrs, &mut scope, settings, child, note)?;
    opened.tell(note);
    if unrecorded > 0 {
        note(Note::ChildrenUnrecorded {
            processes: unrecorded,
        });
    }
    less.rings = opened.small_rings;
    less.few_files = scope.few_files;
    placed.tell(note);
    note_lacks(settings, &opened, by, less, note);
    let (drained_layout, sideband_layout) = sideband_layouts(&opened);
    let begin = Begin {
        plan: Plan::new(settings, &attrs, &opened, &sideband_layout)?,
        known: known(settings, &placed, &opened, child),
        opened,
        drained_layout,
        sideband_layout,
        left_out: left_out(settings, &attrs),
        rate: settings.rate.unwrap_or(Rate::DEFAULT),
        switching,
        trigger: Trigger::open(settings, &scope, note)?,
        interrupts: Rc::clone(&interrupts),
    };
    // The command is forked already, and keeps its own priority. What is drained late is lost, what is
    // unwound late is truncated; neither takes much time.
    let _priority_guard = sys::run_before_others();
    let mut run = Run::begin(settings, begin)?;
    run.keep_track(by, &scope.threads(), child)?;
    let started = run.start(gated, note);
    begin::note_found(&started, waited_since, note);
    let ended = started.and_then(|()| run.until_stopped(note));
    run.finish(ended, note)
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

/// What is opened.
fn prepare(
    settings: &Settings,
    interrupts: &Interrupts,
    less: &mut Less,
    note: &mut dyn FnMut(Note),
) -> Result<Attrs, Error> {
    let mut attrs = attrs::prepare(settings, interrupts, less, note)?;
    group_attrs::complete(&mut attrs.sampling, Trial::of(settings), note)?;
    Ok(if settings.writing.overwrite {
        attrs.overwriting()
    } else {
        attrs
    })
}

/// Whom it is opened for, and where.
fn scope_of<'i>(
    settings: &Settings,
    attrs: &Attrs,
    cpus: Vec<u32>,
    child: Option<i32>,
    interrupts: &'i Interrupts,
) -> Result<Scope<'i>, Error> {
    let targets = targets_of(settings, child)?;
    let n_rings = match settings.inherit {
        Inherit::PerThread => targets.len(),
        _ => cpus.len(),
    };
    Ok(Scope {
        targets,
        per_thread: settings.inherit == Inherit::PerThread,
        until_exec: settings.watch == Watch::Command && settings.when.is_from_start(),
        ring_pages: ring_size::ring_pages(settings, attrs, n_rings),
        sideband_pages: settings.sideband.ring_pages(),
        is_size_asked: settings.ring_pages.is_some(),
        dump_sizes: attrs.dump_sizes(),
        // What was overwritten is not known to be missing.
        also_by_cpu: !settings.writing.overwrite
            && settings.is_for_all_time()
            && attrs.can_watch_all(settings),
        few_files: None,
        interrupts,
        cpus,
    })
}

/// Says what was asked for and could not be had.
fn note_lacks(
    settings: &Settings,
    opened: &Opened,
    by: SampledBy,
    less: Less,
    note: &mut dyn FnMut(Note),
) {
    let vanished = targets::vanished(settings, opened);
    if by == SampledBy::Thread && !vanished.is_empty() {
        note(Note::Vanished(vanished));
    }
    if less != Less::default() {
        note(Note::Less(less));
    }
}

/// Sideband as the kernel writes it, and as the file has it.
fn sideband_layouts(opened: &Opened) -> (SampleLayout, SampleLayout) {
    let sideband = opened.sideband.events.first();
    let mut sideband = sideband.map_or_else(PerfEventAttr::default, |event| event.attr.clone());
    let drained = SampleLayout::new(&sideband, Endian::NATIVE);
    sideband.flags = sideband.flags.with(AttrFlags::BUILD_ID);
    (drained, SampleLayout::new(&sideband, Endian::NATIVE))
}

/// What is known of machine and recording from the start.
fn known(settings: &Settings, placed: &Placed, opened: &Opened, child: Option<i32>) -> Features {
    let mut known = features::of_machine(&settings.tool, settings.clock);
    known.extend(features::of_tracepoints(&placed.events, &placed.tracefs()));
    let attrs = opened.sampling.events.iter().map(|event| &event.attr);
    known.extend(features::of_branches(attrs));
    let sampled = opened.sampling.events.iter();
    let groupings: Vec<_> = sampled.map(|event| &event.grouping).collect();
    known.extend(groups::section(&groupings));
    known.extend(child.and_then(features::of_command));
    known
}

impl Run<'_> {
    /// Has the drain keep track of what this recording needs to know.
    fn keep_track(
        &mut self,
        by: SampledBy,
        threads: &[i32],
        child: Option<i32>,
    ) -> Result<(), Error> {
        let settings = self.settings;
        let writing = &settings.writing;
        let drain = &mut self.drain;
        let describes_later = writing.switch.is_some() || writing.synthesis_at_end;
        drain.alive = describes_later.then(|| Alive::new(drain.sideband_layout.clone()));
        drain.lineage = (by == SampledBy::Cpu).then(Lineage::default);
        let recorded = child.filter(|_| settings.watch == Watch::Command);
        if let (Some(lineage), Some(child)) = (&mut drain.lineage, recorded) {
            lineage.add(child, &[child]);
        }
        if self.opened.is_extended {
            drain.streams = Some(self.opened.streams()?);
        }
        drain.flight = writing.overwrite.then(Flight::default);
        // A clock's samples are compared with the time that there was.
        let is_compared =
            settings.is_for_all_time() && !writing.overwrite && !settings.fields.no_samples;
        if settings.watch != Watch::All && by == SampledBy::Thread && is_compared {
            let recorded = match settings.watch {
                Watch::Command => Recorded::Command(threads),
                _ => Recorded::Running(threads),
            };
            let (by_thread, by_cpu) = (&self.opened.sampling, self.opened.by_cpu.as_ref());
            drain.coverage = Coverage::of(by_thread, by_cpu, recorded);
        }
        Ok(())
    }
}

/// Children that run already and are not recorded, since that was not asked for.
fn unrecorded_children(settings: &Settings) -> usize {
    match (&settings.watch, settings.children) {
        (Watch::Processes(pids), false) => started_by(pids).len(),
        _ => 0,
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
