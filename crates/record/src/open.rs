//! Opening every event for every target on every CPU, and mapping two rings a CPU.

use crate::attrs::{Attrs, Prepared};
use crate::{Error, Watch};
use rprof_abi::{AttrFlags, PerfEventAttr};
use rprof_ringbuf::{Counter, Cpu, OpenError, Poller, Ring, Target, sys};
use std::io;

/// Data pages of a sideband ring: a build's worth of mappings between two drains.
const SIDEBAND_PAGES: usize = 32;
/// Data pages of a sample ring, as perf's (512 KiB).
const SAMPLE_PAGES: usize = 128;

/// All counters of one event.
#[derive(Debug)]
pub(crate) struct EventCounters {
    pub(crate) name: String,
    /// As it goes into the file.
    pub(crate) attr: PerfEventAttr,
    pub(crate) counters: Vec<Counter>,
}

/// Rings of one kind, one a CPU, and the events that write into them.
#[derive(Debug, Default)]
pub(crate) struct Group {
    pub(crate) events: Vec<EventCounters>,
    pub(crate) rings: Vec<Ring>,
}

/// Everything that is open.
#[derive(Debug)]
pub(crate) struct Opened {
    pub(crate) sampling: Group,
    pub(crate) sideband: Group,
    /// Sample rings are smaller than asked for: their size, bytes.
    pub(crate) smaller_rings: Option<u64>,
}

/// Whom and where.
#[derive(Debug)]
pub(crate) struct Scope {
    /// Threads, or nobody for everybody.
    pub(crate) targets: Vec<Target>,
    pub(crate) cpus: Vec<u32>,
    /// The targets wait for their exec, which enables sampling.
    pub(crate) until_exec: bool,
    pub(crate) ring_pages: Option<usize>,
}

impl Opened {
    /// Opens and maps all of it, disabled.
    pub(crate) fn open(attrs: &Attrs, scope: &Scope) -> Result<Self, Error> {
        let sideband = std::slice::from_ref(&attrs.sideband);
        // Sideband rings first: they are small, and must not be what is left of the budget.
        let sideband = open_group(sideband, scope, false, SIDEBAND_PAGES)?;
        let pages = scope.ring_pages.unwrap_or(SAMPLE_PAGES);
        let sampling = open_group(&attrs.sampling, scope, scope.until_exec, pages)?;
        let asked = (pages * sys::page_size()) as u64;
        let least = sampling.rings.iter().map(Ring::size_bytes).min();
        Ok(Self {
            sampling,
            sideband,
            smaller_rings: least.filter(|&size| size < asked),
        })
    }

    /// A poller over all counters, sampling ones first.
    pub(crate) fn poller(&self) -> Poller {
        let mut poller = Poller::default();
        for counter in self.sampling.counters().chain(self.sideband.counters()) {
            poller.add(counter);
        }
        poller
    }
}

impl Group {
    pub(crate) fn counters(&self) -> impl Iterator<Item = &Counter> {
        self.events.iter().flat_map(|event| &event.counters)
    }

    pub(crate) fn enable(&self) -> io::Result<()> {
        self.counters().try_for_each(Counter::enable)
    }

    pub(crate) fn disable(&self) -> io::Result<()> {
        self.counters().try_for_each(Counter::disable)
    }

    /// Records lost by one event, by the kernel's own count.
    pub(crate) fn lost(event: &EventCounters) -> io::Result<Option<u64>> {
        let mut sum = None;
        for counter in &event.counters {
            if let Some(lost) = counter.read()?.lost {
                *sum.get_or_insert(0) += lost;
            }
        }
        Ok(sum)
    }
}

fn open_group(
    events: &[Prepared],
    scope: &Scope,
    until_exec: bool,
    pages: usize,
) -> Result<Group, Error> {
    let mut group = Group {
        events: events
            .iter()
            .map(|event| to_open(event, until_exec))
            .collect(),
        rings: Vec::new(),
    };
    for &cpu in &scope.cpus {
        // The first counter on a CPU owns the ring that the others write into.
        let mut owner: Option<(usize, usize)> = None;
        for (idx, event) in events.iter().enumerate() {
            let has_cpu = event.cpus.as_ref().is_none_or(|cpus| cpus.contains(&cpu));
            if !has_cpu {
                continue;
            }
            for &target in &scope.targets {
                let Some(counter) = open_one(&group.events[idx], target, cpu)? else {
                    continue;
                };
                match owner {
                    None => {
                        let ring = Ring::map_halving(&counter, pages)
                            .map_err(|why| Error::Map { cpu, why })?;
                        group.rings.push(ring);
                        owner = Some((idx, group.events[idx].counters.len()));
                    }
                    Some((event, place)) => counter
                        .write_into(&group.events[event].counters[place])
                        .map_err(Error::system("sharing a ring"))?,
                }
                group.events[idx].counters.push(counter);
            }
        }
    }
    if group.counters().next().is_none() {
        let event = events.first().map_or("", |event| &event.name);
        return Err(Error::open(event, OpenError::NoSuchTask, false));
    }
    Ok(group)
}

fn to_open(event: &Prepared, until_exec: bool) -> EventCounters {
    let mut attr = event.attr.clone();
    if until_exec {
        attr.flags = attr.flags.with(AttrFlags::ENABLE_ON_EXEC);
    }
    EventCounters {
        name: event.name.clone(),
        attr,
        counters: Vec::new(),
    }
}

/// Opens one counter; `None` if its thread has ended meanwhile.
fn open_one(event: &EventCounters, target: Target, cpu: u32) -> Result<Option<Counter>, Error> {
    let mut raised = false;
    loop {
        match Counter::open(&event.attr, target, Cpu::On(cpu)) {
            Ok(counter) => return Ok(Some(counter)),
            Err(OpenError::NoSuchTask) => return Ok(None),
            Err(OpenError::TooManyFiles) if !raised => raised = sys::raise_open_files_limit(),
            Err(source) => return Err(Error::open(&event.name, source, target == Target::All)),
        }
    }
}

/// The threads to open events for. A thread that a process makes while we list is missed by
/// one listing, so list until two agree; what comes later is inherited by an open event, or is
/// made by a thread that the next listing shows.
pub(crate) fn targets_of(watch: &Watch, child: Option<i32>) -> Result<Vec<Target>, Error> {
    let threads = match watch {
        Watch::All => return Ok(vec![Target::All]),
        Watch::Command => child.into_iter().collect(),
        Watch::Threads(tids) => {
            for &tid in tids {
                rprof_process::process_of(tid).map_err(|_| Error::NoSuchTask { id: tid })?;
            }
            tids.clone()
        }
        Watch::Processes(pids) => {
            let mut all = Vec::new();
            for &pid in pids {
                all.extend(settled_threads(pid)?);
            }
            all
        }
    };
    Ok(threads.into_iter().map(Target::Thread).collect())
}

fn settled_threads(pid: i32) -> Result<Vec<i32>, Error> {
    const TRIES: usize = 10;
    let list = || rprof_process::threads_of(pid).map_err(|_| Error::NoSuchTask { id: pid });
    let mut before = list()?;
    for _ in 0..TRIES {
        let now = list()?;
        if now == before {
            break;
        }
        before = now;
    }
    Ok(before)
}
