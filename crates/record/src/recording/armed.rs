//! Second phase: events are open and off, and the command waits.

use super::plan::Plan;
use super::prepared::Prepared;
use super::recorder::Recorder;
use super::running::{Ready, Running};
use crate::control::Control;
use crate::cpu_budget::Budget;
use crate::drain::alive::Alive;
use crate::drain::coverage::{Coverage, Recorded};
use crate::drain::flight::Flight;
use crate::drain::lineage::Lineage;
use crate::drain::off_cpu::{OffCpuSamples, Wakees};
use crate::drain::own::OwnSamples;
use crate::drain::streams::Streams;
use crate::drain::{Drain, DrainedSamples, Tracked};
use crate::error::Error;
use crate::live::{DeepStacks, Unreadable};
use crate::opening::off_cpu::OffCpuEvents;
use crate::opening::sampled_by::SampledBy;
use crate::opening::{Opened, groups, span_attrs};
use crate::output::features::{self, Features};
use crate::output::trigger::Trigger;
use crate::pauses::Pauses;
use crate::settings::{Rate, Watch};
use rprof_abi::{AttrFlags, Endian, PerfEventAttr, SampleLayout, SampleType};
use rprof_events::Event;
use rprof_process::Gated;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Everything that is open, and the command that waits for it.
pub(super) struct Armed {
    pub(super) opened: Opened,
    pub(super) by: SampledBy,
    /// Those that events were opened for.
    pub(super) threads: Vec<i32>,
    /// Rotates the output file.
    pub(super) trigger: Option<Trigger>,
    pub(super) gated: Option<Gated>,
    /// When processes were first waited for.
    pub(super) waited_since: Option<Instant>,
    pub(super) prepared: Prepared,
}

impl Armed {
    /// Creates the output, and starts the thread that writes it.
    pub(super) fn create_output(self) -> Result<Ready, Error> {
        let Prepared {
            settings, attrs, ..
        } = &self.prepared;
        let layouts = SidebandLayouts::new(&self.opened);
        let unreadable = Arc::new(Unreadable::new());
        let mut plan = Plan::new(settings, attrs, &self.opened, &layouts.written, &unreadable)?;
        let has_dump_sizes = attrs.has_auto_dumps();
        let now = Instant::now();
        let control = if has_dump_sizes {
            Control::new(now, self.opened.dump_size)
        } else {
            Control::with_fixed_dump_size(now)
        };
        let control = match plan.deep_stacks {
            DeepStacks::Recovered => control,
            DeepStacks::LeftTruncated => control.leaving_deep_stacks(),
        };
        let rate = settings.rate.unwrap_or(Rate::DEFAULT);
        let unwinds = plan.unwinder.is_some();
        let budget = (settings.cpu_percent)
            .map(|percent| Budget::new(percent, rate, has_dump_sizes, unwinds));
        let samples = DrainedSamples {
            stacks: plan.stacks.clone(),
            own: self.left_out()?,
            clock: settings.clock,
        };
        let tracked = Tracked {
            thinning: plan.thinning.take(),
            ..self.tracked(&layouts.drained)?
        };
        let interrupts = &self.prepared.interrupts;
        let (files, sink) = plan.start_output(settings, self.known(), interrupts)?;
        let pauses = if settings.when.is_always() {
            Pauses::default()
        } else {
            Pauses::of_events(self.opened.sampling.events.len())
        };
        let recorder = Recorder {
            drain: Drain::new(layouts.drained, samples, tracked),
            sink,
            opened: self.opened,
            files,
            sideband_layout: layouts.written,
            budget,
            pauses,
            interrupts: self.prepared.interrupts,
            settings: self.prepared.settings,
            defined: self.prepared.placed.defined,
        };
        Ok(Ready {
            running: Running {
                recorder,
                control,
                toggling: self.prepared.toggling,
                trigger: self.trigger,
                command: None,
            },
            unreadable,
            gated: self.gated,
            waited_since: self.waited_since,
        })
    }

    fn child(&self) -> Option<i32> {
        self.gated.as_ref().map(Gated::pid)
    }

    /// What the drain keeps track of, as far as this recording needs to know it.
    fn tracked(&self, sideband: &SampleLayout) -> Result<Tracked, Error> {
        let settings = &self.prepared.settings;
        let writing = &settings.writing;
        let describes_later = writing.rotation.is_some() || writing.synthesis_at_end;
        let mut lineage = (self.by == SampledBy::Cpu).then(Lineage::default);
        if let (Some(lineage), Some(child), Watch::Command) =
            (&mut lineage, self.child(), &settings.watch)
        {
            lineage.add(child, &[child]);
        }
        // A clock's samples are compared with the time that there was.
        let is_compared =
            settings.is_for_all_time() && !writing.overwrite && !settings.fields.no_samples;
        let is_covered =
            settings.watch != Watch::All && self.by == SampledBy::Thread && is_compared;
        let recorded = match settings.watch {
            Watch::Command => Recorded::Command(&self.threads),
            _ => Recorded::Running(&self.threads),
        };
        let (sampling, by_cpu) = (&self.opened.sampling, self.opened.by_cpu.as_ref());
        let coverage = is_covered.then(|| Coverage::new(sampling, by_cpu, recorded));
        let is_extended = self.opened.is_extended;
        let threshold = settings
            .off_cpu
            .map_or(Duration::ZERO, |off_cpu| off_cpu.threshold);
        let held = (threshold, settings.clock);
        let off_cpu = OffCpuSamples::new(&self.opened.sampling, self.wakees(), held)?;
        let lag = (writing.flight.as_ref()).map_or(Duration::ZERO, |flight| flight.around);
        let alive = describes_later.then(|| Alive::new(sideband.clone()).with_lag(lag));
        Ok(Tracked {
            alive,
            lineage,
            coverage: coverage.flatten(),
            streams: is_extended.then(|| Streams::new(sampling)).transpose()?,
            off_cpu,
            flight: writing.overwrite.then(Flight::default),
            thinning: None,
        })
    }

    /// Whose wake-ups are kept.
    fn wakees(&self) -> Wakees {
        match (&self.prepared.settings.watch, self.by) {
            (Watch::All, _) => Wakees::All,
            (_, SampledBy::Cpu) => Wakees::Lineage,
            _ => Wakees::of_threads(&self.threads),
        }
    }

    /// What is known of machine and recording from the start.
    fn known(&self) -> Features {
        let Prepared {
            settings, placed, ..
        } = &self.prepared;
        let events = &self.opened.sampling.events;
        let groupings: Vec<_> = events.iter().map(|event| &event.grouping).collect();
        let mut known = features::of_machine(&settings.tool, settings.clock);
        let off_cpu = self.prepared.off_cpu.as_ref();
        let tracefs = off_cpu.and_then(OffCpuEvents::tracefs);
        let tracefs = tracefs.unwrap_or_else(|| placed.tracefs());
        let switches = off_cpu.into_iter().flat_map(OffCpuEvents::plain);
        let edges = placed.edges.iter().map(|(_, event)| event);
        let all = placed.events.iter().chain(edges).chain(switches);
        let all: Vec<Event> = all.cloned().collect();
        known.extend(features::of_tracepoints(&all, &tracefs));
        known.extend(features::of_branches(
            events.iter().map(|event| &event.attr),
        ));
        known.extend(groups::section(&groupings));
        known.extend(span_attrs::section(events, &settings.spans));
        known.extend(self.child().and_then(features::of_command));
        known
    }

    /// The recorder's own samples, if they are left out. No sample is left out where samples have
    /// values of counters: readers take the differences from sample to sample.
    fn left_out(&self) -> Result<Option<OwnSamples>, Error> {
        let Prepared {
            settings,
            attrs,
            placed,
            ..
        } = &self.prepared;
        let has_values =
            (attrs.sampling.iter()).any(|event| event.attr.sample_type.has(SampleType::READ));
        let is_own = settings.watch == Watch::All && !settings.include_self && !has_values;
        let own = || OwnSamples::new(&self.opened.sampling, &placed.events);
        is_own.then(own).transpose()
    }
}

/// Sideband as the kernel writes it, and as the file has it.
struct SidebandLayouts {
    drained: SampleLayout,
    written: SampleLayout,
}

impl SidebandLayouts {
    fn new(opened: &Opened) -> Self {
        let sideband = opened.sideband.events.first();
        let mut attr = sideband.map_or_else(PerfEventAttr::default, |event| event.attr.clone());
        let drained = SampleLayout::new(&attr, Endian::NATIVE);
        attr.flags = attr.flags.with(AttrFlags::BUILD_ID);
        let written = SampleLayout::new(&attr, Endian::NATIVE);
        Self { drained, written }
    }
}
