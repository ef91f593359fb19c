//! Waits for futexes and for locks of the kernel, and who released them.

use super::*;
use rprof_syscalls::SyscallAbi;

const FUTEX: i64 = 202;

/// What comes of events: (time, thread, step). All are of one process.
fn waits(events: &[(u64, i32, SyscallStep)]) -> (Vec<LockWait>, Vec<String>) {
    let native = SyscallNames::of(SyscallAbi::X86_64);
    let mut follower = LockFollower::new(native.clone(), native);
    let mut waits = Vec::new();
    for &(time_ns, tid, step) in events {
        let who = Who {
            pid: 7,
            tid,
            comm: 0,
        };
        let event = LockEvent {
            time_ns,
            who,
            step,
            stack: None,
        };
        follower.take(&event, &mut |wait| waits.push(wait));
    }
    (waits, follower.warnings())
}

fn enter(op: u64, address: u64) -> SyscallStep {
    SyscallStep::Enter {
        number: FUTEX,
        args: [address, op, 0, 0, 0, 0],
    }
}

fn leave(result: i64) -> SyscallStep {
    SyscallStep::Leave {
        number: FUTEX,
        result,
    }
}

/// Time, holder, kind.
fn of(wait: &LockWait) -> (u64, Option<i32>, &'static str) {
    let holder = wait.holder.map(|holder| holder.who.tid);
    (wait.ns, holder, wait.lock.kind.name())
}

#[test]
fn who_released_last_before_a_wait_was_over_held_the_futex() {
    let private = 128;
    let (waits, warnings) = waits(&[
        (1, 9, enter(private | 1, 0x10)),
        (2, 9, leave(0)),
        (3, 8, enter(private, 0x10)),
        (4, 9, enter(private | 1, 0x20)),
        (5, 9, leave(1)),
        (6, 10, enter(private | 1, 0x10)),
        (7, 8, leave(0)),
        (8, 10, leave(1)),
        // It did not wait: the value had changed. One that lends its priority, and is interrupted.
        (9, 8, enter(private, 0x10)),
        (10, 8, leave(-11)),
        (11, 8, enter(6, 0x30)),
        (20, 8, leave(-4)),
    ]);
    let found: Vec<_> = waits.iter().map(of).collect();
    let expected = [
        (4, Some(10), "futex"),
        (1, None, "futex"),
        (9, None, "futex PI"),
    ];
    assert_eq!(found, expected);
    assert!(warnings.is_empty());
}

#[test]
fn locks_of_the_kernel_are_waited_for_by_spinning_and_asleep() {
    let begin = |lock, flags| SyscallStep::Lock(LockStep::Begin { lock, flags });
    let end = |lock| SyscallStep::Lock(LockStep::End { lock });
    let wake = |tid| SyscallStep::Lock(LockStep::Wake { tid });
    let (found, warnings) = waits(&[
        (1, 8, begin(0x10, 33)),
        (3, 8, begin(0x10, 32)),
        // An interrupt.
        (4, 8, begin(0x50, 1)),
        (5, 8, end(0x50)),
        (6, 9, wake(8)),
        (9, 8, end(0x10)),
        (10, 8, end(0x10)),
        (11, 9, begin(0x10, 4)),
    ]);
    let found: Vec<_> = found.iter().map(of).collect();
    assert_eq!(found, [(1, None, "spinlock"), (8, Some(9), "mutex")]);
    assert_eq!(warnings.len(), 2, "{warnings:?}");
}
