//! Checks: how much may be used.

use super::check::{Check, State};
use super::examined::Examined;
use super::tried::MOST_BYTES;
use rprof_targets::rights::Capability;
use rprof_targets::rights::refusal::rings as more_memory;

/// As large as perf's: less makes bursts overflow.
const ENOUGH_BYTES: u64 = 512 << 10;
/// Events of a thread on a CPU: sampling ones of two dump sizes, the same of everybody, and sideband.
const FILES_OF_THREAD: u64 = 5;
/// The fewest: one that samples, and sideband.
const FEWEST_OF_THREAD: u64 = 2;
/// Files that are open beside events, at most.
const OTHER_FILES: u64 = 16;

/// Memory of rings, which is locked.
pub(super) fn rings(examined: &Examined<'_>) -> Option<Check> {
    let name = "memory for rings";
    let facts = examined.facts;
    // Nothing can be opened: said already.
    examined.tried.user.as_ref().ok()?;
    let has_no_limit =
        facts.has(Capability::IpcLock) || facts.paranoid.is_some_and(|level| level < 0);
    let budget = match (
        has_no_limit,
        facts.number::<u64>("proc/sys/kernel/perf_event_mlock_kb"),
    ) {
        (true, _) | (_, None) => "no limit".to_owned(),
        (false, Some(kib)) => {
            let memlock = facts.soft_limit("Max locked memory");
            let memlock = memlock.map_or("any".to_owned(), |bytes| format!("{} KiB", bytes / 1024));
            format!(
                "perf_event_mlock_kb {kib} KiB x {} CPUs, shared by all tools of this user, then ulimit -l \
                 {memlock}",
                facts.n_cpus
            )
        }
    };
    match examined.tried.ring_bytes {
        None if examined.tried.by_ptrace => {
            Check::new(name, State::Less, format!("none left ({budget})"))?.but(
                "no rings: falls back to coarse sampling by ptrace",
                more_memory(),
            )
        }
        None => Check::new(name, State::Blocked, format!("none left ({budget})"))?
            .but("no ring can be mapped", more_memory()),
        Some(bytes) if bytes < ENOUGH_BYTES => {
            let found = format!("rings of at most {} KiB per CPU ({budget})", bytes / 1024);
            Check::new(name, State::Less, found)?.but(
                "stacks are truncated earlier, and bursts of samples may be lost",
                more_memory(),
            )
        }
        Some(bytes) if bytes < MOST_BYTES as u64 => Check::fine(
            name,
            format!("rings of {} KiB per CPU ({budget})", bytes / 1024),
        ),
        Some(_) => Check::fine(name, budget),
    }
}

/// Open files: each event of each thread on each CPU is one.
pub(super) fn files(examined: &Examined<'_>) -> Option<Check> {
    let facts = examined.facts;
    let name = "open files";
    let Some(hard) = facts.hard_limit("Max open files") else {
        return Check::fine(name, "no limit");
    };
    let events = hard.saturating_sub(OTHER_FILES);
    let n_threads = events / (FEWEST_OF_THREAD * facts.n_cpus);
    let found = format!("at most {hard}: enough for {n_threads} threads");
    let state = match events {
        _ if n_threads == 0 => State::Blocked,
        few if few < FILES_OF_THREAD * facts.n_cpus => State::Less,
        _ => State::Fine,
    };
    let check = Check::new(name, state, found)?;
    let most = facts
        .number::<u64>("proc/sys/fs/nr_open")
        .unwrap_or(1 << 20);
    let fix = format!("ulimit -n {}, as root", most.min(4096));
    match state {
        State::Fine => Some(check),
        State::Less => check.but("short-lived processes and threads may have no samples", fix),
        _ => check.but("not enough for the events of a single thread", fix),
    }
}

pub(super) fn rate(examined: &Examined<'_>) -> Option<Check> {
    let name = "sampling rate";
    let hz: u64 = examined
        .facts
        .number("proc/sys/kernel/perf_event_max_sample_rate")?;
    let check = Check::new(name, State::Fine, format!("at most {hz} Hz"))?;
    match hz {
        // rprof's and perf's default.
        4000.. => Some(check),
        _ => Check {
            state: State::Less,
            ..check
        }
        .but(
            "the kernel lowered it because sampling took too long; the default of 4000 Hz is lowered, too",
            "sudo sysctl kernel.perf_event_max_sample_rate=100000",
        ),
    }
}

pub(super) fn handler_time(examined: &Examined<'_>) -> Option<Check> {
    let percent: u64 = examined
        .facts
        .number("proc/sys/kernel/perf_cpu_time_max_percent")?;
    let found = match percent {
        0 | 100 => "the kernel never lowers the rate".to_owned(),
        _ => format!("sampling may use {percent} % of a CPU before the kernel lowers the rate"),
    };
    Check::fine("sampling time", found)
}
