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
fn a_part_of_a_path_is_what_the_whole_path_is_there() {
    let mut script = Script::default();
    script.on(0, 1);
    script.on(0, 2);
    script.off(5, 1, "S");
    // 2 waits for a device, and then lets 1 go on.
    script.off(10, 2, "D");
    script.wake(30, Waker::Interrupt, 2);
    script.on(30, 2);
    script.wake(40, Waker::Thread(2), 1);
    script.on(40, 1);
    script.off(50, 1, "X");
    script.off(60, 2, "X");
    let whole = script.graph.critical_path(1, 0..50);
    for (start, end) in [
        (0, 50),
        (0, 45),
        (0, 40),
        (3, 20),
        (12, 25),
        (10, 30),
        (41, 44),
    ] {
        let part = script.graph.part_of_critical_path(1, 50, start..end);
        let cut = whole.iter().map(|step| PathStep {
            start_ns: step.start_ns.max(start),
            end_ns: step.end_ns.min(end),
            ..*step
        });
        let cut: Vec<PathStep> = cut.filter(|step| step.start_ns < step.end_ns).collect();
        assert_eq!(part, cut, "{start} {end}");
    }
    // In the middle of the wait of 1, it is 2 that matters.
    let part = script.graph.part_of_critical_path(1, 50, 0..20);
    let last = part.last().map(|step| (step.tid, step.activity));
    assert_eq!(last, Some((2, Activity::Blocked)));
}

#[test]
fn who_woke_a_thread_is_known_even_if_its_switch_is_not() {
    let mut script = Script::default();
    script.on(0, 1);
    script.on(0, 2);
    script.off(5, 1, "S");
    script.wake(30, Waker::Thread(2), 1);
    // That 1 comes back is lost.
    script.off(40, 1, "S");
    script.off(45, 2, "X");
    assert_eq!(
        script.path(1, 0..40),
        [(2, 30, Activity::Running), (1, 10, Activity::Unknown)]
    );
}

#[test]
fn who_has_the_id_of_one_that_ended_is_another_thread() {
    let mut script = Script::default();
    script.on(0, 1);
    script.off(5, 1, "S");
    script.on(8, 1);
    script.off(10, 1, "X");
    script.on(20, 1);
    script.off(30, 1, "X");
    assert_eq!(
        script.path(1, 0..30),
        [(1, 20, Activity::Unknown), (1, 10, Activity::Running)]
    );
    assert_eq!(script.graph.start_ns(1), Some(20));
}

#[test]
fn runs_are_small() {
    // Recordings have millions of them.
    assert!(size_of::<ThreadRun>() <= 96);
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

#[test]
fn a_thread_wakes_others_after_its_own_events_have_ended() {
    let mut script = Script::default();
    script.on(0, 1);
    script.on(0, 2);
    script.off(5, 1, "S");
    script.off(40, 2, "X");
    script.wake(41, Waker::Thread(2), 1);
    script.on(41, 1);
    script.off(50, 1, "X");
    assert_eq!(
        script.path(1, 0..50),
        [
            (2, 40, Activity::Running),
            (2, 1, Activity::Unknown),
            (1, 9, Activity::Running)
        ]
    );
}

/// What happens to a thread.
#[derive(Clone, Copy)]
enum Event {
    Wake(i32),
    On,
    Off(&'static str),
}

/// A script of events in any order; those of one moment stay in theirs.
fn scripted(mut events: Vec<(u64, i32, Event)>) -> Script {
    events.sort_by_key(|&(time_ns, ..)| time_ns);
    let mut script = Script::default();
    for (time_ns, tid, event) in events {
        match event {
            Event::Wake(wakee) => script.wake(time_ns, Waker::Thread(tid), wakee),
            Event::On => script.on(time_ns, tid),
            Event::Off(letter) => script.off(time_ns, tid, letter),
        }
    }
    script
}

/// Thread 1 works alone, then lets others work and waits for all, then works alone again. Returns when it ends, too.
fn amdahl([first, last]: [u64; 2], workers: &[u64]) -> (Script, u64) {
    let mut events = vec![(0, 1, Event::On)];
    for (tid, len) in (2..).zip(workers) {
        events.push((first, 1, Event::Wake(tid)));
        events.push((first, tid, Event::On));
        // Only the last of a join wakes.
        let is_last = workers.iter().max() == Some(len);
        events.extend(is_last.then_some((first + len, tid, Event::Wake(1))));
        events.push((first + len, tid, Event::Off("X")));
    }
    events.push((first, 1, Event::Off("S")));
    let joined = first + workers.iter().max().unwrap();
    let end = joined + last;
    events.push((joined, 1, Event::On));
    events.push((end, 1, Event::Off("X")));
    (scripted(events), end)
}

/// Thread 2 makes items, each in `make`; 1 takes each in `take`, and ends with the last. Returns when, too.
fn queue(n_items: u64, make: u64, take: u64) -> (Script, u64) {
    let mut events = vec![
        (0, 1, Event::On),
        (0, 2, Event::On),
        (0, 1, Event::Off("S")),
    ];
    let mut free_at = 0;
    for item in 1..=n_items {
        let made = item * make;
        if made >= free_at {
            // It waits for the item.
            if free_at > 0 {
                events.push((free_at, 1, Event::Off("S")));
            }
            events.push((made, 2, Event::Wake(1)));
            events.push((made, 1, Event::On));
            free_at = made;
        }
        free_at += take;
    }
    events.push((n_items * make, 2, Event::Off("X")));
    events.push((free_at, 1, Event::Off("X")));
    (scripted(events), free_at)
}

/// How long a thread runs on the path of thread 1.
fn running(script: &Script, tid: i32, end: u64) -> u64 {
    let path = script.path(1, 0..end);
    let own = path
        .iter()
        .filter(|&&(of, _, doing)| of == tid && doing == Activity::Running);
    own.map(|&(_, len, _)| len).sum()
}

#[test]
fn of_a_mix_of_serial_and_parallel_work_the_longest_part_is_on_the_path() {
    for (serial, workers) in [
        ([1000, 500], vec![2000, 4000, 3000]),
        ([100, 0], vec![9000]),
        ([7000, 7000], vec![100, 200]),
    ] {
        let (script, end) = amdahl(serial, &workers);
        let longest = *workers.iter().max().unwrap();
        assert_eq!(end, serial[0] + longest + serial[1]);
        let tid =
            2 + i32::try_from(workers.iter().position(|&len| len == longest).unwrap()).unwrap();
        assert_eq!(running(&script, tid, end), longest);
        assert_eq!(running(&script, 1, end), serial[0] + serial[1]);
        // What a tenth less work of a kind saves is a tenth of its part, as long as it stays the longest.
        let tenth_less = |len: &u64| len - len / 10;
        let faster: Vec<u64> = workers.iter().map(tenth_less).collect();
        let (_, sooner) = amdahl(serial, &faster);
        assert_eq!(end - sooner, running(&script, tid, end) / 10);
        let (_, sooner) = amdahl([tenth_less(&serial[0]), tenth_less(&serial[1])], &workers);
        assert_eq!(end - sooner, running(&script, 1, end) / 10);
    }
}

#[test]
fn of_a_queue_the_slower_side_is_on_the_path() {
    for (n_items, make, take) in [(50, 300, 100), (50, 100, 300), (20, 500, 10), (20, 10, 500)] {
        let (script, end) = queue(n_items, make, take);
        let (maker, taker) = if make > take {
            (n_items * make, take)
        } else {
            (make, n_items * take)
        };
        assert_eq!(end, maker + taker, "{make} {take}");
        assert_eq!(running(&script, 2, end), maker, "{make} {take}");
        assert_eq!(running(&script, 1, end), taker, "{make} {take}");
        let (_, sooner) = queue(n_items, make - make / 10, take);
        assert_eq!(end - sooner, maker / 10);
        let (_, sooner) = queue(n_items, make, take - take / 10);
        assert_eq!(end - sooner, taker / 10);
    }
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
