//! Events with names of their own, in no file, and the forms of those that have none.

use rprof_abi::{event_type, hw, sw};

use super::{ListKind, ListedEvent, Selection};
use crate::cache::{cache_config, cache_names};
use crate::pmu::Pmu;
use crate::{Event, Sources};

/// What hardware events count, by `config`.
///
/// Source: `perf_event_open(2)` (man-pages 6.9).
const HARDWARE: &[&str] = &[
    "CPU cycles, at the frequency the CPU runs at",
    "instructions retired",
    "last-level cache accesses, usually",
    "last-level cache misses, usually",
    "branch instructions retired",
    "mispredicted branches",
    "bus cycles",
    "cycles stalled in the frontend: no instruction issued",
    "cycles stalled in the backend: no instruction retired",
    "cycles at a constant rate, unaffected by frequency scaling",
];

/// What software events count, by `config`.
const SOFTWARE: &[&str] = &[
    "CPU time, by a kernel timer; needs no PMU",
    "time the task runs",
    "page faults, minor and major",
    "context switches",
    "migrations of a task to another CPU",
    "page faults that needed no disk",
    "page faults that needed a disk",
    "unaligned memory accesses handled by the kernel",
    "instructions emulated by the kernel",
    "counts nothing; carries mappings and names",
    "data written by BPF programs",
    "context switches to a task of another control group",
];

/// Hardware, software and cache events.
pub(super) fn list(selection: &Selection, into: &mut Vec<ListedEvent>) {
    use ListKind::{Cache, Hardware, Software};
    let tables = [
        (Hardware, event_type::HARDWARE, hw::NAMES, HARDWARE),
        (Software, event_type::SOFTWARE, sw::NAMES, SOFTWARE),
    ];
    for (kind, number, names, descriptions) in tables {
        for (config, (name, alias)) in (0..).zip(names) {
            let is_it = selection.fits(name) || alias.is_some_and(|alias| selection.fits(alias));
            if selection.wants(kind) && is_it {
                let description = usize::try_from(config).ok();
                let description = description.and_then(|config| descriptions.get(config));
                into.push(ListedEvent {
                    alias: alias.map(str::to_owned),
                    description: description.map(ToString::to_string),
                    event: Some(Event::new((*name).to_owned(), number, config)),
                    ..ListedEvent::named(kind, *name)
                });
            }
        }
    }
    if selection.wants(Cache) {
        let names = cache_names().filter(|name| selection.fits(name));
        into.extend(names.map(|name| {
            ListedEvent {
                event: cache_config(&name)
                    .map(|config| Event::new(name.clone(), event_type::HW_CACHE, config)),
                ..ListedEvent::named(Cache, name)
            }
        }));
    }
}

/// What has to be filled in: of which kind, with which PMU if that is not always there, and what it is.
const FORMS: &[(ListKind, Option<&str>, &str, &str)] = &[
    (
        ListKind::Raw,
        None,
        "rNNN",
        "raw event NNN (hexadecimal) from the processor's manual",
    ),
    (
        ListKind::Breakpoint,
        None,
        "mem:ADDRESS[/LENGTH][:ACCESS]",
        "accesses to an address: r read, w write, x execute; at most 8 bytes",
    ),
    (
        ListKind::Probe,
        Some("uprobe"),
        "uprobe:/PATH:FUNCTION[+OFFSET]",
        "calls of a function in a file (rprof list --path FILE lists them)",
    ),
    (
        ListKind::Probe,
        Some("uprobe"),
        "uretprobe:/PATH:FUNCTION",
        "returns of a function in a file",
    ),
    (
        ListKind::Probe,
        Some("uprobe"),
        "usdt:/PATH:PROVIDER:NAME",
        "hits of a USDT marker in a file (rprof list --path FILE lists them)",
    ),
    (
        ListKind::Probe,
        Some("uprobe"),
        "sdt_PROVIDER:NAME[@/PATH]",
        "the same; without a path, in the recorded programs",
    ),
    (
        ListKind::Probe,
        Some("kprobe"),
        "kprobe:FUNCTION[+OFFSET]",
        "calls of a kernel function",
    ),
    (
        ListKind::Probe,
        Some("kprobe"),
        "kretprobe:FUNCTION",
        "returns of a kernel function",
    ),
];

/// What has to be filled in. The forms fit no pattern but their own beginning.
pub(super) fn list_forms(sources: &Sources, selection: &Selection, into: &mut Vec<ListedEvent>) {
    let is_there = |pmu: &str| Pmu::load(sources, pmu.to_owned()).is_some();
    for (kind, pmu, name, description) in FORMS {
        if selection.wants(*kind) && selection.fits(name) && pmu.is_none_or(is_there) {
            into.push(ListedEvent {
                description: Some((*description).to_owned()),
                ..ListedEvent::named(*kind, *name)
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_event_has_a_description() {
        assert_eq!(HARDWARE.len(), hw::NAMES.len());
        assert_eq!(SOFTWARE.len(), sw::NAMES.len());
    }
}
