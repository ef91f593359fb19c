//! Limits of locked memory and of open files.

use crate::common::nobody::Sysctl;
use crate::common::{needs, not_run};
use crate::permissions::cells::{Cells, Who};

/// A shell that sets a limit and executes what follows.
fn within(limit: &str) -> [&str; 4] {
    ["sh", "-c", limit, "sh"]
}

#[test]
fn too_little_memory_for_rings_is_a_smaller_ring_or_a_sentence() {
    needs!(alone, root);
    let Some(cells) = Cells::new() else {
        return;
    };
    if rprof_ringbuf::sys::page_size() != 4096 {
        not_run("it counts in pages of 4 KiB");
        return;
    }
    let around = within("ulimit -l 0; exec \"$@\"");
    // From room for both kinds of rings to not even the smallest. With 20 KiB for each CPU, sideband alone
    // would take all.
    for (kib, is_enough) in [
        ("516", true),
        ("64", true),
        ("20", true),
        ("8", false),
        ("4", false),
    ] {
        let Some(_budget) = Sysctl::set("kernel/perf_event_mlock_kb", kib) else {
            not_run("kernel.perf_event_mlock_kb may not be set");
            return;
        };
        let ran = cells.record(Who::Nobody, &around, &[]);
        let line = ran.stderr.lines().filter(|line| line.contains("mlock_kb"));
        assert_eq!(line.count(), 1, "{kib}: {}", ran.stderr);
        let said = cells.doctor(Who::Nobody, &around);
        assert!(ran.status.success(), "{kib}: {ran:?}");
        assert_ne!(said["profile"], "none", "{kib}: {said}");
        let by_ptrace = said["outlook"].as_str().unwrap().contains("ptrace");
        assert_eq!(by_ptrace, !is_enough, "{kib}: {said}");
        // As much as is asked for, and what comes with it.
        if kib == "516" {
            let words = ["not enough lockable memory", "perf_event_mlock_kb=65672"];
            cells.records(Who::Nobody, &around, &["-m", "64M"], &words);
        }
        if is_enough {
            assert!(
                ran.stderr.contains("not enough lockable memory"),
                "{kib}: {ran:?}"
            )
        } else {
            // No rings at all: something else stands in, where it can.
            let words = ["no locked memory left", "sampling by ptrace"];
            cells.records(Who::Nobody, &around, &[], &words);
            let words = ["no locked memory left", "mlock_kb"];
            cells.refuses(Who::Nobody, &around, &["-e", "page-faults"], &words);
        }
    }
}

#[test]
fn too_few_files_are_fewer_events_or_a_sentence() {
    needs!(alone, root);
    let Some(cells) = Cells::new() else {
        return;
    };
    let n_cpus = std::thread::available_parallelism().unwrap().get();
    for who in [Who::Root, Who::Nobody] {
        few_files(&cells, who, n_cpus);
    }
}

fn few_files(cells: &Cells, who: Who, n_cpus: usize) {
    let (mut n_less, mut n_none) = (0, 0);
    for limit in (8..20 + 5 * n_cpus).step_by(2) {
        let limit = format!("ulimit -n {limit}; exec \"$@\"");
        let around = within(&limit);
        let ran = cells.record(who, &around, &[]);
        if ran.status.success() {
            let lines = ran
                .stderr
                .lines()
                .filter(|line| line.contains("open files"));
            let n_lines = lines.count();
            assert!(n_lines <= 1, "{limit}: {}", ran.stderr);
            n_less += n_lines;
        } else {
            assert!(ran.stderr.contains("open files"), "{limit}: {}", ran.stderr);
            n_none += 1;
        }
    }
    assert!(n_less > 0 && n_none > 0, "{who:?} {n_less} {n_none}");
}
