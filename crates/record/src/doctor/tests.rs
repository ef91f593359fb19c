//! Diagnoses of made-up machines.

use super::*;
use crate::doctor::made_up::facts;
use rprof_ringbuf::OpenError;

fn all_open() -> Tried {
    Tried {
        user: Ok(()),
        kernel: Ok(()),
        all: Ok(()),
        hardware: Ok(()),
        probe: Some(Ok(())),
        by_ptrace: false,
        ring_bytes: Some(16 << 20),
    }
}

fn diagnosis(files: &[(&str, &str)], tried: &Tried) -> Diagnosis {
    let (_dir, facts) = facts(files);
    Diagnosis::new(&Examined {
        facts: &facts,
        tried,
        rights: Rights::Users,
        debuginfod: None,
    })
}

#[track_caller]
fn check<'d>(diagnosis: &'d Diagnosis, name: &str) -> &'d Check {
    let found = diagnosis.checks.iter().find(|check| check.name == name);
    found.unwrap_or_else(|| panic!("no {name}: {diagnosis:?}"))
}

#[test]
fn a_machine_that_allows_everything_is_full() {
    let kallsyms = ("proc/kallsyms", "ffffffff81000000 T _text\n");
    let full = diagnosis(&[kallsyms], &all_open());
    assert_eq!(full.profile, Prospect::Full, "{full:?}");
    assert!(
        full.outlook.contains("user space and kernel"),
        "{}",
        full.outlook
    );
    let hidden = diagnosis(
        &[("proc/kallsyms", "0000000000000000 T _text\n")],
        &all_open(),
    );
    assert_eq!(hidden.profile, Prospect::Less);
    assert_eq!(check(&hidden, "kernel symbols").state, State::Less);
}

#[test]
fn an_ordinary_user_gets_user_space() {
    let tried = Tried {
        kernel: Err(OpenError::Access),
        all: Err(OpenError::Access),
        hardware: Err(OpenError::NoSuchEvent),
        ring_bytes: Some(256 << 10),
        ..all_open()
    };
    let mlock = ("proc/sys/kernel/perf_event_mlock_kb", "516");
    let limits = "Max locked memory         65536                65536                bytes\n";
    let less = diagnosis(&[mlock, ("proc/self/limits", limits)], &tried);
    assert_eq!(less.profile, Prospect::Less);
    let kernel = check(&less, "kernel");
    assert_eq!(kernel.consequence.as_deref(), Some("user space only"));
    let fix = kernel.fix.as_deref().unwrap();
    assert!(
        fix.contains("CAP_PERFMON") && fix.contains("paranoid=1"),
        "{fix}"
    );
    let rings = check(&less, "memory for rings");
    assert!(rings.found.contains("516 KiB x 2 CPUs"), "{rings:?}");
    assert!(rings.found.contains("ulimit -l 64 KiB"), "{rings:?}");
    let outlook = "commands and your own processes, user space only, sampling cpu-clock, rings of up to 256 KiB";
    assert_eq!(less.outlook, outlook);
}

#[test]
fn a_container_that_forbids_everything_is_told_its_flag() {
    let refused = || Err(OpenError::Forbidden);
    let tried = Tried {
        user: refused(),
        kernel: refused(),
        all: refused(),
        hardware: refused(),
        probe: Some(refused()),
        by_ptrace: false,
        ring_bytes: None,
    };
    let status = ("proc/self/status", "CapEff:\t0\nSeccomp:\t2\n");
    let none = diagnosis(&[status, (".dockerenv", "")], &tried);
    assert_eq!(none.profile, Prospect::None);
    let fix = check(&none, "own programs").fix.as_deref().unwrap();
    assert!(fix.contains("docker run --cap-add PERFMON"), "{fix}");
    // Said once.
    let blocked = none
        .checks
        .iter()
        .filter(|check| check.state == State::Blocked);
    assert_eq!(blocked.count(), 1, "{none:?}");
    assert!(none.outlook.starts_with("nothing"), "{}", none.outlook);
    let tried = Tried {
        by_ptrace: true,
        ..tried
    };
    let less = diagnosis(&[status, (".dockerenv", "")], &tried);
    assert_eq!(less.profile, Prospect::Less);
    assert_eq!(check(&less, "own programs").fix.as_deref(), Some(fix));
    assert!(less.outlook.contains("by ptrace"), "{}", less.outlook);
}

#[test]
fn probes_have_a_line_of_their_own() {
    let team = ("proc/self/status", "CapEff:\t0000004000000000\n");
    let tried = Tried {
        probe: Some(Err(OpenError::Access)),
        ..all_open()
    };
    let refused = diagnosis(&[team], &tried);
    let probes = check(&refused, "probes (uprobe:)");
    assert_eq!(probes.state, State::Note);
    let fix = probes.fix.as_deref().unwrap();
    assert!(fix.starts_with("CAP_PERFMON is not enough"), "{fix}");
    let writable = ("sys/kernel/tracing/uprobe_events", "");
    let fine = diagnosis(&[team, writable], &tried);
    assert_eq!(check(&fine, "probes (uprobe:)").state, State::Fine);
    let everywhere = diagnosis(&[], &all_open());
    let found = &check(&everywhere, "probes (uprobe:)").found;
    assert_eq!(found, "can only be set in all processes");
}

#[test]
fn limits_and_rates_are_said_with_their_consequence() {
    let few = "Max open files            24                   24                   files\n";
    let low = [
        ("proc/self/limits", few),
        ("proc/sys/kernel/perf_event_max_sample_rate", "1000"),
        ("proc/sys/kernel/yama/ptrace_scope", "1"),
    ];
    let found = diagnosis(&low, &all_open());
    assert_eq!(check(&found, "open files").state, State::Less);
    assert_eq!(check(&found, "sampling rate").state, State::Less);
    assert_eq!(check(&found, "other processes (-p)").state, State::Note);
}
