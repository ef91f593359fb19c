//! Opening every event for every target on every CPU, and mapping two rings a CPU.

pub(crate) mod attrs;
mod by_cpu;
pub(crate) mod counters;
pub(crate) mod file_limit;
pub(crate) mod filter;
pub(crate) mod group_attrs;
pub(crate) mod groups;
mod kernel_limits;
pub(crate) mod off_cpu;
pub(crate) mod off_cpu_attrs;
pub(crate) mod ring_size;
pub(crate) mod rings;
pub(crate) mod sampled_by;
pub(crate) mod span_attrs;
pub(crate) mod stack_dump;
pub(crate) mod thinned;
mod told;
pub(crate) mod trial;

use crate::control::DumpSize;
use crate::cpu_or_thread::CpuOrThread;
use crate::error::Error;
use crate::interrupts::Interrupts;
use crate::note::{FewFiles, SmallRings};
use crate::opening::attrs::{Attrs, Prepared};
use crate::opening::filter::Filter;
use crate::opening::off_cpu::Purpose;
use crate::opening::rings::RingOwner;
use crate::opening::stack_dump::{DumpSizes, NO_STACK_BYTES};
use crate::settings::CallChains;
use rprof_abi::{AttrFlags, PerfEventAttr};
use rprof_events::Grouping;
use rprof_ringbuf::{Counter, MapError, OpenError, Ring, Target, sys};
use rprof_targets::CgroupFolder;
use std::ffi::CString;
use std::io;

/// Pages of the sideband of a thread that has its own.
const THREAD_SIDEBAND_PAGES: usize = 8;
/// With stack dumps, the recorder wakes up when one of this many parts of a ring is full.
const WAKE_AT: usize = 4;
/// A ring has room for this many samples at least, or their dumps are smaller.
const LEAST_SAMPLES: usize = 24;

/// All counters of one event.
#[derive(Debug)]
pub(crate) struct EventCounters {
    pub(crate) name: String,
    /// As it is opened.
    pub(crate) attr: PerfEventAttr,
    pub(crate) counters: Vec<Counter>,
    /// Whom and where each of them was opened for.
    pub(crate) opened_for: Vec<(Target, CpuOrThread)>,
    /// The same event with small stack dumps: a counter for each of those above.
    pub(crate) small_dumps: Option<SmallDumps>,
    /// Samples are taken, or will be once the command is executed.
    pub(crate) is_on: bool,
    pub(crate) cpus: Option<Vec<u32>>,
    pub(crate) grouping: Grouping,
    /// What the kernel wants with a probe.
    pub(crate) text: Option<CString>,
    pub(crate) cgroup: Option<CgroupFolder>,
    /// Which hits are sampled.
    pub(crate) filter: Option<Filter>,
    pub(crate) purpose: Purpose,
}

/// What counters of an event say in sum.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Totals {
    /// How often it happened.
    pub(crate) count: u64,
    /// Records that were lost.
    pub(crate) lost: u64,
}

/// Counters with small stack dumps.
#[derive(Debug)]
pub(crate) struct SmallDumps {
    pub(crate) attr: PerfEventAttr,
    pub(crate) counters: Vec<Counter>,
}

impl SmallDumps {
    /// None is open yet.
    fn new(attr: PerfEventAttr) -> Self {
        Self {
            attr,
            counters: Vec::new(),
        }
    }
}

impl EventCounters {
    /// Whether it is enabled and disabled: members of groups follow their leader.
    fn leads(&self) -> bool {
        !self.grouping.is_member()
    }

    /// Whether it is opened for all tasks, not only the recorded ones.
    pub(crate) fn is_of_wakers(&self) -> bool {
        matches!(self.purpose, Purpose::Waking { .. })
    }

    /// Whether its user stacks are read later, if at all.
    pub(crate) fn is_read_later(&self) -> bool {
        let is_read_later = matches!(
            self.purpose,
            Purpose::Blocked
                | Purpose::Switch {
                    is_read_later: true,
                    ..
                }
        );
        is_read_later && self.attr.sample_stack_user == NO_STACK_BYTES
    }

    /// Whether its hits are samples, with stack dumps.
    pub(crate) fn has_dumps_of_hits(&self) -> bool {
        self.attr.sample_stack_user > 0 && stack_dump::is_of_hits(&self.attr)
    }

    /// Has the kernel enable those with dumps of this size when the command is executed.
    fn enable_on_exec(&mut self, size: DumpSize) {
        let attr = match (&mut self.small_dumps, size) {
            (Some(small), DumpSize::Small) => &mut small.attr,
            _ => &mut self.attr,
        };
        attr.flags = attr.flags.with(AttrFlags::ENABLE_ON_EXEC);
    }

    /// Those with dumps of this size.
    pub(crate) fn of_size(&self, size: DumpSize) -> &[Counter] {
        match (&self.small_dumps, size) {
            (Some(small), DumpSize::Small) => &small.counters,
            _ => &self.counters,
        }
    }

    /// All of them, those with small dumps last.
    pub(crate) fn all(&self) -> impl Iterator<Item = &Counter> {
        let small = self.small_dumps.iter().flat_map(|small| &small.counters);
        self.counters.iter().chain(small)
    }

    /// Sums over its counters, as far as they can be read.
    pub(crate) fn totals(&self) -> Totals {
        let mut totals = Totals::default();
        for value in self.all().filter_map(|counter| counter.read().ok()) {
            totals.count += value.count;
            totals.lost += value.lost.unwrap_or(0);
        }
        totals
    }

    /// Records lost, by the kernel's own count.
    pub(crate) fn lost(&self) -> io::Result<Option<u64>> {
        let mut sum = None;
        for counter in self.all() {
            if let Some(lost) = counter.read()?.lost {
                *sum.get_or_insert(0) += lost;
            }
        }
        Ok(sum)
    }
}

/// Rings of one kind, one a CPU, and the events that write into them.
#[derive(Debug, Default)]
pub(crate) struct Group {
    pub(crate) events: Vec<EventCounters>,
    pub(crate) rings: Vec<Ring>,
    /// What these rings are mapped with.
    owners: Vec<RingOwner>,
    /// Counters that are off have no ring.
    is_off_without_ring: bool,
    /// Of those with large and with small dumps, these are on at first.
    first_dumps: DumpSize,
}

/// Where counters write to.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Rings<'g> {
    /// Rings of their own, with this number of data pages.
    Of(usize),
    /// Those of a group.
    In(&'g Group),
}

/// Everything that is open.
#[derive(Debug)]
pub(crate) struct Opened {
    pub(crate) sampling: Group,
    pub(crate) sideband: Group,
    /// The sampling events of everybody, which are off and have the same rings; if they can be opened.
    pub(crate) by_cpu: Option<Group>,
    /// Sample rings that are smaller than asked for, if that matters.
    pub(crate) small_rings: Option<SmallRings>,
    pub(crate) is_by_cpu: bool,
    /// Which events are on, of those with large and with small dumps.
    pub(crate) dump_size: DumpSize,
    /// Threads came while events were opened: they may have inherited others.
    pub(crate) is_extended: bool,
}

/// Whom and where.
#[derive(Debug)]
pub(crate) struct Scope<'a> {
    /// Threads, or nobody for everybody.
    pub(crate) targets: Vec<Target>,
    pub(crate) cpus: Vec<u32>,
    /// Each thread has its events and rings, whatever its CPU.
    pub(crate) per_thread: bool,
    /// The targets wait for their exec, which enables sampling.
    pub(crate) until_exec: bool,
    /// Data pages of each sample ring.
    pub(crate) ring_pages: usize,
    /// Data pages of each sideband ring.
    pub(crate) sideband_pages: usize,
    /// The user has asked for this size.
    pub(crate) is_size_asked: bool,
    /// The sizes of stack dumps that are large or small, as needed; `None` if dumps have one size.
    pub(crate) dump_sizes: Option<DumpSizes>,
    /// Everybody may be sampled later.
    pub(crate) also_by_cpu: bool,
    /// Fewer files may be open than all of this needs.
    pub(crate) few_files: Option<FewFiles>,
    /// Opening many files takes its time.
    pub(crate) interrupts: &'a Interrupts,
}

impl Scope<'_> {
    /// The size of dumps at first.
    fn first_dumps(&self) -> DumpSize {
        self.dump_sizes.map_or(DumpSize::Large, |sizes| sizes.first)
    }

    fn sideband_pages(&self) -> usize {
        match self.per_thread {
            true => THREAD_SIDEBAND_PAGES,
            false if self.targets.first() == Some(&Target::All) => {
                ring_size::everybodys_sideband(self.sideband_pages, self.cpus.len())
            }
            false => self.sideband_pages,
        }
    }

    /// What gets a ring of its own, and which targets write into it.
    fn places(&self, targets: &[Target]) -> Vec<(CpuOrThread, Vec<Target>)> {
        if self.per_thread {
            CpuOrThread::of_threads(targets)
        } else {
            CpuOrThread::of_cpus(&self.cpus, targets)
        }
    }

    /// The threads among the targets.
    pub(crate) fn threads(&self) -> Vec<i32> {
        let threads = self.targets.iter().filter_map(|target| match target {
            Target::Thread(tid) => Some(*tid),
            Target::All | Target::Cgroup(_) => None,
        });
        threads.collect()
    }
}

impl Opened {
    /// Opens and maps all of it, disabled.
    pub(crate) fn open(attrs: &Attrs, scope: &Scope<'_>) -> Result<Self, Error> {
        let sideband = std::slice::from_ref(&attrs.sideband);
        let plain = Scope {
            until_exec: false,
            dump_sizes: None,
            also_by_cpu: false,
            targets: scope.targets.clone(),
            cpus: scope.cpus.clone(),
            ..*scope
        };
        // Sideband rings first: they are small, and must not be what is left of the budget.
        let (sideband, sampling) = open_both(sideband, &plain, &attrs.sampling, scope)?;
        let small_rings = ring_size::small_rings(&sampling, scope);
        let by_cpu = if scope.also_by_cpu {
            sampling.of_everybody(scope)?
        } else {
            None
        };
        Ok(Self {
            sampling,
            sideband,
            by_cpu,
            small_rings,
            is_by_cpu: false,
            dump_size: scope.first_dumps(),
            is_extended: false,
        })
    }

    /// Opens what is new among the targets; returns whether anything was.
    pub(crate) fn extend(&mut self, targets: &[Target], scope: &Scope<'_>) -> Result<bool, Error> {
        let new = |target: &&Target| !scope.targets.contains(*target);
        let new: Vec<Target> = targets.iter().filter(new).copied().collect();
        self.is_extended |= !new.is_empty();
        for (place, new) in scope.places(&new) {
            let interrupts = scope.interrupts;
            let (sideband, sampling) = (scope.sideband_pages(), scope.ring_pages);
            let (sideband, sampling) = (Rings::Of(sideband), Rings::Of(sampling));
            self.sideband.add(&new, place, sideband, interrupts)?;
            self.sampling.add(&new, place, sampling, interrupts)?;
        }
        Ok(!new.is_empty())
    }

    /// Counters that hang up when what is recorded has ended.
    pub(crate) fn lifetimes(&self) -> impl Iterator<Item = &Counter> {
        let group = if self.sampling.is_off_without_ring {
            &self.sideband
        } else {
            &self.sampling
        };
        let events = group.events.iter();
        // Wakers may be anybody, who outlives it.
        let events = events.filter(|event| !event.is_of_wakers());
        events.flat_map(|event| &event.counters)
    }

    /// Enables what is of all tasks, and so not enabled when a command is executed.
    pub(crate) fn enable_wakings(&self) -> io::Result<()> {
        let events = self.sampling.events.iter();
        let mut counters = events
            .filter(|event| event.is_of_wakers() && event.is_on)
            .flat_map(|event| &event.counters);
        counters.try_for_each(Counter::enable)
    }

    /// Samples are taken once they are enabled.
    pub(crate) fn hold(&mut self) {
        let events = self.sampling.events.iter_mut();
        events.for_each(|event| event.is_on = false);
    }

    /// Enables or disables samples of an event, or of all.
    pub(crate) fn set_on(&mut self, name: Option<&str>, is_on: bool) -> io::Result<()> {
        let size = self.dump_size;
        let events = self.sampling.events.iter_mut();
        for event in events.filter(|event| name.is_none_or(|name| event.name == name)) {
            event.is_on = is_on;
            if is_on {
                event.of_size(size).iter().try_for_each(Counter::enable)?
            } else {
                event.all().try_for_each(Counter::disable)?
            }
        }
        Ok(())
    }
}

impl Group {
    pub(crate) fn counters(&self) -> impl Iterator<Item = &Counter> {
        self.events.iter().flat_map(EventCounters::all)
    }

    /// Enables those that are to be on, with stack dumps of this size.
    pub(crate) fn enable(&self, size: DumpSize) -> io::Result<()> {
        let events = self.events.iter();
        let leaders = events.filter(|event| event.leads() && event.is_on);
        let mut counters = leaders.flat_map(|event| event.of_size(size));
        counters.try_for_each(Counter::enable)
    }

    pub(crate) fn disable(&self) -> io::Result<()> {
        self.counters().try_for_each(Counter::disable)
    }

    /// Samples this often, where the kernel aims at a frequency above it.
    pub(crate) fn set_frequency(&self, hz: u64) -> io::Result<()> {
        let is_above =
            |attr: &PerfEventAttr| attr.flags.has(AttrFlags::FREQ) && attr.sample_period > hz;
        let events = self.events.iter().filter(|event| is_above(&event.attr));
        let mut counters = events.flat_map(EventCounters::all);
        counters.try_for_each(|counter| counter.set_period(hz))
    }
}

/// Opens a group with rings of this many pages, or of half as many, and so on. All CPUs have the same, so
/// that no CPU is left with what others did not take.
fn open_halving(events: &[Prepared], scope: &Scope<'_>, mut pages: usize) -> Result<Group, Error> {
    loop {
        match open_group(events, scope, pages) {
            Err(Error::Map {
                why: MapError::MlockBudget { .. },
                ..
            }) if pages > 1 => pages /= 2,
            done => return done,
        }
    }
}

/// Opens sideband, then what samples. If the former leaves no memory for the latter, its rings are made
/// smaller, too.
fn open_both(
    sideband: &[Prepared],
    plain: &Scope<'_>,
    sampling: &[Prepared],
    scope: &Scope<'_>,
) -> Result<(Group, Group), Error> {
    let mut pages = scope.sideband_pages();
    loop {
        let opened = open_halving(sideband, plain, pages)?;
        match open_halving(sampling, scope, scope.ring_pages) {
            Err(Error::Map {
                why: MapError::MlockBudget { .. },
                ..
            }) if pages > 1 => pages = (pages / 4).max(1),
            sampling => return Ok((opened, sampling?)),
        }
    }
}

pub(crate) fn open_group(
    events: &[Prepared],
    scope: &Scope<'_>,
    pages: usize,
) -> Result<Group, Error> {
    let mut group = Group {
        events: events
            .iter()
            .map(|event| to_open(event, scope, pages * sys::page_size()))
            .collect(),
        // What inherits an event keeps it alive, and sideband tells when all of that has ended.
        is_off_without_ring: events
            .iter()
            .all(|event| event.attr.flags.has(AttrFlags::INHERIT)),
        first_dumps: scope.first_dumps(),
        ..Group::default()
    };
    counters::double(&mut group.events);
    if scope.until_exec {
        // exec enables events of the task that executes.
        let enabled = |event: &&mut EventCounters| event.leads() && !event.is_of_wakers();
        let leaders = group.events.iter_mut().filter(enabled);
        leaders.for_each(|event| event.enable_on_exec(scope.first_dumps()));
    }
    for (place, targets) in scope.places(&scope.targets) {
        group.add(&targets, place, Rings::Of(pages), scope.interrupts)?;
    }
    if group.counters().next().is_none()
        && let Some(event) = events.first()
    {
        let gone = Target::Thread(0);
        return Err(Error::open(
            &event.name,
            &event.attr,
            OpenError::NoSuchTask,
            gone,
        ));
    }
    Ok(group)
}

/// An event as it is opened. If its dumps are large or small as needed, large ones leave room for some
/// samples in a ring; if that is less than small ones need, all are of that size.
fn to_open(event: &Prepared, scope: &Scope<'_>, ring_bytes: usize) -> EventCounters {
    let mut attr = event.attr.clone();
    if attr.sample_stack_user > 0 {
        // Soon enough to change to larger dumps, and to find a deep stack as it was.
        attr.flags = attr.flags.with(AttrFlags::WATERMARK);
        attr.wakeup = u32::try_from(ring_bytes / WAKE_AT).unwrap_or(u32::MAX);
    }
    let mut small_dumps = None;
    if let (Some(sizes), CallChains::Auto) = (scope.dump_sizes, event.call_chains) {
        let most = u32::try_from(ring_bytes / LEAST_SAMPLES).unwrap_or(u32::MAX) & !7;
        attr.sample_stack_user = attr.sample_stack_user.min(most);
        small_dumps = (attr.sample_stack_user > sizes.small_bytes).then(|| {
            SmallDumps::new(PerfEventAttr {
                sample_stack_user: sizes.small_bytes,
                ..attr.clone()
            })
        });
    }
    EventCounters {
        name: event.name.clone(),
        attr,
        counters: Vec::new(),
        opened_for: Vec::new(),
        small_dumps,
        is_on: true,
        cpus: event.cpus.clone(),
        grouping: event.grouping.clone(),
        text: event.text.clone(),
        cgroup: event.cgroup.clone(),
        filter: event.filter.clone(),
        purpose: event.purpose,
    }
}
