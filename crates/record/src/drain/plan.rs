//! What is drained, what is written instead, and the unwinder that turns one into the other.

use crate::control::Control;
use crate::drain::layouts::Layouts;
use crate::live::{DeepStacks, LiveUnwinder, Unreadable, UnwinderSettings};
use crate::opening::attrs::Attrs;
use crate::opening::stack_dump;
use crate::opening::{EventCounters, Opened};
use crate::{Error, Settings};
use rprof_abi::Machine;
use rprof_abi::{AttrFlags, PerfEventAttr, SampleLayout};
use rprof_perfdata::WrittenEvent;
use rprof_ringbuf::Counter;
use std::sync::Arc;
use std::time::Instant;

/// The plan of one recording.
pub(crate) struct Plan {
    /// Events as the file has them.
    pub(crate) written: Vec<WrittenEvent>,
    /// Layouts of drained samples that hold stacks.
    pub(crate) stacks: Option<Layouts>,
    /// Unwinds them.
    pub(crate) unwinder: Option<LiveUnwinder>,
    /// Decides after each pass.
    pub(crate) control: Control,
    /// What it is told.
    pub(crate) unreadable: Arc<Unreadable>,
}

impl Plan {
    pub(crate) fn new(
        settings: &Settings,
        attrs: &Attrs,
        opened: &Opened,
        sideband: &SampleLayout,
    ) -> Result<Self, Error> {
        let is_auto = attrs.has_auto_dumps();
        let drained = DrainedEvents {
            events: drained_events(opened)?,
            n_sampled: opened.sampling.events.len(),
            // What is read later counts only if it is known to be later.
            deep_stacks: if is_auto && settings.watchpoints && settings.clock.is_steady() {
                DeepStacks::Recovered
            } else {
                DeepStacks::LeftTruncated
            },
        };
        let now = Instant::now();
        let control = if is_auto {
            Control::new(now, opened.dump_size)
        } else {
            Control::of_fixed_dump_size(now)
        };
        let mut plan = Self::of(settings, drained, sideband, control);
        if let (Some(unwinder), Some(sizes)) = (&mut plan.unwinder, attrs.dump_sizes()) {
            unwinder.small_dump_bytes = sizes.small_bytes;
        }
        Ok(plan)
    }

    /// The plan for events that are drained.
    pub(crate) fn of(
        settings: &Settings,
        drained: DrainedEvents,
        sideband: &SampleLayout,
        control: Control,
    ) -> Self {
        let DrainedEvents {
            events: drained,
            n_sampled,
            deep_stacks,
        } = drained;
        let mut sampled = drained.iter().take(n_sampled);
        let has_stacks = sampled.any(|event| event.attr.sample_stack_user > 0);
        let is_kept = settings.call_chains.keeps_dumps();
        let machine = Machine::native().filter(|_| has_stacks && !is_kept);
        let mut written = drained.clone();
        if machine.is_some() {
            let sampled = written.iter_mut().take(n_sampled);
            let registers = settings.fields.user_registers;
            sampled.for_each(|event| event.attr = stack_dump::unwound(&event.attr, registers));
        }
        let layouts = |events: &[WrittenEvent]| {
            let mut layouts = Layouts::default();
            let sampled = events.iter().take(n_sampled);
            sampled.for_each(|event| layouts.add(&event.attr, &event.ids));
            layouts
        };
        let unreadable = Arc::new(Unreadable::new());
        Self {
            stacks: has_stacks.then(|| layouts(&drained)),
            unwinder: machine.map(|machine| {
                LiveUnwinder::new(UnwinderSettings {
                    machine,
                    drained: layouts(&drained),
                    written: layouts(&written),
                    sideband: sideband.clone(),
                    deep_stacks,
                    clock: settings.clock,
                    unreadable: Arc::clone(&unreadable),
                    kept_files: settings.kept_files.clone(),
                })
            }),
            control,
            unreadable,
            written,
        }
    }
}

/// What is drained.
pub(crate) struct DrainedEvents {
    /// Those that are sampled first.
    pub(crate) events: Vec<WrittenEvent>,
    pub(crate) n_sampled: usize,
    pub(crate) deep_stacks: DeepStacks,
}

/// All events as they are opened, with the ids of all their counters.
fn drained_events(opened: &Opened) -> Result<Vec<WrittenEvent>, Error> {
    let mut events = Vec::new();
    // In the file, mappings have build ids: by the kernel or by us.
    let sideband = (&opened.sideband, AttrFlags::BUILD_ID);
    for (group, more) in [(&opened.sampling, AttrFlags::default()), sideband] {
        for (nth, event) in group.events.iter().enumerate() {
            let by_cpu = opened
                .by_cpu
                .as_ref()
                .filter(|_| more == AttrFlags::default());
            let by_cpu = by_cpu.and_then(|by_cpu| by_cpu.events.get(nth));
            let all = event
                .all()
                .chain(by_cpu.into_iter().flat_map(EventCounters::all));
            let ids: Result<Vec<u64>, _> = all.map(Counter::id).collect();
            events.push(WrittenEvent {
                name: event.name.clone(),
                attr: PerfEventAttr {
                    flags: event.attr.flags.with(more),
                    ..event.attr.clone()
                },
                ids: ids.map_err(Error::system("asking for an event's id"))?,
            });
        }
    }
    Ok(events)
}
