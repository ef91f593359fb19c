//! Checks: what this process may do by its rights, and what confines it.

use super::check::{Check, State};
use super::examined::Examined;
use rprof_ringbuf::sys::Rights;
use rprof_targets::rights::{Capability, Seccomp};

/// What recording takes.
const CAPABILITIES: &[(Capability, &str)] = &[
    (Capability::Perfmon, "cap_perfmon"),
    (Capability::SysAdmin, "cap_sys_admin"),
    (Capability::SysPtrace, "cap_sys_ptrace"),
    (Capability::Syslog, "cap_syslog"),
    (Capability::IpcLock, "cap_ipc_lock"),
];

pub(super) fn capabilities(examined: &Examined<'_>) -> Option<Check> {
    let names = |set: u64| -> Vec<&str> {
        let has = |capability: Capability| set >> (capability as u32) & 1 == 1;
        let all = CAPABILITIES
            .iter()
            .filter(|(capability, _)| has(*capability));
        all.map(|(_, name)| *name).collect()
    };
    let (effective, permitted) = (examined.facts.effective, examined.facts.permitted);
    let in_words = |names: Vec<&str>| {
        if names.is_empty() {
            "none relevant to recording".to_owned()
        } else {
            names.join(", ")
        }
    };
    let mut found = in_words(names(effective));
    let unused = names(permitted & !effective);
    if !unused.is_empty() {
        found += &format!(" (permitted but not effective: {})", unused.join(", "));
    }
    Check::new("capabilities", State::Note, found)
}

/// What the executable file gives.
pub(super) fn executable(examined: &Examined<'_>) -> Option<Check> {
    let name = "rprof's file";
    match examined.rights {
        Rights::Granted => Check::fine(name, "grants capabilities to its group"),
        Rights::Dropped => Check::new(name, State::Note, "its capabilities are dropped")?.but(
            "anyone may execute it, and system-wide profiling exposes every process",
            "restrict execution to a group (README.md, \"For a team\")",
        ),
        _ => None,
    }
}

pub(super) fn user_namespace(examined: &Examined<'_>) -> Option<Check> {
    if !examined.facts.in_user_namespace {
        return None;
    }
    Check::new("user namespace", State::Note, "not the initial one")?.but(
        "capabilities held inside it do not apply to perf events",
        "run rprof outside it",
    )
}

pub(super) fn seccomp(examined: &Examined<'_>) -> Option<Check> {
    match examined.facts.seccomp {
        Seccomp::Filter if examined.tried.user.is_ok() => {
            Check::fine("seccomp", "a filter that allows perf_event_open")
        }
        Seccomp::Filter => Check::new("seccomp", State::Note, "a system call filter (see above)"),
        Seccomp::Off => Check::fine("seccomp", "no filter"),
        Seccomp::Unknown => None,
    }
}

pub(super) fn lockdown(examined: &Examined<'_>) -> Option<Check> {
    let mode = examined.facts.lockdown.as_deref()?;
    let check = Check::new("lockdown", State::Note, mode)?;
    match mode {
        "confidentiality" => check.but(
            "registers of interrupted code and kernel probes are refused",
            "boot without lockdown=confidentiality",
        ),
        _ => Some(check),
    }
}

pub(super) fn container(examined: &Examined<'_>) -> Option<Check> {
    let container = examined.facts.container?;
    Check::new("container", State::Note, container.name())
}
