//! Attrs and scope of events that are looked at only.

use crate::opening::Scope;
use crate::opening::attrs::Prepared;
use crate::opening::filter::Filter;
use rprof_abi::{AttrFlags, SampleType};
use rprof_events::Event;
use rprof_probes::text_of;
use rprof_ringbuf::Target;

impl Scope<'_> {
    /// The same for what is looked at only, of some targets.
    pub(super) fn of_trigger(&self, targets: Vec<Target>) -> Self {
        Self {
            targets,
            cpus: self.cpus.clone(),
            per_thread: false,
            until_exec: false,
            dump_sizes: None,
            also_by_cpu: false,
            ..*self
        }
    }
}

/// An event that wakes the recorder up each time, unless it has a period of its own.
pub(super) fn prepared(event: &Event, is_for_all: bool) -> Prepared {
    let mut attr = event.attr.clone();
    attr.sample_period = attr.sample_period.max(1);
    attr.sample_type = SampleType::IDENTIFIER.with(SampleType::TID);
    attr.flags = attr
        .flags
        .with(AttrFlags::DISABLED)
        .with(AttrFlags::WATERMARK);
    attr.wakeup = 1;
    if !is_for_all && event.probe.is_none() {
        attr.flags = attr.flags.with(AttrFlags::INHERIT);
    }
    if !is_for_all && event.user_only().is_some() {
        let flags = attr.flags.with(AttrFlags::EXCLUDE_KERNEL);
        attr.flags = flags.with(AttrFlags::EXCLUDE_HV);
    }
    Prepared {
        cpus: event.cpus.clone(),
        text: text_of(event),
        filter: Filter::from_event(event),
        ..Prepared::new(event.name.clone(), attr)
    }
}
