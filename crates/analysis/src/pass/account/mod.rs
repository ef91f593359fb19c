//! The time of threads as samples: what context switches tell becomes stretches of running, waiting for a CPU, and waiting
//! for something else, each with the stack with which it began, or that was sampled in it.
//!
//! All records are read once more, by all threads, and only what matters is kept of them: some 50 bytes a switch, until
//! all are in order. What remains is 40 bytes a stretch.

mod kernel_stacks;
mod ledger;
mod steps;

use crate::Error;
use crate::about::{is_off_cpu_time, kind_of};
use crate::recording::Recording;
use crate::samples::AccountedSamples;
use ledger::Ledger;
use rprof_abi::{AttrFlags, SampleType, event_type, sw};
use rprof_perfdata::{Reader, RecordedEvent};
use rprof_profile::{Account, EventKind};
use steps::Steps;

/// What tells of the time of threads in a recording.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Sources {
    account: Account,
    /// The event whose samples say where time on a CPU went.
    cpu_event: Option<usize>,
    /// Whether its periods are nanoseconds.
    is_clock: bool,
    /// The event of the waits that perf has written.
    off_cpu_event: Option<usize>,
    /// Whether all records say on which CPU they are.
    have_cpus: bool,
}

impl Sources {
    fn of(reader: &Reader, account: Account) -> Self {
        let events = || reader.events().iter().enumerate();
        let rank = |event: &RecordedEvent| match kind_of(event) {
            EventKind::CpuTime => Some(0),
            EventKind::Cycles => Some(1),
            EventKind::Counter => Some(2),
            EventKind::OffCpuTime | EventKind::WallTime | EventKind::Occurrence => None,
        };
        let ranked = events().filter(|(_, event)| !event.is_dummy());
        let ranked = ranked.filter_map(|(at, event)| Some((rank(event)?, at)));
        let cpu_event = ranked.min().filter(|_| account == Account::Wall);
        let off_cpu_event = events().find(|(_, event)| is_off_cpu_time(event));
        Self {
            account,
            cpu_event: cpu_event.map(|(_, at)| at),
            is_clock: cpu_event.is_some_and(|(rank, _)| rank == 0),
            off_cpu_event: off_cpu_event.map(|(at, _)| at),
            have_cpus: events().all(|(_, event)| event.attr.sample_type.has(SampleType::CPU)),
        }
    }
}

/// Whether samples of an event are taken at each context switch, of the thread that leaves its CPU.
fn is_context_switches(event: &RecordedEvent) -> bool {
    let attr = &event.attr;
    (attr.kind, attr.config) == (event_type::SOFTWARE, sw::CONTEXT_SWITCHES)
        && attr.sample_period == 1
        && !attr.flags.has(AttrFlags::FREQ)
}

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
    let mut ledger = Ledger::new(sources);
    let steps = Steps::find(recording, sources)?;
    ledger.set_gaps(steps.gaps());
    let (end_ns, n_bad) = (steps.end_ns(), steps.n_bad());
    steps.for_each(|step, facts| ledger.take(&step, facts));
    ledger.finish(end_ns, n_bad).map(Some)
}
