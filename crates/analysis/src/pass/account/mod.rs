//! The time of threads as samples: what context switches tell becomes stretches of running, waiting for a CPU, and
//! waiting for something else, each with the stack with which it began, or that was sampled in it.
//!
//! All records are read once more, by all threads, and only what matters is kept of them: 56 bytes of each, until
//! all are in order. What remains is 32 bytes a stretch. For a critical path, they are gone through twice: the runs of
//! all threads are needed to find it, and then it is known which time is on it.

mod activity;
mod command_line;
mod critical;
mod events;
mod finder;
mod followed;
mod kernel_stacks;
mod ledger;
mod locks;
mod open_waits;
mod sources;
mod steps;
mod told;

pub use activity::{ThreadActivity, ThreadEvent};
pub(super) use command_line::leaves_out_cpus;
pub(crate) use critical::WantedPath;
pub use critical::{CriticalPath, PathOwner, PathThread};
pub use events::{for_each_thread_event, has_thread_events};
pub use open_waits::open_waits;

use crate::Error;
use crate::locations::TaskName;
use crate::recording::Recording;
use crate::samples::AccountedSamples;
use followed::Followed;
use ledger::{GatheredRuns, Ledger, OnPath};
pub(super) use locks::tells_of_locks;
use rprof_profile::{Account, Filter};
use rprof_scheduling::PathTimes;
use rprof_untrusted::OverBudget;
use sources::Sources;
use std::ops::RangeInclusive;
use steps::Steps;

/// What an account is made of.
pub(super) struct AccountMade {
    pub(super) samples: AccountedSamples,
    /// The critical path that was asked for.
    pub(super) path: Option<CriticalPath>,
}

/// The samples of an account; `None` for those that were recorded. They are cut where `times` begin and end, if only these
/// are asked for; they have locks if that is asked for.
///
/// # Errors
/// [`Error`] if the recording cannot be read, or does not say when threads ran; if there is no such critical path.
pub(super) fn samples_of(
    recording: &Recording<'_>,
    filter: &Filter,
    wanted: Option<&WantedPath<'_>>,
    (times, has_locks): (Option<&[RangeInclusive<u64>]>, bool),
) -> Result<Option<AccountMade>, Error> {
    let account = filter.account;
    if account == Account::OnCpu {
        return Ok(None);
    }
    let sources = Sources::of(recording.reader, account);
    if sources.off_cpu_event.is_some() && sources.cpu_event.is_some() && !sources.is_clock {
        return Err(Error::NoCpuTime);
    }
    if sources.off_cpu_event.is_some() && wanted.is_some() {
        return Err(Error::NoSwitches);
    }
    let mut steps = Steps::find(recording, sources, has_locks)?;
    let name_at = |tid, time_ns| name_at(recording, tid, time_ns);
    let followed = followed_by(recording, &mut steps);
    let new_ledger = || {
        let mut ledger = Ledger::new(sources, followed.clone(), &name_at);
        ledger.set_spans(recording.spans());
        ledger.set_times(steps.begin_ns(), steps.lost());
        ledger.set_pauses(steps.pauses());
        if let Some(times) = times {
            ledger.cut(times);
        }
        if has_locks {
            ledger.follow_locks();
        }
        if let Some(counted) = filter.counted {
            let waits_end = recording.reader.data().start + counted.waits_bytes;
            ledger.count_since(counted.since_ns, waits_end);
        }
        ledger
    };
    let end_ns = filter.counted.map_or(0, |counted| counted.until_ns);
    let end_ns = end_ns.max(steps.end_ns());
    let mut path = None;
    let mut ledger = new_ledger();
    if let Some(wanted) = wanted {
        ledger.gather(GatheredRuns::new(recording.reader.budget()));
        steps.for_each(|step, facts| ledger.take(step, facts));
        let runs = ledger.take_runs(end_ns);
        if let Some(runs) = runs {
            runs.check()?;
            let found = CriticalPath::find(recording, wanted, &runs.graph, |tid| ledger.pid(tid))?;
            ledger = new_ledger();
            ledger.set_path(OnPath {
                times: PathTimes::of(&found.steps),
                keeps_rest: wanted.keeps_rest,
            });
            path = Some(found);
        }
    }
    steps.for_each(|step, facts| ledger.take(step, facts));
    let mut samples = ledger.finish(end_ns, steps.n_bad())?;
    let of_path = path.iter().flat_map(CriticalPath::warnings);
    let blind = command_line::warning(recording.reader);
    samples.warnings.extend(blind.into_iter().chain(of_path));
    let samples = samples.hold(recording.reader.budget());
    let samples = samples.map_err(|OverBudget| Error::AccountOverBudget)?;
    Ok(Some(AccountMade { samples, path }))
}

/// What a thread was called at a moment.
fn name_at(recording: &Recording<'_>, tid: i32, time_ns: u64) -> TaskName {
    let index = &recording.index;
    let key = index.key(Some(time_ns), u64::MAX);
    TaskName::at(&index.history, tid, key)
}

/// Whose switches are recorded, as the records and the recorder's command line say.
fn followed_by(recording: &Recording<'_>, steps: &mut Steps) -> Followed {
    let mut followed = steps.take_followed();
    followed.everybody |= command_line::is_of_everybody(recording.reader);
    followed.misses_cpus = command_line::misses_cpus(recording.reader);
    followed
}
