//! Checks: tracepoints, other processes, BPF.

use super::check::{Check, State};
use super::examined::Examined;
use rprof_targets::rights::refusal::{self, Wanted, allow};
use rprof_targets::rights::{Capability, Facts};
use std::io::ErrorKind;

pub(super) fn tracefs(examined: &Examined<'_>) -> Option<Check> {
    let name = "tracepoints";
    let facts = examined.facts;
    let events = facts.sources().tracefs.join("events");
    let place = facts.sources().tracefs;
    let place = place.display();
    match std::fs::read_dir(&events) {
        Ok(_) if may_trace(facts) => Check::fine(name, "tracefs can be read"),
        Ok(_) => Check::new(name, State::Note, "tracefs can be read")?.but(
            "tracepoints need CAP_PERFMON",
            allow(Wanted::Tracepoint, facts),
        ),
        Err(error) if error.kind() == ErrorKind::PermissionDenied => {
            let fix = if may_trace(facts) {
                format!("as root: mount -o remount,mode=755 {place}")
            } else {
                // To read it would not be enough.
                allow(Wanted::Tracepoint, facts)
            };
            Check::new(name, State::Note, "tracefs is not readable by this user")?
                .but("no tracepoints", fix)
        }
        Err(_) => {
            let fix = if may_trace(facts) {
                format!("sudo mount -t tracefs nodev {place}")
            } else {
                allow(Wanted::Tracepoint, facts)
            };
            Check::new(name, State::Note, "tracefs is not mounted")?
                .but("no tracepoints, except for root: rprof then mounts it", fix)
        }
    }
}

/// Functions and markers of files as events.
pub(super) fn probes(examined: &Examined<'_>) -> Option<Check> {
    let name = "probes (uprobe:)";
    let facts = examined.facts;
    let tried = examined.tried.probe.as_ref()?;
    // Probes of files show nothing of the kernel: anyone who can define them can set them in their own tasks.
    if may_define(facts) {
        return Check::fine(name, "can be limited to the recorded processes");
    }
    match tried {
        Ok(()) => Check::new(name, State::Note, "can only be set in all processes")?.but(
            "programs that are not recorded are slowed down, too",
            "tracefs is not writable: run with sudo",
        ),
        Err(error) => Check::new(name, State::Note, error.to_string())?
            .but("no probes", refusal::of(error, Wanted::FileProbe, facts)),
    }
}

/// Whether probes can be defined in tracefs: as it is mounted, or by a mount of our own.
fn may_define(facts: &Facts) -> bool {
    let place = facts.sources().tracefs.join("uprobe_events");
    match std::fs::OpenOptions::new().append(true).open(place) {
        Err(error) if error.kind() == ErrorKind::NotFound => facts.has(Capability::SysAdmin),
        opened => opened.is_ok(),
    }
}

/// What tracepoints show is the kernel's.
fn may_trace(facts: &Facts) -> bool {
    facts.has(Capability::Perfmon) || facts.paranoid.is_some_and(|level| level < 0)
}

/// What is read of a stack beyond its dump.
pub(super) fn ptrace(examined: &Examined<'_>) -> Option<Check> {
    let facts = examined.facts;
    let name = "other processes (-p)";
    if facts.has(Capability::SysPtrace) {
        return Check::fine(name, "can be inspected");
    }
    let scope = facts.number::<u32>("proc/sys/kernel/yama/ptrace_scope");
    let fix = "run with sudo, or give rprof's file CAP_SYS_PTRACE (README.md, \"For a team\")";
    match scope {
        None | Some(0) => Check::fine(name, "your own can be inspected"),
        Some(1) => Check::new(
            name,
            State::Note,
            "yama: a process may inspect only its descendants",
        )?
        .but(
            "with -p, stacks cannot be read beyond their dumps; commands are recorded in full",
            format!("{fix}; or sudo sysctl kernel.yama.ptrace_scope=0"),
        ),
        Some(level) => Check::new(name, State::Less, format!("yama: ptrace_scope is {level}"))?
            .but("stacks cannot be read beyond their dumps", fix),
    }
}

pub(super) fn bpf(examined: &Examined<'_>) -> Option<Check> {
    let level: u32 = examined
        .facts
        .number("proc/sys/kernel/unprivileged_bpf_disabled")?;
    let found = match level {
        0 => "all users may load programs",
        _ => "only root may load programs",
    };
    Check::fine("BPF", format!("{found}; rprof record uses none"))
}
