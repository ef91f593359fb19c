//! Scripted programs, whose critical paths are known; and any switches, whose paths have no gaps.

use super::*;
use crate::{ContextSwitch, Scheduler};
use proptest::prelude::*;

/// Events as they would be recorded, on as many CPUs as there are threads.
#[derive(Default)]
struct Script {
    scheduler: Scheduler,
    graph: RunGraph,
}

impl Script {
    fn on(&mut self, time_ns: u64, tid: i32) {
        self.switch(time_ns, tid.unsigned_abs(), 0, "R", tid);
    }

    fn off(&mut self, time_ns: u64, tid: i32, letter: &str) {
        self.switch(time_ns, tid.unsigned_abs(), tid, letter, 0);
    }

    fn switch(&mut self, time_ns: u64, cpu: u32, prev: i32, letter: &str, next: i32) {
        let run = self.scheduler.switch(ContextSwitch {
            time_ns,
            cpu,
            prev,
            prev_state: SwitchState::from_letters(letter),
            next,
        });
        self.graph.add(run);
    }

    fn wake(&mut self, time_ns: u64, waker: Waker, tid: i32) {
        self.scheduler.wake(tid, WakeUp { time_ns, waker });
    }

    /// A thread's path: who, for how long, what.
    fn path(&self, tid: i32, range: Range<u64>) -> Vec<(i32, u64, Activity)> {
        let mut graph = self.graph.clone();
        for (tid, open) in self.scheduler.open() {
            graph.add_open(tid, open, range.end);
        }
        let steps = graph.critical_path(tid, range);
        let of_step = |step: &PathStep| (step.tid, step.len_ns(), step.activity);
        steps.iter().map(of_step).collect()
    }
}

#[test]
fn a_thread_that_waits_for_the_slowest_of_two_owes_its_time_to_that_one() {
    let mut script = Script::default();
    script.on(0, 1);
    // 1 starts 2, which takes 30, and 3, which takes 50; both begin 2 after their wake-up.
    script.wake(10, Waker::Thread(1), 2);
    script.on(12, 2);
    script.wake(14, Waker::Thread(1), 3);
    script.on(16, 3);
    script.off(20, 1, "S");
    script.off(42, 2, "X");
    script.wake(66, Waker::Thread(3), 1);
    script.off(66, 3, "X");
    script.on(70, 1);
    script.off(75, 1, "X");
    assert_eq!(
        script.path(1, 0..75),
        [
            (1, 14, Activity::Running),
            (3, 2, Activity::Runnable),
            (3, 50, Activity::Running),
            (1, 4, Activity::Runnable),
            (1, 5, Activity::Running),
        ]
    );
}

#[test]
fn who_lets_others_wait_from_before_is_on_the_path_from_then_on() {
    let mut script = Script::default();
    // 2 has held a lock since 0; 1 wants it at 5.
    script.on(0, 1);
    script.on(0, 2);
    script.off(5, 1, "S");
    script.wake(20, Waker::Thread(2), 1);
    script.on(20, 1);
    script.off(30, 1, "X");
    let path = script.path(1, 0..30);
    assert_eq!(
        path,
        [(2, 20, Activity::Running), (1, 10, Activity::Running)]
    );
}

#[test]
fn what_no_thread_ends_is_on_the_path_itself() {
    let mut script = Script::default();
    script.on(0, 1);
    script.off(10, 1, "S");
    script.wake(50, Waker::Interrupt, 1);
    script.on(51, 1);
    // The kernel takes the CPU.
    script.off(60, 1, "R+");
    script.on(64, 1);
    script.off(70, 1, "D");
    script.on(75, 1);
    script.off(80, 1, "X");
    assert_eq!(
        script.path(1, 0..80),
        [
            (1, 10, Activity::Running),
            (1, 40, Activity::Blocked),
            (1, 1, Activity::Runnable),
            (1, 9, Activity::Running),
            (1, 4, Activity::Runnable),
            (1, 6, Activity::Running),
            (1, 5, Activity::Blocked),
            (1, 5, Activity::Running),
        ]
    );
    // A part of it.
    assert_eq!(
        script.path(1, 20..51),
        [(1, 30, Activity::Blocked), (1, 1, Activity::Runnable)]
    );
    // Whose end is not recorded, and who is not known.
    assert_eq!(script.path(1, 78..90).len(), 2);
    assert_eq!(script.path(7, 0..5), [(7, 5, Activity::Unknown)]);
}

#[test]
fn threads_that_wake_each_other_at_one_time_end() {
    let mut script = Script::default();
    script.on(0, 1);
    script.on(0, 2);
    script.off(5, 1, "S");
    script.off(5, 2, "S");
    script.wake(9, Waker::Thread(2), 1);
    script.wake(9, Waker::Thread(1), 2);
    script.on(9, 1);
    script.on(9, 2);
    script.off(10, 1, "X");
    let path = script.path(1, 0..10);
    let total: u64 = path.iter().map(|step| step.1).sum();
    assert_eq!(total, 10);
}

proptest! {
    #[test]
    fn a_path_fills_its_range(
        events in prop::collection::vec((0u64..4, 0u32..3, 0i32..4, 0usize..6, 0i32..4), 0..60),
        tid in 1i32..5,
        from in 0u64..40,
        len in 1u64..120,
    ) {
        let mut script = Script::default();
        let mut time_ns = 0;
        for (step, cpu, one, what, other) in events {
            time_ns += step;
            let letter = ["S", "R", "D", "X"].get(what);
            match letter {
                Some(letter) => script.switch(time_ns, cpu, one, letter, other),
                None if what == 4 => script.wake(time_ns, Waker::Thread(one), other),
                None => script.wake(time_ns, Waker::Interrupt, other),
            }
        }
        let steps = script.graph.critical_path(tid, from..from + len);
        let mut at = from;
        for step in &steps {
            prop_assert_eq!(step.start_ns, at);
            prop_assert!(step.end_ns > step.start_ns);
            at = step.end_ns;
        }
        prop_assert_eq!(at, from + len);
    }
}
