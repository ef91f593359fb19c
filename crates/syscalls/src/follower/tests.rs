//! Entries and returns in, calls out; and what becomes of those that lack the other.

use super::*;
use crate::SyscallAbi;
use proptest::prelude::*;

fn follower() -> SyscallFollower<()> {
    let native = SyscallAbi::X86_64;
    SyscallFollower::new(
        SyscallNames::of(native),
        SyscallNames::of(native.of_32_bit_tasks()),
    )
}

fn id(number: i64) -> SyscallId {
    SyscallId {
        number,
        is_32_bit: false,
    }
}

/// What comes of events: (thread, number, result), a number below -1 being the end of a thread.
fn calls(events: &[(i32, i64, Option<i64>)]) -> Vec<(i32, i64, Option<u64>, SyscallEnd)> {
    let mut follower = follower();
    let mut calls = Vec::new();
    let mut visit = |call: Syscall<()>| {
        calls.push((call.tid, call.id.number, call.ns(), call.end));
    };
    for (time_ns, &(tid, number, result)) in (0..).zip(events) {
        let at = SyscallMoment {
            pid: tid / 10 * 10,
            tid,
            time_ns,
        };
        match result {
            _ if number < -1 => follower.end_thread(tid, &mut visit),
            None => follower.enter(at, (id(number), [0; 6], ()), &mut visit),
            Some(result) => {
                follower.leave(at, (id(number), SyscallResult(result)), &mut visit);
            }
        }
    }
    follower.end(&mut visit);
    calls
}

fn returned(time_ns: u64, result: i64) -> SyscallEnd {
    SyscallEnd::Returned {
        time_ns,
        result: SyscallResult(result),
    }
}

const LOST: SyscallEnd = SyscallEnd::Unfinished(Unfinished::Lost);

#[test]
fn threads_do_not_disturb_each_other() {
    let found = calls(&[
        (7, 0, None),
        (8, 1, None),
        (7, 0, Some(5)),
        (8, 1, Some(-11)),
    ]);
    let expected = [
        (7, 0, Some(2), returned(2, 5)),
        (8, 1, Some(2), returned(3, -11)),
    ];
    assert_eq!(found, expected);
}

#[test]
fn what_lacks_its_other_end_is_still_a_call() {
    // The child of a clone returns only; a read whose return is lost; exit.
    let found = calls(&[
        (7, 56, Some(0)),
        (7, 0, None),
        (7, 1, None),
        (7, 3, Some(0)),
        (7, 60, None),
        (7, -2, None),
        (8, 35, None),
    ]);
    let ended = SyscallEnd::Unfinished(Unfinished::ThreadEnded);
    let expected = [
        (7, 56, None, returned(0, 0)),
        (7, 0, None, LOST),
        (7, 1, None, LOST),
        (7, 3, None, returned(3, 0)),
        (7, 60, None, ended),
        (
            8,
            35,
            None,
            SyscallEnd::Unfinished(Unfinished::RecordingEnded),
        ),
    ];
    assert_eq!(found, expected);
}

#[test]
fn returns_from_signal_handlers_have_any_number() {
    let found = calls(&[
        (7, 15, None),
        (7, -1, Some(0)),
        (7, 15, None),
        (7, 0, Some(-4)),
    ]);
    let expected = [
        (7, 15, Some(1), returned(1, 0)),
        (7, 15, Some(1), returned(3, -4)),
    ];
    assert_eq!(found, expected);
    assert_eq!(calls(&[(7, -1, Some(0))]), []);
}

#[test]
fn who_executes_a_program_becomes_the_first_thread() {
    let found = calls(&[
        (20, 202, None),
        (23, 59, None),
        (20, -2, None),
        (20, 59, Some(0)),
    ]);
    let ended = SyscallEnd::Unfinished(Unfinished::ThreadEnded);
    let expected = [(20, 202, None, ended), (20, 59, Some(2), returned(3, 0))];
    assert_eq!(found, expected);
    // execveat returns as execve does.
    let found = calls(&[
        (7, 322, None),
        (7, 59, Some(0)),
        (7, 322, None),
        (7, 322, Some(-2)),
    ]);
    let expected = [
        (7, 322, Some(1), returned(1, 0)),
        (7, 322, Some(1), returned(3, -2)),
    ];
    assert_eq!(found, expected);
}

#[test]
fn of_threads_that_execute_programs_the_last_one_does() {
    let mut follower = follower();
    let mut calls = Vec::new();
    let at = |tid, time_ns| SyscallMoment {
        pid: 20,
        tid,
        time_ns,
    };
    let mut visit = |call: Syscall<()>| calls.push((call.tid, call.ns(), call.end));
    for (tid, time_ns) in [(23, 1), (22, 2), (21, 3)] {
        follower.enter(at(tid, time_ns), (id(59), [0; 6], ()), &mut visit);
    }
    follower.end_thread(21, &mut visit);
    let exec = (id(59), SyscallResult(0));
    assert_eq!(follower.leave(at(20, 9), exec, &mut visit), Some(22));
    assert_eq!(follower.leave(at(20, 10), exec, &mut visit), Some(23));
    assert_eq!(follower.leave(at(20, 11), exec, &mut visit), None);
    let ended = SyscallEnd::Unfinished(Unfinished::ThreadEnded);
    let expected = [
        (21, None, ended),
        (20, Some(7), returned(9, 0)),
        (20, Some(9), returned(10, 0)),
        (20, None, returned(11, 0)),
    ];
    assert_eq!(calls, expected);
}

#[test]
fn many_open_calls_cost_an_exec_without_entry_nothing() {
    const N: i32 = 40_000;
    let mut follower = follower();
    let mut n = 0;
    let at = |tid, time_ns| SyscallMoment {
        pid: 7,
        tid,
        time_ns,
    };
    for tid in 0..N {
        follower.enter(at(tid, 1), (id(0), [0; 6], ()), &mut |_| n += 1);
    }
    // Looking at all open calls each time is 1.6e9 steps.
    for tid in N..2 * N {
        follower.leave(at(tid, 2), (id(59), SyscallResult(0)), &mut |_| n += 1);
    }
    follower.end(&mut |_| n += 1);
    assert_eq!(n, 2 * N);
}

#[test]
fn calls_are_not_paired_across_lost_events() {
    let mut follower = follower();
    let mut calls = Vec::new();
    let at = |time_ns| SyscallMoment {
        pid: 7,
        tid: 7,
        time_ns,
    };
    let mut visit = |call: Syscall<()>| calls.push((call.ns(), call.end));
    follower.enter(at(1), (id(0), [0; 6], ()), &mut visit);
    follower.lose(&mut visit);
    follower.leave(at(5), (id(0), SyscallResult(7)), &mut visit);
    assert_eq!(calls, [(None, LOST), (None, returned(5, 7))]);
}

#[test]
fn an_id_of_another_process_is_another_thread() {
    let mut follower = follower();
    let mut calls = Vec::new();
    let at = |pid, time_ns| SyscallMoment {
        pid,
        tid: 9,
        time_ns,
    };
    let mut visit = |call: Syscall<()>| calls.push((call.pid, call.ns(), call.end));
    follower.enter(at(7, 1), (id(0), [0; 6], ()), &mut visit);
    follower.leave(at(8, 5), (id(0), SyscallResult(7)), &mut visit);
    assert_eq!(calls, [(7, None, LOST), (8, None, returned(5, 7))]);
}

proptest! {
    #[test]
    fn each_event_is_in_one_call(events: Vec<(u8, u8, Option<i64>)>) {
        let events: Vec<_> = events
            .iter()
            .map(|&(tid, number, result)| (i32::from(tid % 5), i64::from(number % 70), result))
            .collect();
        let calls = calls(&events);
        let n_entries = events.iter().filter(|event| event.2.is_none()).count();
        let n_returns = events.len() - n_entries;
        let is_returned = |end: SyscallEnd| matches!(end, SyscallEnd::Returned { .. });
        let n_returned = calls.iter().filter(|call| is_returned(call.3)).count();
        let n_entered = calls.iter().filter(|call| call.2.is_some() || !is_returned(call.3)).count();
        prop_assert_eq!(n_returned, n_returns);
        prop_assert_eq!(n_entered, n_entries);
    }
}
