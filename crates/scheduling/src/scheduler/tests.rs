//! Switches and wake-ups in, runs and waits out.

use super::*;
use crate::Waker;

fn switch(time_ns: u64, cpu: u32, prev: i32, letter: &str, next: i32) -> ContextSwitch {
    ContextSwitch {
        time_ns,
        cpu,
        prev,
        prev_state: SwitchState::from_letters(letter),
        next,
    }
}

fn woken(time_ns: u64) -> WakeUp {
    let waker = Waker::Thread(1);
    WakeUp { time_ns, waker }
}

#[test]
fn a_switch_ends_the_run_that_another_one_began() {
    let mut scheduler = Scheduler::default();
    let first = scheduler.switch(switch(10, 0, 5, "S", 6));
    // What ran before the first switch began nobody knows when.
    assert_eq!((first.tid, first.start_ns, first.wait), (5, None, None));
    let run = scheduler.switch(switch(14, 0, 6, "R+", 0));
    assert_eq!((run.tid, run.ran_ns(), run.wait), (6, 4, None));
    scheduler.wake(5, woken(20));
    scheduler.wake(5, woken(21));
    scheduler.switch(switch(22, 1, 0, "R", 5));
    let run = scheduler.switch(switch(30, 1, 5, "X", 0));
    assert_eq!((run.waited_ns(), run.delay_ns(), run.ran_ns()), (12, 2, 8));
    assert_eq!(run.woken, Some(woken(20)));
    assert_eq!(scheduler.contradictions().n(), 0);
    // What has ended waits no more.
    let open = scheduler.open();
    assert_eq!(open.len(), 1);
    let (tid, waiting) = open[0];
    assert_eq!((tid, waiting.start_ns, waiting.woken), (6, None, None));
    assert_eq!(waiting.wait.map(|wait| wait.start_ns), Some(14));
}

#[test]
fn what_runs_is_not_woken() {
    let mut scheduler = Scheduler::default();
    scheduler.switch(switch(10, 0, 0, "R", 5));
    scheduler.wake(5, woken(12));
    scheduler.switch(switch(13, 0, 5, "S", 0));
    scheduler.switch(switch(20, 0, 0, "R", 5));
    let run = scheduler.switch(switch(21, 0, 5, "S", 0));
    assert_eq!((run.waited_ns(), run.delay_ns()), (7, 0));
}

#[test]
fn lost_switches_make_times_unknown() {
    let mut scheduler = Scheduler::default();
    scheduler.switch(switch(10, 0, 0, "R", 5));
    // The switch from 5 to 6 is lost.
    let run = scheduler.switch(switch(20, 0, 6, "S", 7));
    assert_eq!((run.tid, run.start_ns), (6, None));
    // 5 runs on another CPU: it has left the first one at some time.
    scheduler.switch(switch(25, 1, 0, "R", 5));
    let run = scheduler.switch(switch(30, 1, 5, "S", 0));
    assert_eq!((run.ran_ns(), run.wait), (5, None));
    assert_eq!(scheduler.contradictions().n(), 2);
}

#[test]
fn records_of_single_threads_say_the_same_as_switches() {
    let state = SwitchState::from_letters("S");
    let mut scheduler = Scheduler::default();
    scheduler.enter(10, 0, 5);
    assert_eq!(scheduler.running_since(5), Some(10));
    let run = scheduler.leave(14, 0, 5, state).unwrap();
    assert_eq!((run.ran_ns(), run.state), (4, state));
    assert_eq!(scheduler.leave(15, 0, 5, SwitchState::Unknown), None);
    scheduler.enter(20, 1, 5);
    let run = scheduler.leave(21, 1, 5, state).unwrap();
    assert_eq!((run.waited_ns(), run.ran_ns()), (6, 1));
    assert_eq!(scheduler.contradictions().n(), 0);
}

#[test]
fn who_comes_where_a_switch_said_stays_since_then() {
    let mut scheduler = Scheduler::default();
    scheduler.switch(switch(10, 0, 5, "S", 6));
    scheduler.leave(11, 0, 5, SwitchState::Unknown);
    scheduler.enter(12, 0, 6);
    assert_eq!(scheduler.running_since(6), Some(10));
    // Nobody recorded when 6 left, and so what it does is not known.
    let evicted = scheduler.enter(30, 0, 5);
    assert_eq!(
        evicted.map(|(tid, open)| (tid, open.start_ns)),
        Some((6, Some(10)))
    );
    assert!(!scheduler.knows(6) && scheduler.knows(5));
    let run = scheduler.switch(switch(34, 0, 5, "S", 0));
    assert_eq!((run.waited_ns(), run.ran_ns()), (20, 4));
    assert_eq!(scheduler.contradictions().n(), 1);
}

#[test]
fn after_a_pause_nothing_is_known_but_that_who_leaves_was_there() {
    let mut scheduler = Scheduler::default();
    scheduler.switch(switch(10, 0, 0, "R", 5));
    scheduler.switch(switch(12, 1, 6, "S", 0));
    let open = scheduler.pause(50);
    let told: Vec<_> = open
        .iter()
        .map(|(tid, (open, cpu))| {
            (
                *tid,
                open.start_ns,
                open.wait.map(|wait| wait.start_ns),
                *cpu,
            )
        })
        .collect();
    assert_eq!(told, [(5, Some(10), None, 0), (6, None, Some(12), 0)]);
    assert!(!scheduler.knows(5) && !scheduler.knows(6));
    // Nobody came to that CPU since.
    assert_eq!(scheduler.silent_since(1), Some(50));
    let run = scheduler.switch(switch(60, 1, 6, "S", 5));
    assert_eq!((run.start_ns, run.wait), (Some(50), None));
    let run = scheduler.switch(switch(64, 1, 5, "S", 6));
    assert_eq!((run.ran_ns(), run.wait), (4, None));
    assert_eq!(scheduler.contradictions().n(), 0);
}
