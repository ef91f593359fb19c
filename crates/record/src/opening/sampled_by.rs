//! How what was asked for is sampled: by thread, or by CPU where that is not possible.

use crate::error::Error;
use crate::note::Note;
use crate::opening::attrs::Attrs;
use crate::opening::file_limit;
use crate::opening::{Opened, Scope};
use crate::settings::{Inherit, Settings, Watch};
use crate::targets::targets_of;
use foldhash::HashSet;
use rprof_ringbuf::Target;

/// Events, and how they sample what was asked for.
pub(crate) struct OpenedFor {
    pub(crate) opened: Opened,
    pub(crate) by: SampledBy,
}

/// How what was asked for is sampled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SampledBy {
    /// Each thread has its events.
    Thread,
    /// Each CPU has its events, and samples of others are left out.
    Cpu,
}

/// Opens the events of all threads, or those of all CPUs if the former would be too many files.
pub(crate) fn open_all(
    attrs: &Attrs,
    scope: &mut Scope<'_>,
    settings: &Settings,
    child: Option<i32>,
    note: &mut dyn FnMut(Note),
) -> Result<OpenedFor, Error> {
    let is_inherited = settings.watch != Watch::All && settings.inherit == Inherit::Inherited;
    if is_inherited && attrs.has_probes()? {
        return open_by_cpu(attrs, scope, settings);
    }
    match open_threads(attrs, scope, settings, child) {
        Err(Error::OpenFiles { needed, limit, .. })
            if settings.watch != Watch::Command && attrs.can_watch_all(settings) =>
        {
            note(Note::SampledByCpu { needed, limit });
            open_by_cpu(attrs, scope, settings)
        }
        opened => Ok(OpenedFor {
            opened: opened?,
            by: SampledBy::Thread,
        }),
    }
}

/// Opens the events of everybody.
fn open_by_cpu(
    attrs: &Attrs,
    scope: &mut Scope<'_>,
    settings: &Settings,
) -> Result<OpenedFor, Error> {
    scope.targets = vec![Target::All];
    scope.until_exec = false;
    scope.dump_sizes = attrs.dump_sizes();
    scope.also_by_cpu = false;
    file_limit::fit(attrs, scope)?;
    let attrs = attrs.for_everybody(settings);
    let (opened, by) = (Opened::open(&attrs, scope)?, SampledBy::Cpu);
    Ok(OpenedFor { opened, by })
}

/// Opens the events of all threads, and of those that begin meanwhile.
fn open_threads(
    attrs: &Attrs,
    scope: &mut Scope<'_>,
    settings: &Settings,
    child: Option<i32>,
) -> Result<Opened, Error> {
    file_limit::fit(attrs, scope)?;
    let mut opened = Opened::open(attrs, scope)?;
    for _ in 0..MAX_LISTINGS {
        let now = targets_of(settings, child).unwrap_or_default();
        let is_new = |target: &&Target| !scope.targets.contains(*target);
        file_limit::extend(attrs, scope, now.iter().filter(is_new).count())?;
        if !opened.extend(&now, scope)? {
            break;
        }
        scope.targets.extend(now);
    }
    Ok(opened)
}

/// Listing ends also for a process that makes threads faster than they are listed.
const MAX_LISTINGS: usize = 10;

/// Processes that were asked for by their ids, and ended before any event of them was open.
pub(crate) fn vanished(settings: &Settings, opened: &Opened) -> Vec<i32> {
    let Watch::Processes(pids) = &settings.watch else {
        return Vec::new();
    };
    let events = opened.sampling.events.iter();
    let opened: HashSet<i32> = events
        .flat_map(|event| &event.opened_for)
        .filter_map(|(target, _)| match target {
            Target::Thread(tid) => Some(*tid),
            _ => None,
        })
        .collect();
    let is_gone = |pid: &i32| !opened.contains(pid) && rprof_process::threads_of(*pid).is_err();
    pids.iter().copied().filter(is_gone).collect()
}
