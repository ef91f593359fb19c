//! Every name that `perf list` has is the same event here, and so is every generic name that rprof lists.

use super::common;
use common::attr_dump::{Dumped, first_tries};
use common::{Tracefs, needs, perf, run, tracefs};
use rprof_abi::{AttrFlags, PerfEventAttr};
use rprof_events::{ListKind, Selection, Sources, list_events, parse_events};

/// Of each system's tracepoints, one of this many: perf needs 40 ms to close one.
const ONE_OF: usize = 25;

/// Names with numbers of their own, which nobody lists.
const FORMS: &[&str] = &[
    "r1a8",
    "r0",
    "cpu-clock/percore/",
    "faults/percore=1,period=7/u",
    "cpu-clock:u",
    "cpu-clock:k",
    "cycles:h",
    "cycles:upp",
    "instructions:ukh",
    "cycles:G",
    "cycles:H",
    "branches:uI",
    "L1-dcache-loads:k",
    "mem:0x1000/8:w",
    "mem:0x1000:rw",
    "mem:0x1000:x",
    "mem:4096/2:r:u",
    "mem:0x2000",
];

/// What perf lists that can be opened: the names that it has for counting alone are not events of the kernel.
fn of_perf() -> Vec<String> {
    let mut list = perf([
        "list",
        "--raw-dump",
        "hw",
        "sw",
        "cache",
        "tracepoint",
        "pmu",
    ]);
    let text = run(&mut list).ok().stdout;
    let is_event = |name: &&str| {
        let by_perf_itself = ["duration_time", "user_time", "system_time"];
        !by_perf_itself.contains(name) && !is_forbidden(name)
    };
    let mut names: Vec<_> = text
        .split_whitespace()
        .filter(is_event)
        .map(str::to_owned)
        .collect();
    names.sort_unstable();
    names.dedup();
    names
}

/// perf refuses to open it, and ends.
fn is_forbidden(name: &str) -> bool {
    name == "ftrace:function"
}

/// Generic names, which perf lists only where they are counted.
fn generic() -> Vec<String> {
    let list = list_events(&Sources::default(), &Selection::default());
    let is_generic = |kind| {
        matches!(
            kind,
            ListKind::Hardware | ListKind::Software | ListKind::Cache
        )
    };
    let generic = list
        .events
        .into_iter()
        .filter(|event| is_generic(event.kind));
    generic
        .flat_map(|event| [Some(event.name), event.alias])
        .flatten()
        .collect()
}

/// Every nth of each system; a system's first in any case.
fn sampled(tracepoints: Vec<String>) -> Vec<String> {
    let mut sampled = Vec::new();
    let (mut system, mut n) = (String::new(), 0);
    for name in tracepoints {
        let own = name.split(':').next().unwrap();
        if own != system {
            (system, n) = (own.to_owned(), 0);
        }
        if n % ONE_OF == 0 {
            sampled.push(name);
        }
        n += 1;
    }
    sampled
}

/// A field that makes it this event: its name in dumps, its value, and whether it is hexadecimal there.
type Field = (&'static str, fn(&PerfEventAttr) -> u64, bool);

const FIELDS: &[Field] = &[
    ("type", |attr| attr.kind.into(), false),
    ("config", |attr| attr.config, true),
    ("bp_type", |attr| attr.bp_type.into(), false),
    ("{ bp_addr, config1 }", |attr| attr.config1, true),
    ("{ bp_len, config2 }", |attr| attr.config2, true),
    ("precise_ip", |attr| attr.flags.precise_ip().into(), false),
    (
        "exclude_user",
        |attr| flag(attr, AttrFlags::EXCLUDE_USER),
        false,
    ),
    (
        "exclude_kernel",
        |attr| flag(attr, AttrFlags::EXCLUDE_KERNEL),
        false,
    ),
    (
        "exclude_hv",
        |attr| flag(attr, AttrFlags::EXCLUDE_HV),
        false,
    ),
    (
        "exclude_idle",
        |attr| flag(attr, AttrFlags::EXCLUDE_IDLE),
        false,
    ),
    (
        "exclude_host",
        |attr| flag(attr, AttrFlags::EXCLUDE_HOST),
        false,
    ),
    (
        "exclude_guest",
        |attr| flag(attr, AttrFlags::EXCLUDE_GUEST),
        false,
    ),
];

fn flag(attr: &PerfEventAttr, flag: AttrFlags) -> u64 {
    attr.flags.has(flag).into()
}

/// As perf dumps it.
fn dumped(attr: &PerfEventAttr) -> Dumped {
    let set = FIELDS
        .iter()
        .map(|(name, value, is_hex)| (name, value(attr), is_hex));
    let text = |number: u64, is_hex: bool| {
        if is_hex {
            format!("{number:#x}")
        } else {
            number.to_string()
        }
    };
    let set = set.filter(|(_, number, _)| *number != 0);
    set.map(|(name, number, is_hex)| ((*name).to_owned(), text(number, *is_hex)))
        .collect()
}

/// Perf's attr without what is not compared. Guests are sampled only if `G` says so, in perf also with other
/// letters (see DIFFERENCES.md).
fn compared(name: &str, mut attr: Dumped) -> Dumped {
    attr.retain(|field, _| FIELDS.iter().any(|(name, ..)| name == field));
    if !name.contains('G') {
        attr.insert("exclude_guest".to_owned(), "1".to_owned());
    }
    attr
}

#[test]
fn names_of_perf_list_are_the_same_events() {
    needs!(root, perf, alone);
    let (tracepoints, others): (Vec<_>, Vec<_>) =
        of_perf().into_iter().partition(|name| name.contains(':'));
    let tracepoints = match tracefs() {
        Some(Tracefs::Mounted) => sampled(tracepoints),
        // perf could look them up only in a place of its own.
        _ => Vec::new(),
    };
    let forms = FORMS.iter().map(|name| (*name).to_owned());
    let mut names: Vec<String> = others.into_iter().chain(generic()).collect();
    names.sort_unstable();
    names.dedup();
    names.extend(tracepoints.into_iter().chain(forms));
    println!("{} events", names.len());
    // Those of a PMU that counts for CPUs alone are opened after others.
    let (of_pmus, names): (Vec<_>, Vec<_>) =
        names.into_iter().partition(|name| name.ends_with('/'));
    for names in names.chunks(100).chain(of_pmus.chunks(1)) {
        let list = names.join(",");
        let mut stat = perf(["stat", "-vv", "-e", &list, "true"]);
        let ran = run(&mut stat);
        let attrs = first_tries(&ran.stderr);
        assert_eq!(attrs.len(), names.len(), "{}", ran.stderr);
        for (name, theirs) in names.iter().zip(attrs) {
            let ours = parse_events(name, &Sources::default());
            let ours = ours.unwrap_or_else(|error| panic!("{name}: {error}"));
            assert_eq!(ours.len(), 1, "{name}");
            assert_eq!(dumped(&ours[0].attr), compared(name, theirs), "{name}");
        }
    }
}
