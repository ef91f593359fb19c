//! What was opened is told, event by event.

use crate::note::{Note, OpenedEvent, OpenedFor};
use crate::opening::Opened;
use rprof_abi::PerfEventAttr;

impl Opened {
    /// Tells each event.
    pub(crate) fn tell(&self, note: &mut dyn FnMut(Note)) {
        let sampling = self.sampling.events.iter();
        let sampling = sampling.map(|event| (event, OpenedFor::Samples));
        let sideband = self.sideband.events.iter();
        let sideband = sideband.map(|event| (event, OpenedFor::Sideband));
        let everybody = self.by_cpu.iter().flat_map(|group| &group.events);
        let everybody = everybody.map(|event| (event, OpenedFor::Everybody));
        for (event, opened_for) in sampling.chain(sideband).chain(everybody) {
            let told = |attr: &PerfEventAttr, n_counters, opened_for| {
                let event = OpenedEvent {
                    name: event.name.clone(),
                    attr: attr.clone(),
                    n_counters,
                    opened_for,
                };
                Note::Opened(Box::new(event))
            };
            note(told(&event.attr, event.counters.len(), opened_for));
            if let Some(small) = &event.small_dumps {
                note(told(
                    &small.attr,
                    small.counters.len(),
                    OpenedFor::SmallDumps,
                ));
            }
        }
    }
}
