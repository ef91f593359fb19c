//! Ids that are used again, and what repeats.

use super::*;
use crate::ImageId;

#[test]
fn a_reused_id_starts_over() {
    let history = Script::new()
        .comm(1, 7, b"old", true)
        .map(2, 7, 0x1000, b"/old")
        .add(
            3,
            Misc(0),
            Record::Exit(Task {
                pid: 7,
                ppid: 1,
                tid: 7,
                ptid: 1,
                time_ns: 3,
            }),
        )
        .comm(4, 1, b"init", false)
        .fork(5, 1, 7, 7)
        .build();
    // EXIT ends nothing: the kernel still works for the task.
    assert_eq!(comm_at(&history, 7, 4), Some(&b"old"[..]));
    assert_eq!(
        name_at(&history, 7, 4, 0x1000).as_deref(),
        Some(&b"/old"[..])
    );
    assert_eq!(comm_at(&history, 7, 6), Some(&b"init"[..]));
    assert_eq!(name_at(&history, 7, 6, 0x1000), None);
}

#[test]
fn a_reused_id_without_fork_starts_over_with_its_exec() {
    let history = Script::new()
        .comm(1, 7, b"old", true)
        .map(2, 7, 0x1000, b"/old")
        .comm(5, 7, b"new", true)
        .map(6, 7, 0x2000, b"/new")
        .map(7, 7, 0x3000, b"[vdso]")
        .map(8, 7, 0x4000, b"/lib")
        .build();
    assert_eq!(comm_at(&history, 7, 5), Some(&b"new"[..]));
    assert_eq!(name_at(&history, 7, 8, 0x1000), None);
    assert_eq!(
        name_at(&history, 7, 8, 0x2000).as_deref(),
        Some(&b"/new"[..])
    );
}

#[test]
fn a_reused_id_does_not_keep_a_name_when_its_own_is_not_known() {
    let history = Script::new()
        .comm(1, 7, b"old", true)
        .fork(5, 99, 7, 7)
        .comm(8, 7, b"new", false)
        .build();
    assert_eq!(comm_at(&history, 7, 4), Some(&b"old"[..]));
    assert_eq!(comm_at(&history, 7, 6), None);
    assert_eq!(comm_at(&history, 7, 9), Some(&b"new"[..]));
}

#[test]
fn a_thread_may_get_the_id_of_a_process_and_the_other_way_round() {
    let history = Script::new()
        .comm(1, 5, b"five", true)
        .map(1, 5, 0x5000, b"/five")
        .comm(2, 7, b"seven", true)
        .map(2, 7, 0x7000, b"/seven")
        // 7 is a thread of 5, then again a process.
        .fork(10, 5, 5, 7)
        .comm(11, 7, b"worker", false)
        .fork(20, 5, 7, 7)
        .build();
    assert_eq!(comm_at(&history, 7, 9), Some(&b"seven"[..]));
    assert_eq!(comm_at(&history, 7, 10), Some(&b"five"[..]));
    assert_eq!(comm_at(&history, 7, 12), Some(&b"worker"[..]));
    assert_eq!(comm_at(&history, 5, 12), Some(&b"five"[..]));
    assert_eq!(comm_at(&history, 7, 20), Some(&b"five"[..]));
    assert_eq!(
        name_at(&history, 5, 15, 0x5000).as_deref(),
        Some(&b"/five"[..])
    );
    assert_eq!(
        name_at(&history, 7, 20, 0x5000).as_deref(),
        Some(&b"/five"[..])
    );
    assert_eq!(name_at(&history, 7, 20, 0x7000), None);
}

#[test]
fn a_program_that_runs_again_costs_no_more_mappings() {
    let mut script = Script::new();
    script.map(1, 1, 0x1000, b"/sh");
    for (pid, time) in (2..22).cycle().zip((10..510).step_by(10)) {
        script
            .fork(time, 1, pid, pid)
            .comm(time + 1, pid, b"cc", true)
            .map(time + 2, pid, 0x1000, b"/cc")
            .map(time + 3, pid, 0x3000, b"/libc")
            .comm(time + 4, pid, b"cc", false);
    }
    let history = script.build();
    let epochs: Vec<_> = (10..510).map(|time| history.epoch(2, at(time))).collect();
    // Of the shell, with one mapping of the program over it, with two, and with a fork of both.
    let numbers: std::collections::BTreeSet<u32> = epochs.iter().map(|e| e.number()).collect();
    assert!(numbers.len() <= 4, "{numbers:?}");
    assert_eq!(history.epoch(2, at(19)), history.epoch(11, at(509)));
    assert_eq!(history.images().of(ImageId(3)), None);
}
