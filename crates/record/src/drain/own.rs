//! Samples of the recorder itself.

use crate::drain::head::Head;
use crate::error::Error;
use crate::opening::Group;
use foldhash::HashSet;
use rprof_abi::event_type;
use rprof_events::Event;

/// Which samples are the recorder's own, and left out.
#[derive(Debug)]
pub(crate) struct OwnSamples {
    pid: u32,
    /// Ids of the scheduler's events. All of a CPU's switches make sense only together, and so do wake-ups.
    kept: HashSet<u64>,
}

impl OwnSamples {
    /// Those of this process; `asked` are the events that were asked for.
    pub(crate) fn new(sampling: &Group, asked: &[Event]) -> Result<Self, Error> {
        let is_of_scheduler = |event: &&Event| {
            let tracepoint = event.tracepoint.as_deref();
            tracepoint.is_some_and(|name| name.starts_with("sched:"))
        };
        let tracepoints = asked.iter().filter(is_of_scheduler);
        let tracepoints: HashSet<u64> = tracepoints.map(|event| event.attr.config).collect();
        let mut kept = HashSet::default();
        for event in &sampling.events {
            let is_tracepoint = event.attr.kind == event_type::TRACEPOINT;
            if is_tracepoint && tracepoints.contains(&event.attr.config) {
                for counter in event.all() {
                    let id = counter.id();
                    kept.insert(id.map_err(Error::system("asking for an event's id"))?);
                }
            }
        }
        let pid = std::process::id();
        Ok(Self { pid, kept })
    }

    /// Whether a sample is left out.
    #[inline]
    pub(crate) fn leaves_out(&self, head: &Head) -> bool {
        head.pid == self.pid && !self.kept.contains(&head.id)
    }
}
