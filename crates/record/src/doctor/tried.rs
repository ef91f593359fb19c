//! What the kernel lets us open: tried, and closed again.

use crate::ptrace;
use rprof_abi::{AttrFlags, PerfEventAttr, event_type, hw, sw};
use rprof_events::online_cpus;
use rprof_ringbuf::{Counter, Cpu, OpenError, OpenWith, Ring, Target, sys};
use rprof_targets::rights::Facts;

/// The largest ring that is tried, bytes.
pub(super) const MOST_BYTES: usize = 16 << 20;

/// What came of it.
#[derive(Debug)]
pub(super) struct Tried {
    /// The clock of our own, in user space.
    pub(super) user: Result<(), OpenError>,
    /// With the kernel.
    pub(super) kernel: Result<(), OpenError>,
    /// Of everybody, on a CPU.
    pub(super) all: Result<(), OpenError>,
    /// A hardware event of our own, in user space.
    pub(super) hardware: Result<(), OpenError>,
    /// A probe in a file; `None` if this kernel has none.
    pub(super) probe: Option<Result<(), OpenError>>,
    /// Whether ptrace can stand in, if there are no events or no rings.
    pub(super) by_ptrace: bool,
    /// The largest ring that every CPU can have, bytes; `None` if none.
    pub(super) ring_bytes: Option<u64>,
}

impl Tried {
    pub(super) fn now(facts: &Facts) -> Self {
        let clock = PerfEventAttr {
            kind: event_type::SOFTWARE,
            config: sw::CPU_CLOCK,
            sample_period: 1_000_000,
            flags: AttrFlags::DISABLED,
            ..PerfEventAttr::default()
        };
        let cycles = PerfEventAttr {
            kind: event_type::HARDWARE,
            config: hw::CPU_CYCLES,
            ..clock.clone()
        };
        let own = |attr: &PerfEventAttr| Counter::open(attr, Target::Thread(0), Cpu::Any).map(drop);
        let cpus = online_cpus(&facts.sources()).unwrap_or_else(|_| vec![0]);
        let first = Cpu::On(cpus.first().copied().unwrap_or(0));
        Self {
            user: own(&user_only(&clock)),
            kernel: own(&clock),
            all: Counter::open(&clock, Target::All, first).map(drop),
            hardware: own(&user_only(&cycles)),
            probe: probe(facts),
            by_ptrace: ptrace::is_possible(facts),
            ring_bytes: largest_rings(&user_only(&clock), &cpus),
        }
    }
}

/// Whether a probe may be set in a file. Rights come before the path (`perf_uprobe_event_init` in
/// kernel/events/core.c, v6.12), so an empty one will do, and nothing is probed.
fn probe(facts: &Facts) -> Option<Result<(), OpenError>> {
    let place = facts
        .sources()
        .sysfs
        .join("bus/event_source/devices/uprobe/type");
    let attr = PerfEventAttr {
        kind: std::fs::read_to_string(place).ok()?.trim().parse().ok()?,
        flags: AttrFlags::DISABLED,
        ..PerfEventAttr::default()
    };
    let with = OpenWith {
        leader: None,
        text: Some(c""),
    };
    Some(
        match Counter::open_with(&attr, Target::Thread(0), Cpu::Any, with) {
            Ok(_) | Err(OpenError::Invalid) => Ok(()),
            Err(error) => Err(error),
        },
    )
}

fn user_only(attr: &PerfEventAttr) -> PerfEventAttr {
    let flags = attr.flags;
    PerfEventAttr {
        flags: flags
            .with(AttrFlags::EXCLUDE_KERNEL)
            .with(AttrFlags::EXCLUDE_HV),
        ..attr.clone()
    }
}

/// Tries rings for all CPUs at once, each time half as large.
fn largest_rings(attr: &PerfEventAttr, cpus: &[u32]) -> Option<u64> {
    let page = sys::page_size();
    let mut pages = MOST_BYTES / page;
    while pages > 0 {
        match map_all(attr, cpus, pages) {
            Ok(true) => return Some((pages * page) as u64),
            Ok(false) => pages /= 2,
            Err(_) => return None,
        }
    }
    None
}

/// Whether every CPU can have a ring of this size beside one of sideband.
fn map_all(attr: &PerfEventAttr, cpus: &[u32], pages: usize) -> Result<bool, OpenError> {
    let mut rings = Vec::new();
    for &cpu in cpus {
        let counter = Counter::open(attr, Target::Thread(0), Cpu::On(cpu))?;
        let sideband = Counter::open(attr, Target::Thread(0), Cpu::On(cpu))?;
        // That of sideband is the smallest, if need be.
        for (counter, pages) in [(sideband, 1), (counter, pages)] {
            match Ring::map(&counter, pages) {
                Ok(ring) => rings.push((counter, ring)),
                Err(_) => return Ok(false),
            }
        }
    }
    Ok(true)
}
