//! What is drained, what is written instead, and the unwinder that turns one into the other.

use crate::error::Error;
use crate::interrupts::Interrupts;
use crate::layouts::Layouts;
use crate::live::{DeepStacks, LiveUnwinder, Unreadable, UnwinderSettings};
use crate::opening::attrs::Attrs;
use crate::opening::off_cpu::Purpose;
use crate::opening::stack_dump;
use crate::opening::{EventCounters, Group, Opened};
use crate::output::features::Features;
use crate::output::files::Files;
use crate::settings::Settings;
use crate::sink::Sink;
use crate::thinning::Thinning;
use rprof_abi::{AttrFlags, Machine, PerfEventAttr, SampleLayout};
use rprof_perfdata::WrittenEvent;
use rprof_ringbuf::Counter;
use std::rc::Rc;
use std::sync::Arc;

/// The plan of one recording.
pub(crate) struct Plan {
    /// Events as the file has them.
    pub(crate) written: Vec<WrittenEvent>,
    /// Layouts of drained samples that hold stacks.
    pub(crate) stacks: Option<Layouts>,
    /// Unwinds them.
    pub(crate) unwinder: Option<LiveUnwinder>,
    /// What becomes of stacks that are deeper than their dumps.
    pub(crate) deep_stacks: DeepStacks,
    /// Drops samples for which others stand, if that was asked for.
    pub(crate) thinning: Option<Thinning>,
}

impl Plan {
    /// Creates the output, and starts the thread that writes it. `known` is what is known of machine and recording.
    pub(crate) fn start_output(
        self,
        settings: &Settings,
        known: Features,
        interrupts: &Rc<Interrupts>,
    ) -> Result<(Files, Sink), Error> {
        let (files, writer) = Files::start(settings, self.written, known, interrupts)?;
        let (own, taken) = (Rc::clone(interrupts), files.current.taken());
        let sink = Sink::start(writer, self.unwinder, own, taken)?;
        Ok((files, sink))
    }
}

/// What is drained.
pub(crate) struct DrainedEvents {
    /// Those that are sampled first.
    pub(crate) events: Vec<WrittenEvent>,
    pub(crate) n_sampled: usize,
    pub(crate) deep_stacks: DeepStacks,
    /// Stacks that need more than this count as large.
    pub(crate) small_dump_bytes: u32,
    /// Events whose stacks are read later, if at all.
    pub(crate) read_later: Vec<bool>,
    /// Events for which samples of waiting threads are made.
    pub(crate) blocked: Vec<bool>,
}

impl Plan {
    /// The plan for events that are open. The unwinder is told by `unreadable` which processes cannot be looked into.
    pub(crate) fn new(
        settings: &Settings,
        attrs: &Attrs,
        opened: &Opened,
        sideband: &SampleLayout,
        unreadable: &Arc<Unreadable>,
    ) -> Result<Self, Error> {
        let may_recover =
            attrs.has_auto_dumps() && settings.watchpoints && settings.clock.is_steady();
        let small = attrs.dump_sizes().map(|sizes| sizes.small_bytes);
        let drained = DrainedEvents {
            events: drained_events(opened)?,
            n_sampled: opened.sampling.events.len(),
            // What is read later counts only if it is known to be later.
            deep_stacks: if may_recover {
                DeepStacks::Recovered
            } else {
                DeepStacks::LeftTruncated
            },
            small_dump_bytes: small.unwrap_or(stack_dump::SMALL_BYTES),
            blocked: (opened.sampling.events.iter())
                .map(|event| event.purpose == Purpose::Blocked)
                .collect(),
            read_later: (opened.sampling.events.iter())
                .map(EventCounters::is_read_later)
                .collect(),
        };
        Ok(Self::for_events(settings, drained, sideband, unreadable))
    }

    /// The plan for events that are drained.
    pub(crate) fn for_events(
        settings: &Settings,
        drained: DrainedEvents,
        sideband: &SampleLayout,
        unreadable: &Arc<Unreadable>,
    ) -> Self {
        let sampled = drained.events.iter().take(drained.n_sampled);
        let has_stacks = sampled
            .clone()
            .any(|event| event.attr.sample_stack_user > 0);
        let is_kept = settings.call_chains.keeps_dumps();
        let machine = Machine::native().filter(|_| has_stacks && !is_kept);
        let mut written = drained.events.clone();
        if machine.is_some() {
            let sampled = written.iter_mut().take(drained.n_sampled);
            let registers = settings.fields.user_registers;
            sampled.for_each(|event| event.attr = stack_dump::unwound(&event.attr, registers));
        }
        let layouts = Layouts::new(sampled);
        Self {
            stacks: has_stacks.then(|| layouts.clone()),
            deep_stacks: drained.deep_stacks,
            thinning: (settings.samples_per_hour)
                .map(|per_hour| Thinning::new(per_hour, layouts.clone())),
            unwinder: machine.map(|machine| {
                LiveUnwinder::new(UnwinderSettings {
                    machine,
                    drained: layouts,
                    written: Layouts::new(written.iter().take(drained.n_sampled)),
                    sideband: sideband.clone(),
                    deep_stacks: drained.deep_stacks,
                    small_dump_bytes: drained.small_dump_bytes,
                    clock: settings.clock,
                    unreadable: Arc::clone(unreadable),
                    read_later: drained.read_later,
                    blocked: drained.blocked,
                    kept_files: settings.kept_files.clone(),
                    is_continuous: settings.samples_per_hour.is_some(),
                })
            }),
            written,
        }
    }
}

/// All events as they are opened, with the ids of all their counters.
fn drained_events(opened: &Opened) -> Result<Vec<WrittenEvent>, Error> {
    let of_group = |group: &Group, by_cpu: Option<&Group>, more: AttrFlags| {
        let by_cpu = |nth: usize| by_cpu.and_then(|group| group.events.get(nth));
        let written = |(nth, event): (usize, &EventCounters)| {
            let by_cpu = by_cpu(nth).into_iter().flat_map(EventCounters::all);
            let ids: Result<Vec<u64>, _> = event.all().chain(by_cpu).map(Counter::id).collect();
            Ok(WrittenEvent {
                name: event.name.clone(),
                attr: PerfEventAttr {
                    flags: event.attr.flags.with(more),
                    ..event.attr.clone()
                },
                ids: ids.map_err(Error::system("asking for an event's id"))?,
            })
        };
        let events = group.events.iter().enumerate().map(written);
        events.collect::<Result<Vec<_>, Error>>()
    };
    let none = AttrFlags::default();
    let mut events = of_group(&opened.sampling, opened.by_cpu.as_ref(), none)?;
    // In the file, mappings have build ids: by the kernel or by us.
    events.extend(of_group(&opened.sideband, None, AttrFlags::BUILD_ID)?);
    Ok(events)
}
