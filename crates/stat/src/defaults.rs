//! What is counted if nothing is named: perf's set.
//!
//! Source: `add_default_attributes` in `tools/perf/builtin-stat.c` (v6.1).

use crate::role::{PIPELINE, TOPDOWN};
use rprof_events::{Event, EventError, Sources, parse_events};

/// How much more than the usual (`-d`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum DefaultSet {
    /// No more.
    Usual,
    /// Caches of data.
    Data,
    /// Those of instructions and addresses, too.
    Addresses,
    /// Prefetches, too.
    Prefetches,
}

const DATA: &str = "L1-dcache-loads,L1-dcache-load-misses,LLC-loads,LLC-load-misses";
const ADDRESSES: &str = "L1-icache-loads,L1-icache-load-misses,dTLB-loads,dTLB-load-misses,iTLB-loads,\
                         iTLB-load-misses";
const PREFETCHES: &str = "L1-dcache-prefetches,L1-dcache-prefetch-misses";

/// The events, as they are written on the command line. `of_cpus`: what CPUs do, not what tasks do.
///
/// # Errors
/// Where sysfs describes a PMU in a way that is not understood.
pub fn default_events(
    sources: &Sources,
    of_cpus: bool,
    detail: DefaultSet,
) -> Result<Vec<Event>, EventError> {
    let clock = if of_cpus { "cpu-clock" } else { "task-clock" };
    let mut list = format!("{clock},context-switches,cpu-migrations,page-faults,cycles");
    let has = |name: &str| has_core_event(sources, name);
    for stalled in ["stalled-cycles-frontend", "stalled-cycles-backend"] {
        if has(stalled) {
            list = format!("{list},{stalled}");
        }
    }
    list.push_str(",instructions,branches,branch-misses");
    if let Some(group) = topdown_group(8, has) {
        list = format!("{list},{group}");
    }
    let mut events = parse_events(&list, sources)?;
    events.extend(detail_events(sources, detail)?);
    Ok(events)
}

/// What `-d` adds, also to events that are named.
///
/// # Errors
/// Where sysfs describes a PMU in a way that is not understood.
pub fn detail_events(sources: &Sources, detail: DefaultSet) -> Result<Vec<Event>, EventError> {
    let levels = [
        (DefaultSet::Data, DATA),
        (DefaultSet::Addresses, ADDRESSES),
        (DefaultSet::Prefetches, PREFETCHES),
    ];
    let wanted = levels.iter().filter(|(level, _)| detail >= *level);
    let mut events = Vec::new();
    for (_, list) in wanted {
        events.extend(parse_events(list, sources)?);
    }
    Ok(events)
}

/// The events of `--topdown`, down to a level of 1 or 2 where the machine has it; `None` if it has none.
///
/// # Errors
/// Where sysfs describes a PMU in a way that is not understood.
pub fn topdown_events(sources: &Sources, level: usize) -> Result<Option<Vec<Event>>, EventError> {
    let has = |name: &str| has_core_event(sources, name);
    let older = || {
        let is_whole = PIPELINE.iter().all(|name| has(name));
        (level == 1 && is_whole).then(|| format!("{{{}}}", PIPELINE.join(",")))
    };
    let is_deep = has("topdown-heavy-ops");
    let newer = (level == 1 || is_deep).then(|| topdown_group(4 * level, has));
    let list = newer.flatten().or_else(older);
    list.map(|list| parse_events(&list, sources)).transpose()
}

/// The first of the metrics of Intel's register, behind the slots that they are parts of.
fn topdown_group(n: usize, has: impl Fn(&str) -> bool) -> Option<String> {
    if !has("slots") || !has("topdown-retiring") {
        return None;
    }
    let names: Vec<&str> = (TOPDOWN.into_iter().take(n))
        .filter(|name| has(name))
        .collect();
    Some(format!("{{slots,{}}}", names.join(",")))
}

fn has_core_event(sources: &Sources, name: &str) -> bool {
    let is_there = |pmu: &str| {
        let events = sources.sysfs.join("bus/event_source/devices").join(pmu);
        events.join("events").join(name).exists()
    };
    is_there("cpu") || is_there("cpu_core")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn names(sources: &Sources, of_cpus: bool, detail: DefaultSet) -> Vec<String> {
        let events = default_events(sources, of_cpus, detail).unwrap();
        events.into_iter().map(|event| event.name).collect()
    }

    fn machine(events: &[&str]) -> (tempfile::TempDir, Sources) {
        let dir = tempfile::tempdir().unwrap();
        let pmu = dir.path().join("bus/event_source/devices/cpu");
        fs::create_dir_all(pmu.join("events")).unwrap();
        fs::create_dir_all(pmu.join("format")).unwrap();
        fs::write(pmu.join("type"), "4\n").unwrap();
        fs::write(pmu.join("format/event"), "config:0-7\n").unwrap();
        fs::write(pmu.join("format/umask"), "config:8-15\n").unwrap();
        for event in events {
            let path = pmu.join("events").join(event);
            fs::write(path, "event=0x00,umask=0x4\n").unwrap();
        }
        let sources = Sources {
            sysfs: dir.path().to_owned(),
            tracefs: dir.path().join("tracing"),
        };
        (dir, sources)
    }

    #[test]
    fn a_machine_without_a_pmu_has_the_names_all_the_same() {
        let (_dir, sources) = machine(&[]);
        let usual = names(&sources, false, DefaultSet::Usual);
        assert_eq!(usual[0], "task-clock");
        assert_eq!(
            usual[4..],
            ["cycles", "instructions", "branches", "branch-misses"]
        );
        assert_eq!(names(&sources, true, DefaultSet::Usual)[0], "cpu-clock");
        let numbers = [
            DefaultSet::Data,
            DefaultSet::Addresses,
            DefaultSet::Prefetches,
        ]
        .map(|detail| names(&sources, false, detail).len());
        assert_eq!(numbers, [12, 18, 20]);
    }

    #[test]
    fn slots_lead_the_metrics_that_are_there() {
        let (_dir, sources) = machine(&["slots", "topdown-retiring", "topdown-be-bound"]);
        let usual = names(&sources, false, DefaultSet::Usual);
        let group = ["slots", "topdown-retiring", "topdown-be-bound"];
        assert_eq!(usual[8..], group);
        let events = default_events(&sources, false, DefaultSet::Usual).unwrap();
        assert!(events[9].grouping.is_member() && !events[8].grouping.is_member());
    }

    #[test]
    fn levels_of_topdown_are_those_that_the_machine_has() {
        let level = |events: &[&str], level| {
            let (_dir, sources) = machine(events);
            let events = topdown_events(&sources, level).unwrap();
            events.map(|events| events.len())
        };
        let named = |names: &[&str]| -> Vec<String> {
            names.iter().map(|name| format!("topdown-{name}")).collect()
        };
        let four = named(&["retiring", "bad-spec", "fe-bound", "be-bound"]);
        let more = named(&["heavy-ops", "br-mispredict", "fetch-lat", "mem-bound"]);
        let older = named(&[
            "total-slots",
            "slots-issued",
            "slots-retired",
            "fetch-bubbles",
            "recovery-bubbles",
        ]);
        let ice_lake = [vec!["slots".to_owned()], four].concat();
        let sapphire_rapids = [ice_lake.clone(), more].concat();
        for (events, expected) in [
            (&ice_lake, [Some(5), None]),
            (&sapphire_rapids, [Some(5), Some(9)]),
            (&older, [Some(5), None]),
            (&Vec::new(), [None, None]),
        ] {
            let events: Vec<&str> = events.iter().map(String::as_str).collect();
            assert_eq!(
                [1, 2].map(|nth| level(&events, nth)),
                expected,
                "{events:?}"
            );
        }
    }
}
