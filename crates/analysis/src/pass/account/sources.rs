//! Which events of a recording tell of the time of threads.

use crate::about::{is_off_cpu_time, kind_of};
use rprof_abi::{AttrFlags, SampleType, event_type, sw};
use rprof_perfdata::{Reader, RecordedEvent};
use rprof_profile::{Account, EventKind};

/// What tells of the time of threads in a recording.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Sources {
    pub(super) account: Account,
    /// The event whose samples say where time on a CPU went.
    pub(super) cpu_event: Option<usize>,
    /// Whether its periods are nanoseconds.
    pub(super) is_clock: bool,
    /// The event of the waits that perf has written.
    pub(super) off_cpu_event: Option<usize>,
    /// Whether events are those of children and new threads, too.
    pub(super) is_inherited: bool,
    /// Whether all records say on which CPU they are.
    pub(super) have_cpus: bool,
}

impl Sources {
    pub(super) fn of(reader: &Reader, account: Account) -> Self {
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
        let mut sampling = reader.events().iter().filter(|event| !event.is_dummy());
        Self {
            account,
            is_inherited: sampling.any(|event| event.attr.flags.has(AttrFlags::INHERIT)),
            cpu_event: cpu_event.map(|(_, at)| at),
            is_clock: cpu_event.is_some_and(|(rank, _)| rank == 0),
            off_cpu_event: off_cpu_event.map(|(at, _)| at),
            have_cpus: events().all(|(_, event)| event.attr.sample_type.has(SampleType::CPU)),
        }
    }
}

/// Whether samples of an event are taken at each context switch, of the thread that leaves its CPU.
pub(super) fn is_context_switches(event: &RecordedEvent) -> bool {
    let attr = &event.attr;
    (attr.kind, attr.config) == (event_type::SOFTWARE, sw::CONTEXT_SWITCHES)
        && attr.sample_period == 1
        && !attr.flags.has(AttrFlags::FREQ)
}
