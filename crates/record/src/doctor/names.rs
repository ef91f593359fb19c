//! Checks: what names need.

use super::check::{Check, State};
use super::examined::Examined;
use rprof_targets::rights::Capability;
use std::fs::File;
use std::io::Read;

/// As much of the list as tells whether it has addresses, bytes.
const SEEN: u64 = 4096;

/// Whether the kernel says where its functions are.
pub(super) fn kernel_symbols(examined: &Examined<'_>) -> Option<Check> {
    let name = "kernel symbols";
    let facts = examined.facts;
    if examined.tried.kernel.is_err() {
        return None;
    }
    let mut list = String::new();
    let file = File::open(facts.root.join("proc/kallsyms")).ok();
    let read = file.and_then(|file| file.take(SEEN).read_to_string(&mut list).ok());
    let has_addresses = list
        .lines()
        .filter_map(|line| line.split_whitespace().next())
        .any(|address| address.bytes().any(|digit| digit != b'0'));
    if read.is_some() && has_addresses {
        return Check::fine(name, "can be read");
    }
    let restrict = facts.number::<u32>("proc/sys/kernel/kptr_restrict");
    let found = match restrict {
        Some(level) => format!("hidden (kernel.kptr_restrict is {level})"),
        None => "hidden".to_owned(),
    };
    let fix = match (restrict, facts.has(Capability::Syslog)) {
        (Some(2..), _) => "sudo sysctl kernel.kptr_restrict=1, and run with sudo",
        _ => {
            "run with sudo, or give rprof's file CAP_SYSLOG (README.md, \"For a team\"); or sudo sysctl \
             kernel.kptr_restrict=0 with kernel.perf_event_paranoid=1"
        }
    };
    Check::new(name, State::Less, found)?.but("kernel functions have no names", fix)
}

pub(super) fn debuginfod(examined: &Examined<'_>) -> Option<Check> {
    let name = "debuginfod";
    match examined.debuginfod.as_deref().map(str::trim) {
        Some(urls) if !urls.is_empty() => Check::fine(name, urls),
        _ => Check::new(name, State::Note, "DEBUGINFOD_URLS is not set")?.but(
            "debug files are searched for only on this machine",
            "export DEBUGINFOD_URLS=URL (your distribution's server)",
        ),
    }
}
