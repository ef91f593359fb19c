//! Every event of every thread on every CPU is an open file: how many are needed, whether the
//! limit allows them, and what needs fewer.

use crate::error::Error;
use crate::note::FewFiles;
use crate::opening::Scope;
use crate::opening::attrs::{Attrs, Prepared};
use rprof_base::Counted;
use rprof_ringbuf::Target;
use rprof_ringbuf::sys::OpenFilesLimit;

/// Files that are open for a moment, beside events: the recording, binaries and files in `/proc`.
const RESERVE: u64 = 6;

/// Rings of a CPU, or of a thread that has its own: for samples and for sideband.
const RINGS_EACH: u64 = 2;

/// Raises the limit if need be. If that is not enough, CPUs are not sampled later, and stack dumps have one
/// size.
///
/// # Errors
/// [`Error::OpenFiles`] if even that is too much.
pub(crate) fn fit(attrs: &Attrs, scope: &mut Scope<'_>) -> Result<(), Error> {
    let others = open_now() + RESERVE + ring_owners(scope);
    let mut needed = others + events(attrs, scope);
    let mut limit = OpenFilesLimit::now().soft;
    if needed > limit && OpenFilesLimit::raise() {
        limit = OpenFilesLimit::now().soft;
    }
    let (all, with_everybody) = (needed, scope.also_by_cpu);
    if needed > limit && scope.also_by_cpu {
        scope.also_by_cpu = false;
        needed = others + events(attrs, scope);
    }
    if needed > limit && scope.dump_sizes.is_some() {
        scope.dump_sizes = None;
        needed = others + events(attrs, scope);
    }
    if needed <= limit {
        scope.few_files = (needed < all).then_some(FewFiles {
            needed: all,
            limit,
            is_short_missed: with_everybody,
        });
        return Ok(());
    }
    Err(too_many(attrs, scope, needed))
}

/// Makes sure that `n_new` more threads can be watched.
///
/// # Errors
/// [`Error::OpenFiles`] if not.
pub(crate) fn extend(attrs: &Attrs, scope: &Scope<'_>, n_new: usize) -> Result<(), Error> {
    let own_rings = if scope.per_thread { RINGS_EACH } else { 0 };
    let each = events_of_thread(attrs, scope) + own_rings;
    let needed = open_now() + RESERVE + each * n_new as u64;
    let fits = || needed <= OpenFilesLimit::now().soft;
    if fits() || OpenFilesLimit::raise() && fits() {
        Ok(())
    } else {
        Err(too_many(attrs, scope, needed))
    }
}

/// Whether `n_files` more can be open, beside what is needed.
pub(crate) fn leaves(n_files: usize) -> bool {
    open_now() + RESERVE + n_files as u64 <= OpenFilesLimit::now().soft
}

/// The error for this number.
fn too_many(attrs: &Attrs, scope: &Scope<'_>, needed: u64) -> Error {
    let others = needed.saturating_sub(events(attrs, scope));
    let (n_threads, n_cpus) = (scope.targets.len(), scope.cpus.len());
    let each = events_each(attrs, scope);
    let cpus = Counted::new(n_cpus as u64, "CPU", "CPUs");
    let events = Counted::new(each, "event", "events");
    let what = match scope.targets.first() {
        Some(Target::All) => format!("{cpus} x {events}, and {others}"),
        _ => {
            let threads = Counted::new(n_threads as u64, "thread", "threads");
            if scope.per_thread {
                format!("{threads} x {events}, and {others}")
            } else {
                format!("{threads} x {cpus} x {events}, and {others}")
            }
        }
    };
    let advice = match n_threads {
        0 | 1 => "",
        _ => {
            ", record fewer threads (-t) or CPUs (-C), or record system-wide (-a), which needs fewer files"
        }
    };
    Error::OpenFiles {
        needed,
        what,
        limit: OpenFilesLimit::now().soft,
        advice: advice.to_owned(),
    }
}

/// Files that rings are mapped with.
fn ring_owners(scope: &Scope<'_>) -> u64 {
    let places = if scope.per_thread {
        scope.targets.len()
    } else {
        scope.cpus.len()
    };
    RINGS_EACH * places as u64
}

/// Files of all events.
fn events(attrs: &Attrs, scope: &Scope<'_>) -> u64 {
    let by_cpu = if scope.also_by_cpu {
        sampling(attrs, scope)
    } else {
        0
    };
    scope.targets.len() as u64 * events_of_thread(attrs, scope) + by_cpu
}

/// Files of one thread's events.
fn events_of_thread(attrs: &Attrs, scope: &Scope<'_>) -> u64 {
    sampling(attrs, scope) + on_cpus(&attrs.sideband, scope)
}

/// Files of the sampling ones.
fn sampling(attrs: &Attrs, scope: &Scope<'_>) -> u64 {
    let events = attrs.sampling.iter();
    events.map(|event| on_cpus(event, scope)).sum::<u64>() * n_dump_sizes(scope)
}

/// CPUs that an event is opened on.
fn on_cpus(event: &Prepared, scope: &Scope<'_>) -> u64 {
    match &event.cpus {
        _ if scope.per_thread => 1,
        None => scope.cpus.len() as u64,
        Some(own) => scope.cpus.iter().filter(|cpu| own.contains(cpu)).count() as u64,
    }
}

/// Events of each thread on each CPU.
fn events_each(attrs: &Attrs, scope: &Scope<'_>) -> u64 {
    attrs.sampling.len() as u64 * n_dump_sizes(scope) + 1
}

fn n_dump_sizes(scope: &Scope<'_>) -> u64 {
    if scope.dump_sizes.is_some() { 2 } else { 1 }
}

/// Files that are open now, with the folder that says so.
fn open_now() -> u64 {
    std::fs::read_dir("/proc/self/fd").map_or(8, |files| files.count() as u64)
}
