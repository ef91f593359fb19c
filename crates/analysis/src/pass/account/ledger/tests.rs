//! Switches and wake-ups in, stretches of time out: each nanosecond once.

mod cut;
mod in_parts;
mod on_path;
mod paused;
mod whose;

use super::*;
use crate::samples::{AccountedSamples, Stretch, WokenBy};
use proptest::prelude::*;
use rprof_profile::Account;
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
    let lost = vec![20..=22, 21..=25, 61..=70];
    ledger.set_times(0, LostTimes::new([(Some(0), lost)]));
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
