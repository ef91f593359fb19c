//! The time of threads as samples: what context switches tell becomes stretches of running, waiting for a CPU, and
//! waiting for something else, each with the stack with which it began, or that was sampled in it.
//!
//! All records are read once more, by all threads, and only what matters is kept of them: 56 bytes of each, until
//! all are in order. What remains is 32 bytes a stretch.

mod command_line;
mod finder;
mod followed;
mod kernel_stacks;
mod ledger;
mod sources;
mod steps;
mod told;

use crate::Error;
use crate::locations::TaskName;
use crate::recording::Recording;
use crate::samples::AccountedSamples;
use ledger::Ledger;
use rprof_profile::Account;
use rprof_untrusted::OverBudget;
use sources::Sources;
use steps::Steps;

/// The samples of an account; `None` for those that were recorded.
///
/// # Errors
/// [`Error`] if the recording cannot be read, or does not say when threads ran.
pub(super) fn samples_of(
    recording: &Recording<'_>,
    account: Account,
) -> Result<Option<AccountedSamples>, Error> {
    if account == Account::OnCpu {
        return Ok(None);
    }
    let sources = Sources::of(recording.reader, account);
    if sources.off_cpu_event.is_some() && sources.cpu_event.is_some() && !sources.is_clock {
        return Err(Error::NoCpuTime);
    }
    let mut steps = Steps::find(recording, sources)?;
    let index = &recording.index;
    let name_at = |tid, time_ns| {
        let key = index.key(Some(time_ns), u64::MAX);
        TaskName::at(&index.history, tid, key)
    };
    let mut followed = steps.take_followed();
    followed.everybody |= command_line::is_of_everybody(recording.reader);
    let mut ledger = Ledger::new(sources, followed, &name_at);
    ledger.set_times(steps.begin_ns(), steps.gaps());
    let (end_ns, n_bad) = (steps.end_ns(), steps.n_bad());
    steps.for_each(|step, facts| ledger.take(&step, facts));
    let mut samples = ledger.finish(end_ns, n_bad)?;
    samples
        .warnings
        .extend(command_line::warning(recording.reader));
    let held = samples.hold(recording.reader.budget());
    held.map(Some)
        .map_err(|OverBudget| Error::AccountOverBudget)
}
