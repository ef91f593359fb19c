//! Switches and wake-ups in, stretches of time out: each nanosecond once.

use super::*;
use crate::samples::AccountedSamples;
use proptest::prelude::*;
use rprof_scheduling::ThreadTotals;

fn sources(account: Account) -> Sources {
    Sources {
        account,
        cpu_event: Some(1),
        is_clock: false,
        is_inherited: true,
        off_cpu_event: None,
        have_cpus: true,
    }
}

fn step(time_ns: u64, (tid, cpu): (i32, u32), what: What) -> Step {
    Step {
        has_stack: true,
        ..Step::of(time_ns, (tid, cpu), what)
    }
}

/// An empty one, which knows whose switches there are.
fn ledger(sources: Sources, steps: &[Step]) -> Ledger<'static> {
    let mut followed = Followed::default();
    for step in steps {
        match step.what {
            What::Switch { prev, .. } => followed.note_switch(step.tid, prev),
            What::Enter | What::Leave(_) => followed.has_records = true,
            _ => {}
        }
    }
    Ledger::new(sources, followed, &|tid, _| TaskName::Unnamed(tid))
}

/// Takes all steps; each is at the offset that is its time.
fn accounted(account: Account, steps: &[Step], end_ns: u64) -> AccountedSamples {
    let mut ledger = ledger(sources(account), steps);
    for step in steps {
        ledger.take(step, StackFacts::default());
    }
    ledger.finish(end_ns, 0).unwrap()
}

/// Nanoseconds of a thread in the states that `is_asked` has, by the thread of each record.
fn ns_of(
    samples: &AccountedSamples,
    steps: &[Step],
    tid: i32,
    is_asked: impl Fn(ThreadState) -> bool,
) -> u64 {
    let all = samples.for_each_task(|offset| {
        let step = steps.iter().find(|step| step.offset == offset);
        step.map_or(0, |step| match step.what {
            What::Switch { prev, .. } => prev,
            _ => step.tid,
        })
    });
    let asked = all.filter(|(of, sample)| *of == tid && is_asked(sample.stretch.state));
    asked.map(|(_, sample)| sample.ns).sum()
}

/// What two CPUs and four threads did, by events that a kernel could have written, and what `rprof sched` makes of
/// them.
fn play(events: &[(u8, u8)]) -> (Vec<Step>, Vec<ThreadTotals>, u64) {
    let mut scheduler = Scheduler::default();
    let mut totals = vec![ThreadTotals::default(); 5];
    let mut steps = Vec::new();
    let mut on = [0, 0];
    let mut time_ns = 1000;
    for &(kind, which) in events {
        time_ns += u64::from(which) + 1;
        let tid = i32::from(which % 4) + 1;
        let cpu = usize::from(kind % 2);
        let number = u32::from(kind % 2);
        if kind % 4 == 0 {
            if !on.contains(&tid) {
                let waker = Waker::Interrupt;
                scheduler.wake(tid, WakeUp { time_ns, waker });
                steps.push(step(
                    time_ns,
                    (on[cpu], number),
                    What::WakeUp { tid, waker },
                ));
            }
            continue;
        }
        if kind % 4 == 1 {
            if on[cpu] != 0 {
                steps.push(step(time_ns, (on[cpu], number), What::OnCpu { ns: 0 }));
            }
            continue;
        }
        let next = if on.contains(&tid) { 0 } else { tid };
        let prev = std::mem::replace(&mut on[cpu], next);
        if prev == next {
            continue;
        }
        let state = SwitchState::from_bits(u64::from(which % 3));
        let switch = ContextSwitch {
            time_ns,
            cpu: number,
            prev,
            prev_state: state,
            next,
        };
        totals[usize::try_from(prev).unwrap()].add(&scheduler.switch(switch));
        steps.push(step(
            time_ns,
            (prev, number),
            What::Switch { prev, state, next },
        ));
    }
    for (tid, open) in scheduler.open() {
        totals[usize::try_from(tid).unwrap()].add_open(&open, time_ns);
    }
    (steps, totals, time_ns)
}

proptest! {
    #[test]
    fn waits_are_those_of_sched_and_no_moment_counts_twice(events: Vec<(u8, u8)>) {
        let (steps, totals, end_ns) = play(&events);
        let has_switches = steps.iter().any(|step| matches!(step.what, What::Switch { .. }));
        prop_assume!(has_switches);
        let mut ledger = ledger(sources(Account::Wall), &steps);
        steps.iter().for_each(|step| ledger.take(step, StackFacts::default()));
        let Ok(samples) = ledger.finish(end_ns, 0) else {
            return Ok(());
        };
        for (tid, of_sched) in (1..).zip(&totals[1..]) {
            let off = ns_of(&samples, &steps, tid, |state| state != ThreadState::Running);
            prop_assert_eq!(off, of_sched.runnable().total_ns + of_sched.blocked_ns());
            let on = ns_of(&samples, &steps, tid, |state| state == ThreadState::Running);
            prop_assert_eq!(on, of_sched.run_ns);
        }
    }
}

const SLEEPING: SwitchState = SwitchState::Sleeping;

#[test]
fn a_wait_is_two_samples_of_the_switch_that_began_it() {
    let to = |prev, state, next| What::Switch { prev, state, next };
    let waker = Waker::Thread(9);
    let woken_by = WokenBy::Thread(TaskName::Unnamed(9));
    let steps = [
        step(10, (0, 0), to(0, SwitchState::Runnable, 7)),
        step(15, (7, 0), to(7, SLEEPING, 0)),
        step(40, (9, 1), What::WakeUp { tid: 7, waker }),
        step(43, (0, 0), to(0, SwitchState::Runnable, 7)),
        step(50, (7, 0), to(7, SLEEPING, 0)),
    ];
    let samples = accounted(Account::OffCpu, &steps, 50);
    let all: Vec<_> = samples.for_each_task(|_| 7).map(|(_, one)| one).collect();
    let parts: Vec<_> = all.iter().map(|one| (one.offset, one.ns)).collect();
    assert_eq!(parts, [(15, 25), (15, 3)]);
    assert_eq!(all[0].stretch.state, ThreadState::Blocked(SLEEPING));
    assert_eq!(all[1].stretch.state, ThreadState::Runnable);
    assert!(
        all.iter()
            .all(|one| one.stretch.waker == woken_by && one.stretch.has_stack)
    );
}

#[test]
fn a_sample_stands_for_all_of_its_threads_time_since_the_last() {
    let to = |prev, state, next| What::Switch { prev, state, next };
    let steps = [
        step(10, (0, 0), to(0, SwitchState::Runnable, 7)),
        step(14, (7, 0), What::OnCpu { ns: 0 }),
        step(20, (7, 0), to(7, SLEEPING, 0)),
        step(30, (0, 0), to(0, SwitchState::Runnable, 7)),
        step(31, (7, 0), What::OnCpu { ns: 0 }),
        step(33, (7, 0), to(7, SLEEPING, 0)),
    ];
    let samples = accounted(Account::Wall, &steps, 40);
    let weights: Vec<_> = samples
        .for_each_task(|_| 7)
        .map(|(_, one)| (one.offset, one.ns))
        .collect();
    // What it ran after the last one is that one's; it still waits as the recording ends.
    assert_eq!(weights, [(14, 4), (20, 10), (31, 9), (33, 7)]);
}

#[test]
fn waits_in_which_records_were_lost_do_not_count() {
    let steps = [
        step(10, (7, 0), What::Enter),
        step(15, (7, 0), What::Leave(SLEEPING)),
        step(30, (7, 0), What::Enter),
        step(35, (7, 0), What::Leave(SLEEPING)),
        step(60, (7, 0), What::Enter),
        step(61, (7, 0), What::Leave(SwitchState::Dead)),
    ];
    let mut ledger = ledger(sources(Account::OffCpu), &steps);
    ledger.set_times(0, vec![20..=22, 21..=25, 61..=70]);
    steps
        .iter()
        .for_each(|step| ledger.take(step, StackFacts::default()));
    let samples = ledger.finish(70, 0).unwrap();
    let ns: Vec<u64> = samples
        .for_each_task(|_| 7)
        .map(|(_, one)| one.ns)
        .collect();
    assert_eq!(ns, [25]);
    assert!(
        samples
            .warnings
            .iter()
            .any(|said| said.contains("records were lost"))
    );
}

#[test]
fn a_stack_may_be_sampled_before_its_switch_or_after_it() {
    for leaving_at in [14, 16] {
        let mut steps = vec![
            step(10, (7, 0), What::Enter),
            Step {
                has_stack: false,
                ..step(15, (7, 0), What::Leave(SLEEPING))
            },
            step(30, (7, 0), What::Enter),
            step(31, (7, 0), What::Exit),
        ];
        steps.push(step(leaving_at, (7, 0), What::Leaving));
        steps.sort_by_key(|step| step.time_ns);
        let samples = accounted(Account::OffCpu, &steps, 40);
        let all: Vec<_> = samples.for_each_task(|_| 7).map(|(_, one)| one).collect();
        assert_eq!(all.len(), 1);
        assert_eq!((all[0].offset, all[0].ns), (leaving_at, 15));
        assert!(all[0].stretch.has_stack);
    }
}

#[test]
fn an_id_that_is_used_again_is_another_thread() {
    let steps = [
        step(10, (7, 0), What::Enter),
        step(15, (7, 0), What::Exit),
        step(16, (7, 0), What::Leave(SwitchState::Unknown)),
        step(30, (7, 0), What::Enter),
        step(35, (7, 0), What::Leave(SwitchState::Runnable)),
        step(37, (7, 0), What::Enter),
    ];
    let samples = accounted(Account::OffCpu, &steps, 40);
    let ns: Vec<u64> = samples
        .for_each_task(|_| 7)
        .map(|(_, one)| one.ns)
        .collect();
    assert_eq!(ns, [2]);
}

#[test]
fn switches_out_alone_say_nothing_of_waits() {
    let to = |prev, next| What::Switch {
        prev,
        state: SLEEPING,
        next,
    };
    let steps = [step(10, (7, 0), to(7, 9)), step(20, (7, 0), to(7, 9))];
    let mut ledger = ledger(sources(Account::OffCpu), &steps);
    for step in &steps {
        ledger.take(step, StackFacts::default());
    }
    assert!(ledger.finish(30, 0).is_err());
}

#[test]
fn waits_that_perf_has_written_are_taken_as_they_are() {
    let steps = [
        step(10, (7, 0), What::OnCpu { ns: 4 }),
        step(99, (7, 0), What::OffCpu { ns: 30 }),
    ];
    let of_perf = Sources {
        off_cpu_event: Some(0),
        ..sources(Account::Wall)
    };
    let mut ledger = ledger(of_perf, &steps);
    for step in &steps {
        ledger.take(step, StackFacts::default());
    }
    let samples = ledger.finish(10, 0).unwrap();
    let ns: Vec<u64> = samples
        .for_each_task(|_| 7)
        .map(|(_, one)| one.ns)
        .collect();
    assert_eq!(ns, [4, 30]);
    assert!(samples.warnings.is_empty());
}

#[test]
fn the_last_wait_of_a_thread_that_ends_is_its_own() {
    let to = |prev, state, next| What::Switch { prev, state, next };
    // Its id is not that of the sample any more.
    let steps = [
        step(10, (0, 0), to(0, SwitchState::Runnable, 7)),
        step(15, (-1, 0), to(7, SwitchState::Runnable, 9)),
        step(18, (9, 0), to(9, SLEEPING, 7)),
        step(19, (-1, 0), to(7, SwitchState::Dead, 0)),
    ];
    let samples = accounted(Account::OffCpu, &steps, 20);
    let all: Vec<_> = samples
        .for_each_task(|_| -1)
        .map(|(tid, one)| (tid, one.offset, one.ns))
        .collect();
    assert_eq!(all[0], (7, 15, 3));
}

/// Time of each thread, running or not, by the thread of each record.
fn totals(samples: &AccountedSamples, steps: &[Step]) -> Vec<(i32, bool, u64)> {
    let of_record = |offset| {
        let step = steps.iter().find(|step| step.offset == offset);
        step.map_or(0, |step| step.tid)
    };
    let mut all = std::collections::BTreeMap::new();
    for (tid, one) in samples.for_each_task(of_record) {
        let is_running = one.stretch.state == ThreadState::Running;
        *all.entry((tid, is_running)).or_default() += one.ns;
    }
    all.into_iter()
        .map(|((tid, is_running), ns)| (tid, is_running, ns))
        .collect()
}

fn switch(prev: i32, next: i32) -> What {
    let state = SLEEPING;
    What::Switch { prev, state, next }
}

#[test]
fn who_comes_after_a_recorded_thread_is_not_recorded() {
    let steps = [
        step(10, (7, 0), What::Enter),
        // 99 may be anybody.
        step(15, (7, 0), switch(7, 99)),
        step(40, (7, 1), What::Enter),
        step(50, (7, 1), switch(7, 0)),
        step(60, (7, 1), What::Enter),
    ];
    let samples = accounted(Account::Wall, &steps, 1000);
    let time = 5 + 10 + (1000 - 60);
    assert_eq!(
        totals(&samples, &steps),
        [(7, false, 25 + 10), (7, true, time)]
    );
}

#[test]
fn the_last_wait_of_a_thread_counts_though_it_ends_without_a_switch() {
    let steps = [
        step(10, (7, 1), What::Enter),
        step(15, (7, 1), switch(7, 99)),
        step(35, (7, 1), What::Enter),
        // The kernel takes the events away before the last switch.
        step(36, (7, 1), What::Exit),
        step(50, (8, 0), What::Enter),
    ];
    let samples = accounted(Account::Wall, &steps, 2000);
    // And it runs no more, though nobody comes to its CPU.
    let rest = 2000 - 50;
    assert_eq!(
        totals(&samples, &steps),
        [(7, false, 20), (7, true, 6), (8, true, rest)]
    );
}

#[test]
fn who_is_not_where_it_was_said_to_be_has_waited_all_the_same() {
    let steps = [
        step(10, (7, 0), What::Enter),
        step(15, (7, 0), What::Leave(SLEEPING)),
        step(35, (7, 0), What::Enter),
        // That it left is lost.
        step(50, (8, 0), What::Enter),
    ];
    let samples = accounted(Account::OffCpu, &steps, 60);
    assert_eq!(totals(&samples, &steps), [(7, false, 20)]);
    assert!(
        samples
            .warnings
            .iter()
            .any(|said| said.contains("do not fit"))
    );
}

#[test]
fn ids_of_tracepoints_in_a_namespace_are_not_those_of_records() {
    let waker = Waker::Thread(9);
    let steps = [
        step(10, (2, 0), What::Enter),
        step(15, (2, 0), switch(4002, 17)),
        // Not the one that this namespace calls 2.
        step(20, (9, 1), What::WakeUp { tid: 2, waker }),
        step(40, (2, 0), What::Enter),
        step(41, (2, 0), switch(4002, 0)),
    ];
    let samples = accounted(Account::OffCpu, &steps, 41);
    assert_eq!(totals(&samples, &steps), [(2, false, 25)]);
}

#[test]
fn a_new_thread_waits_for_its_first_run() {
    let steps = [
        step(10, (7, 0), What::Enter),
        step(20, (8, 0), What::Birth { parent: 7 }),
        step(45, (8, 1), What::Enter),
        step(46, (8, 1), What::Exit),
    ];
    let samples = accounted(Account::OffCpu, &steps, 46);
    assert_eq!(totals(&samples, &steps), [(8, false, 25)]);
    let (_, first) = samples.for_each_task(|_| 0).next().unwrap();
    assert_eq!(first.stretch.state, ThreadState::Runnable);
    let parent = WokenBy::Thread(TaskName::Unnamed(7));
    assert_eq!(first.stretch.waker, parent);
}

#[test]
fn a_first_sample_counts_no_more_than_there_was() {
    let steps = [
        step(100, (6, 1), What::Enter),
        step(130, (7, 0), What::OnCpu { ns: 1000 }),
        step(140, (8, 2), What::Birth { parent: 7 }),
        step(150, (8, 2), What::OnCpu { ns: 1000 }),
    ];
    let mut ledger = ledger(sources(Account::Wall), &steps);
    ledger.set_times(100, Vec::new());
    for step in &steps {
        ledger.take(step, StackFacts::default());
    }
    let samples = ledger.finish(150, 0).unwrap();
    let on = |tid| ns_of(&samples, &steps, tid, |state| state == ThreadState::Running);
    assert_eq!(on(7), 30 + 20);
    assert!(on(8) <= 10);
}

#[test]
fn runs_and_wake_ups_in_which_records_were_lost_do_not_count() {
    let waker = Waker::Interrupt;
    let steps = [
        step(5, (0, 1), What::WakeUp { tid: 7, waker }),
        step(30, (7, 0), What::Enter),
        step(60, (7, 0), What::Leave(SLEEPING)),
        step(70, (7, 0), What::Enter),
        step(72, (7, 0), What::Leave(SLEEPING)),
    ];
    let mut ledger = ledger(sources(Account::Wall), &steps);
    ledger.set_times(5, vec![10..=12, 40..=41]);
    for step in &steps {
        ledger.take(step, StackFacts::default());
    }
    let samples = ledger.finish(72, 0).unwrap();
    assert_eq!(totals(&samples, &steps), [(7, false, 10), (7, true, 2)]);
    let lost = "2 waits and runs (0.000 ms)";
    assert!(samples.warnings.iter().any(|said| said.contains(lost)));
}

#[test]
fn a_wait_does_not_have_the_stack_of_an_older_one() {
    let waker = Waker::Interrupt;
    let steps = [
        step(10, (7, 0), What::Enter),
        step(15, (7, 0), What::Leave(SLEEPING)),
        step(20, (7, 0), What::Enter),
        // Its next switch is lost; what is known of the wait is the wake-up.
        step(25, (8, 0), What::Enter),
        step(30, (8, 0), What::WakeUp { tid: 7, waker }),
        step(36, (7, 1), What::Enter),
        step(38, (7, 1), What::Leave(SLEEPING)),
    ];
    let samples = accounted(Account::OffCpu, &steps, 38);
    let all: Vec<_> = samples.for_each_task(|_| 7).map(|(_, one)| one).collect();
    let parts: Vec<_> = all.iter().map(|one| (one.offset, one.ns)).collect();
    assert_eq!(parts, [(15, 5), (30, 6)]);
    assert!(!all[1].stretch.has_stack);
}

#[test]
fn threads_without_end_do_not_overflow() {
    let forever = u64::MAX - 1;
    let steps = [
        step(1, (7, 0), What::Enter),
        step(2, (8, 1), What::Enter),
        step(forever, (7, 0), What::Leave(SLEEPING)),
        step(forever, (8, 1), What::Leave(SLEEPING)),
    ];
    let samples = accounted(Account::Wall, &steps, u64::MAX);
    assert!(
        samples
            .for_each_task(|_| 7)
            .all(|(_, one)| one.ns <= forever)
    );
}

#[test]
fn threads_that_do_not_inherit_events_are_left_out() {
    let steps = [
        step(10, (7, 0), What::Enter),
        step(15, (7, 0), What::Leave(SLEEPING)),
        step(20, (8, 0), What::Enter),
        step(25, (8, 0), What::Leave(SLEEPING)),
        step(40, (7, 0), What::Enter),
    ];
    let mut followed = Followed::default();
    followed.note_left_out(8);
    followed.has_records = true;
    let mut ledger = Ledger::new(sources(Account::OffCpu), followed, &|tid, _| {
        TaskName::Unnamed(tid)
    });
    for step in &steps {
        ledger.take(step, StackFacts::default());
    }
    let samples = ledger.finish(50, 0).unwrap();
    assert_eq!(totals(&samples, &steps), [(7, false, 25)]);
}

#[test]
fn an_id_of_several_processes_is_of_none() {
    let mut ledger = ledger(sources(Account::Wall), &[]);
    for task in [(7, 70), (7, 70), (8, 80), (8, 81), (8, 80)] {
        ledger.note_pid(task);
    }
    assert_eq!([7, 8].map(|tid| ledger.pids[&tid]), [70, -1]);
}
