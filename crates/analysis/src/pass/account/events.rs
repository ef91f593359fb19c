//! What threads do, with its times: for those who show when it was, and not how much.

use super::activity::ThreadEvent;
use super::command_line;
use super::ledger::Ledger;
use super::sources::Sources;
use super::steps::Steps;
use super::{followed_by, name_at};
use crate::Error;
use crate::recording::Recording;
use crate::samples::tells_of_waits;
use rprof_profile::Account;

/// Whether a recording says when threads ran and when they waited. Waits that perf has added up have no times.
pub fn has_thread_events(recording: &Recording<'_>) -> bool {
    let sources = Sources::of(recording.reader, Account::OffCpu);
    recording.index.has_times && sources.off_cpu_event.is_none() && tells_of_waits(recording.reader)
}

/// Calls `visit` for all that threads did, with whether the switches of all threads are recorded: if so, a CPU without a
/// thread is idle. Returns what could not be used, one sentence each.
///
/// # Errors
/// [`Error`] if the recording cannot be read, or does not say when threads ran.
pub fn for_each_thread_event(
    recording: &Recording<'_>,
    visit: &mut dyn FnMut(bool, ThreadEvent),
) -> Result<Vec<String>, Error> {
    let sources = Sources::of(recording.reader, Account::OffCpu);
    let mut steps = Steps::find(recording, sources, false)?;
    let name_at = |tid, time_ns| name_at(recording, tid, time_ns);
    let followed = followed_by(recording, &mut steps);
    let is_everybody = followed.is_everybody();
    // Threads that left would seem to wait for ever.
    if !is_everybody && !followed.has_records {
        return Err(Error::NoSwitchesIn);
    }
    let mut listener = |event| visit(is_everybody, event);
    let mut ledger = Ledger::new(sources, followed, &name_at).told_to(&mut listener);
    ledger.set_times(steps.begin_ns(), steps.lost());
    ledger.set_pauses(steps.pauses());
    let (end_ns, n_bad) = (steps.end_ns(), steps.n_bad());
    steps.for_each(|step, facts| ledger.take(step, facts));
    let samples = ledger.finish(end_ns, n_bad)?;
    let mut warnings = samples.warnings;
    warnings.extend(command_line::warning(recording.reader));
    Ok(warnings)
}
