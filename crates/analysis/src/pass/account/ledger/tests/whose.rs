//! Whose switches are recorded, from a thread's beginning to its end, and what lost records hide.

use super::*;

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
            .any(|said| said.contains(" not fit "))
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
    ledger.set_times(100, LostTimes::default());
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
    let lost = [(Some(1), vec![10..=12]), (Some(0), vec![40..=41])];
    ledger.set_times(5, LostTimes::new(lost));
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

#[test]
fn who_comes_back_after_its_exit_record_is_no_new_thread() {
    let next = What::Switch {
        prev: 8,
        state: SwitchState::Runnable,
        next: 7,
    };
    let steps = [
        step(10, (7, 0), What::Enter),
        step(20, (7, 0), What::Exit),
        step(24, (8, 0), What::Enter),
        step(30, (8, 0), next),
        step(31, (8, 0), What::Leave(SwitchState::Runnable)),
        step(40, (8, 0), What::Enter),
        step(50, (8, 0), What::Leave(SLEEPING)),
    ];
    let mut followed = Followed::default();
    for tid in [7, 8] {
        followed.note_switch(tid, tid);
    }
    followed.has_records = true;
    let name_at = |tid, _| TaskName::Unnamed(tid);
    let mut ledger = Ledger::new(sources(Account::Wall), followed, &name_at);
    for step in &steps {
        ledger.take(step, StackFacts::default());
    }
    let samples = ledger.finish(50, 0).unwrap();
    let said = samples.warnings.iter();
    assert_eq!(said.filter(|said| said.contains(" not fit ")).count(), 0);
    // It has run until its exit, and nothing since.
    let runs = |tid| ns_of(&samples, &steps, tid, |state| state == ThreadState::Running);
    assert_eq!([runs(7), runs(8)], [10, 16]);
}
