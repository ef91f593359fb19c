//! The attrs that are opened: what to sample, and the dummy that carries sideband.

use crate::error::{Error, SIDEBAND};
use crate::interrupts::Interrupts;
use crate::note::{Degraded, Note};
use crate::opening::filter::Filter;
use crate::opening::kernel_limits::{allowed_rate, check_max_stack};
use crate::opening::off_cpu::Purpose;
use crate::opening::stack_dump;
use crate::opening::stack_dump::{DumpSizes, UserChain};
use crate::opening::trial::Trial;
use crate::settings::{CallChains, Inherit, Rate, Settings, Space, Watch};
use rprof_abi::{
    AttrFlags, BranchSampleType, PerfEventAttr, ReadFormat, SampleType, event_type, sw,
};
use rprof_events::{Event, Grouping, ProbedCode, Sources, cpu_clock, default_events};
use rprof_probes::{is_defined, text_of};
use rprof_ringbuf::sys::Clock;
use rprof_ringbuf::{OpenError, OpenWith, fit};
use rprof_targets::rights::refusal::{self, Wanted};
use rprof_targets::rights::{self, Facts};
use rprof_targets::{CgroupFolder, Cgroups};
use std::ffi::CString;

/// An event ready to be opened on every CPU of every target.
#[derive(Clone, Debug)]
pub(crate) struct Prepared {
    pub(crate) name: String,
    pub(crate) attr: PerfEventAttr,
    /// CPUs its PMU has; `None` for all.
    pub(crate) cpus: Option<Vec<u32>>,
    pub(crate) grouping: Grouping,
    /// What the kernel wants with a probe: a path, or the name of a function.
    pub(crate) text: Option<CString>,
    /// Only what runs in it.
    pub(crate) cgroup: Option<CgroupFolder>,
    pub(crate) call_chains: CallChains,
    /// Which hits are sampled.
    pub(crate) filter: Option<Filter>,
    pub(crate) purpose: Purpose,
    /// A probe that is defined in tracefs: it may be of everybody only if everybody is recorded.
    pub(crate) is_defined: bool,
}

impl Prepared {
    /// An event of all CPUs that stands alone, without call chains.
    pub(crate) fn new(name: String, attr: PerfEventAttr) -> Self {
        Self {
            name,
            attr,
            cpus: None,
            grouping: Grouping::Alone,
            text: None,
            cgroup: None,
            call_chains: CallChains::None,
            filter: None,
            purpose: Purpose::Asked,
            is_defined: false,
        }
    }
}

/// Everything that is opened.
#[derive(Clone, Debug)]
pub(crate) struct Attrs {
    pub(crate) sampling: Vec<Prepared>,
    pub(crate) sideband: Prepared,
}

impl Attrs {
    /// The sizes of stack dumps that follow what is needed; `None` if there are no such dumps.
    ///
    /// Where each sample is a hit of an event, such as a probe, hits may come as fast as the program runs, and all of
    /// them are wanted. So dumps are small at first, and smaller.
    pub(crate) fn dump_sizes(&self) -> Option<DumpSizes> {
        let mut auto = (self.sampling.iter()).filter(|event| event.call_chains == CallChains::Auto);
        let of_hits = auto.all(|event| stack_dump::is_of_hits(&event.attr));
        self.has_auto_dumps().then_some(if of_hits {
            DumpSizes::OF_HITS
        } else {
            DumpSizes::OF_CLOCKS
        })
    }

    /// Whether stack dumps of an event have the size that is needed.
    pub(crate) fn has_auto_dumps(&self) -> bool {
        let is_auto = |event: &Prepared| event.call_chains == CallChains::Auto;
        self.sampling.iter().any(is_auto)
    }

    /// Whether there are probes.
    ///
    /// # Errors
    /// [`Error::ProbeAndValues`] if there are and samples of threads hold values.
    pub(crate) fn has_probes(&self) -> Result<bool, Error> {
        let Some(probe) = self.sampling.iter().find(|event| event.text.is_some()) else {
            return Ok(false);
        };
        let has_values = |event: &&Prepared| event.attr.sample_type.has(SampleType::READ);
        match self.sampling.iter().find(has_values) {
            None => Ok(true),
            Some(event) => Err(Error::ProbeAndValues {
                probe: probe.name.clone(),
                event: event.name.clone(),
            }),
        }
    }

    /// Whether everybody may be sampled instead of those that were asked for.
    pub(crate) fn can_watch_all(&self, settings: &Settings) -> bool {
        let trial = Trial::new(&Settings {
            watch: Watch::All,
            ..settings.clone()
        });
        // A CPU's counter values are not those of who runs on it.
        let may = |event: &Prepared| {
            let trial = trial.on_cpus_of(event.cpus.as_deref());
            !event.attr.sample_type.has(SampleType::READ)
                && !event.is_defined
                && trial.open(&event.attr).is_ok()
        };
        let mut all = self.sampling.iter().chain([&self.sideband]);
        let is_kind = settings.watch != Watch::All && settings.inherit == Inherit::Inherited;
        // Counts of threads are those of their own counters.
        is_kind && !settings.fields.thread_counts && all.all(may)
    }

    /// Leaves out what is started later. Its mappings and names are recorded all the same where an event
    /// can have both a ring and those that inherit it: threads share what they map.
    pub(crate) fn inherit_as(&mut self, inherit: Inherit) {
        let without = |event: &mut Prepared| {
            event.attr.flags = event.attr.flags.without(AttrFlags::INHERIT);
        };
        if inherit != Inherit::Inherited {
            self.sampling.iter_mut().for_each(without);
        }
        if inherit == Inherit::PerThread {
            without(&mut self.sideband);
        }
    }

    /// The same for sampling everybody: there, events are among those of other tools on a CPU.
    pub(crate) fn for_everybody(&self, settings: &Settings) -> Self {
        let mut attrs = self.clone();
        if !settings.kernel_build_ids {
            let flags = &mut attrs.sideband.attr.flags;
            *flags = flags.without(AttrFlags::BUILD_ID);
        }
        attrs
    }
}

/// Decides on the events and fits their settings to kernel and user.
pub(crate) fn prepare(
    settings: &Settings,
    interrupts: &Interrupts,
    degraded: &mut Degraded,
    note: &mut dyn FnMut(Note),
) -> Result<Attrs, Error> {
    let rate = allowed_rate(settings, note)?;
    let defaults = settings.events.is_empty();
    let events = if defaults {
        default_events(&Sources::default())
    } else {
        settings.events.clone()
    };
    let mut sampling = Vec::new();
    for event in &events {
        interrupts.check()?;
        check_max_stack(event)?;
        let prepared = prepare_event(event, rate, settings, degraded, note);
        let is_missing = matches!(
            prepared,
            Err(Error::NoBranchRecords { .. }
                | Error::Open {
                    why: OpenError::NoSuchEvent,
                    ..
                })
        );
        if is_missing && defaults {
            continue;
        }
        match event.clock_instead() {
            // As perf.
            Some(clock) if is_missing && settings.call_chains != CallChains::BranchRecords => {
                degraded.has_no_pmu = true;
                sampling.push(prepare_event(&clock, rate, settings, degraded, note)?);
            }
            _ => sampling.push(prepared?),
        }
    }
    if sampling.is_empty() {
        degraded.has_no_pmu = true;
        let clock = cpu_clock();
        sampling.push(prepare_event(&clock, rate, settings, degraded, note)?);
    }
    if sampling.iter().any(|event| event.text.is_some()) {
        // They are opened for everybody, and a group is inherited as a whole or not at all.
        for event in &mut sampling {
            event.attr.flags = event.attr.flags.without(AttrFlags::INHERIT);
        }
    }
    let mut attrs = Attrs {
        sampling: in_cgroups(&settings.cgroups, &sampling)?,
        sideband: prepare_sideband(settings, degraded, note)?,
    };
    attrs.inherit_as(settings.inherit);
    Ok(match settings.watch {
        Watch::All => attrs.for_everybody(settings),
        _ => attrs,
    })
}

/// Gives events their control groups. The same event of several groups is named after its group, too.
fn in_cgroups(cgroups: &Cgroups, events: &[Prepared]) -> Result<Vec<Prepared>, Error> {
    let opened = cgroups.events(events.len())?;
    let of = |(event, cgroup): (usize, Option<CgroupFolder>)| {
        let mut event = events.get(event)?.clone();
        event.cgroup = cgroup;
        Some(event)
    };
    let mut events: Vec<Prepared> = opened.into_iter().filter_map(of).collect();
    let names: Vec<String> = events.iter().map(|event| event.name.clone()).collect();
    for event in &mut events {
        let n_same = names.iter().filter(|name| **name == event.name).count();
        if let (true, Some(cgroup)) = (n_same > 1, &event.cgroup) {
            event.name = format!("{}@{}", event.name, cgroup.name());
        }
    }
    Ok(events)
}

pub(crate) fn prepare_event(
    event: &Event,
    rate: Option<Rate>,
    settings: &Settings,
    degraded: &mut Degraded,
    note: &mut dyn FnMut(Note),
) -> Result<Prepared, Error> {
    let call_chains = stack_dump::of_event(event, settings.call_chains);
    let attr = sampling_attr(event, rate, call_chains, settings);
    let mut prepared = Prepared {
        cpus: event.cpus.clone(),
        grouping: event.grouping.clone(),
        text: text_of(event),
        call_chains,
        filter: Filter::from_event(event),
        is_defined: is_defined(event),
        ..Prepared::new(event.name.clone(), attr)
    };
    // An event that is on some CPUs only is tried on one of them.
    let trial = Trial::new(settings).on_cpus_of(event.cpus.as_deref());
    let levels = if event.max_precise { 3 } else { 0 };
    let asked = prepared.attr.flags.precise_ip();
    let mut error = OpenError::NoSuchEvent;
    for level in (asked..=levels.max(asked)).rev() {
        prepared.attr.flags = prepared.attr.flags.with_precise_ip(level);
        match fit_for_user(event, settings, &mut prepared, degraded, trial, note) {
            Ok(()) => {
                if event.max_precise {
                    let event = prepared.name.clone();
                    note(Note::Precision { event, level });
                }
                return Ok(prepared);
            }
            Err(refused) => error = refused,
        }
    }
    let is_without_branches = call_chains == CallChains::BranchRecords
        && matches!(error, OpenError::NoSuchEvent | OpenError::Invalid);
    if is_without_branches {
        let event = event.name.clone();
        return Err(Error::NoBranchRecords { event });
    }
    let is_probe = prepared.text.is_some() || prepared.is_defined;
    if is_probe && matches!(error, OpenError::Access | OpenError::Forbidden) {
        let wanted = match event.probe.as_ref().map(|point| &point.code) {
            Some(ProbedCode::Kernel) => Wanted::Privileged,
            _ => Wanted::FileProbe,
        };
        return Err(Error::ProbeForbidden {
            event: event.name.clone(),
            why: refusal::of(&error, wanted, &Facts::now()),
        });
    }
    let has_branches = settings.fields.branches != BranchSampleType::default();
    if has_branches && matches!(error, OpenError::NoSuchEvent | OpenError::Invalid) {
        let event = event.name.clone();
        return Err(Error::NoBranches { event });
    }
    Err(Error::open(
        &event.name,
        &prepared.attr,
        error,
        trial.target,
    ))
}

/// Fits an attr to kernel and user. If the kernel may not be sampled, tries user space only, without physical
/// addresses. Changes nothing unless the attr can be opened.
fn fit_for_user(
    event: &Event,
    settings: &Settings,
    prepared: &mut Prepared,
    degraded: &mut Degraded,
    trial: Trial,
    note: &mut dyn FnMut(Note),
) -> Result<(), OpenError> {
    let text = prepared.text.as_deref();
    let open = |attr: &PerfEventAttr| {
        let with = OpenWith { leader: None, text };
        trial.open_with(attr, with).map(drop)
    };
    let fitted = match fit(&prepared.attr, open) {
        Err(OpenError::Access) => {
            let may_be_user_only = settings.fields.only_in != Some(Space::Kernel);
            let user_only = event.user_only().filter(|_| may_be_user_only);
            let has_physical = prepared.attr.sample_type.has(SampleType::PHYS_ADDR);
            if user_only.is_none() && !has_physical {
                return Err(OpenError::Access);
            }
            let mut attr = prepared.attr.clone();
            attr.sample_type = attr.sample_type.without(SampleType::PHYS_ADDR);
            if user_only.is_some() {
                attr.flags = attr
                    .flags
                    .with(AttrFlags::EXCLUDE_KERNEL)
                    .with(AttrFlags::EXCLUDE_HV);
            }
            let fitted = fit(&attr, open)?;
            if has_physical {
                degraded.without_physical_addresses = Some(rights::advice::privileged());
            }
            if let Some(user_only) = user_only {
                prepared.name = user_only.name;
                // Probes of files are in user space.
                if !prepared.is_defined {
                    degraded.without_kernel = Some(rights::advice::without_kernel());
                }
            }
            fitted
        }
        other => other?,
    };
    prepared.attr = fitted.attr;
    degraded.add_lacking(fitted.lacking);
    if !fitted.dropped.is_empty() {
        note(Note::Dropped(fitted.dropped));
    }
    Ok(())
}

pub(crate) fn sampling_attr(
    event: &Event,
    rate: Option<Rate>,
    chains: CallChains,
    settings: &Settings,
) -> PerfEventAttr {
    let mut attr = event.attr.clone();
    // Terms of the event itself (period=, freq=) come before the options, and those before the
    // period of 1 that tracepoints and breakpoints have by themselves.
    let is_counted = matches!(attr.kind, event_type::TRACEPOINT | event_type::BREAKPOINT)
        || event.probe.is_some();
    let rate = match (rate, attr.sample_period) {
        (Some(rate), period) if period == 0 || is_counted => Some(rate),
        (None, 0) => Some(Rate::DEFAULT),
        _ => None,
    };
    match rate {
        Some(Rate::Frequency(hz)) => {
            attr.sample_period = hz;
            attr.flags = attr.flags.with(AttrFlags::FREQ);
        }
        Some(Rate::Period(period)) => attr.sample_period = period,
        None => {}
    }
    if event.grouping.is_read() {
        attr.sample_period = 0;
        attr.flags = attr.flags.without(AttrFlags::FREQ);
    }
    // The event's own may hold weights (modifier R).
    attr.sample_type = attr
        .sample_type
        .with(SampleType::IDENTIFIER)
        .with(SampleType::IP)
        .with(SampleType::TID)
        .with(SampleType::TIME)
        .with(SampleType::CPU);
    // Asked for the period, the kernel takes a sample of its own events each time, and says how much
    // happened then, whatever the period (perf_swevent_event in kernel/events/core.c, v6.12).
    let is_kernels_own = is_counted || attr.kind == event_type::SOFTWARE;
    let is_frequency = attr.flags.has(AttrFlags::FREQ);
    if is_frequency || !is_kernels_own || attr.sample_period <= 1 {
        attr.sample_type = attr.sample_type.with(SampleType::PERIOD);
    }
    if matches!(
        chains,
        CallChains::FramePointers | CallChains::BranchRecords
    ) {
        attr.sample_type = attr.sample_type.with(SampleType::CALLCHAIN);
    }
    if chains == CallChains::BranchRecords {
        attr.sample_type = attr.sample_type.with(SampleType::BRANCH_STACK);
        attr.branch_sample_type = BranchSampleType::USER
            .with(BranchSampleType::CALL_STACK)
            .with(BranchSampleType::NO_FLAGS)
            .with(BranchSampleType::NO_CYCLES);
    }
    if attr.sample_type.has(SampleType::CALLCHAIN) || stack_dump::size_of(chains).is_some() {
        attr.sample_max_stack = event.max_stack.unwrap_or(0);
    }
    if let Some(bytes) = stack_dump::size_of(chains) {
        let user_chain = match chains {
            CallChains::Auto => UserChain::Included,
            _ => UserChain::Excluded,
        };
        let most = stack_dump::most_bytes(&settings.fields);
        stack_dump::ask_for(&mut attr, bytes.min(most), user_chain);
    }
    if event.sample_read {
        attr.sample_type = attr.sample_type.with(SampleType::READ);
    }
    if attr.kind == event_type::TRACEPOINT {
        attr.sample_type = attr.sample_type.with(SampleType::RAW);
    }
    common(&mut attr, settings.clock);
    settings.fields.ask_for(&mut attr);
    // A CPU's values are not those of each thread. What a probe needs is not inherited.
    let is_for_cpus = event.sample_read && settings.watch == Watch::All;
    if is_for_cpus || event.probe.is_some() || !event.is_inherited {
        attr.flags = attr.flags.without(AttrFlags::INHERIT);
    }
    attr
}

/// The dummy event: counts nothing, but its ring gets mappings, names and tasks. Excluding the
/// kernel is what lets every user open it.
fn prepare_sideband(
    settings: &Settings,
    degraded: &mut Degraded,
    note: &mut dyn FnMut(Note),
) -> Result<Prepared, Error> {
    let trial = Trial::new(settings);
    let mut attr = PerfEventAttr {
        kind: event_type::SOFTWARE,
        config: sw::DUMMY,
        sample_period: 1,
        sample_type: SampleType::IDENTIFIER
            .with(SampleType::TID)
            .with(SampleType::TIME)
            .with(SampleType::CPU),
        flags: AttrFlags::MMAP
            .with(AttrFlags::MMAP2)
            .with(AttrFlags::COMM)
            .with(AttrFlags::COMM_EXEC)
            .with(AttrFlags::TASK)
            .with(AttrFlags::KSYMBOL)
            .with(AttrFlags::BPF_EVENT)
            .with(AttrFlags::BUILD_ID)
            .with(AttrFlags::EXCLUDE_KERNEL)
            .with(AttrFlags::EXCLUDE_HV),
        ..PerfEventAttr::default()
    };
    if settings.has_data_mappings() {
        attr.flags = attr.flags.with(AttrFlags::MMAP_DATA);
    }
    settings.sideband.ask_for(&mut attr);
    if !settings.bpf_events {
        attr.flags = attr.flags.without(AttrFlags::BPF_EVENT);
    }
    common(&mut attr, settings.clock);
    let mut fitted = fit(&attr, |attr| trial.open(attr));
    if let (Err(OpenError::Access), true) = (&fitted, settings.sideband.namespaces) {
        attr.flags = attr.flags.without(AttrFlags::NAMESPACES);
        degraded.without_namespaces = Some(rights::advice::privileged());
        fitted = fit(&attr, |attr| trial.open(attr));
    }
    let fitted = fitted.map_err(|why| Error::open(SIDEBAND, &attr, why, trial.target))?;
    degraded.add_lacking(fitted.lacking);
    if !fitted.dropped.is_empty() {
        note(Note::Dropped(fitted.dropped));
    }
    Ok(Prepared::new(SIDEBAND.to_owned(), fitted.attr))
}

/// What all events of a recording share: events in one ring must have one clock, and readers
/// want one place for ids.
fn common(attr: &mut PerfEventAttr, clock: Clock) {
    attr.read_format = ReadFormat::ID.with(ReadFormat::LOST);
    attr.flags = attr
        .flags
        .with(AttrFlags::DISABLED)
        .with(AttrFlags::INHERIT)
        .with(AttrFlags::SAMPLE_ID_ALL)
        .with(AttrFlags::USE_CLOCKID);
    attr.clockid = clock.id();
}
