//! The time of a critical path, told apart from all other.

use super::*;
use rprof_scheduling::{Activity, PathStep, PathTimes, RunGraph};
use rprof_untrusted::Budget;

/// The runs of all threads, as another ledger gathers them.
fn graph(steps: &[Step], end_ns: u64) -> RunGraph {
    let mut ledger = ledger(sources(Account::Wall), steps);
    ledger.gather(GatheredRuns::new(&Budget::default()));
    for step in steps {
        ledger.take(step, StackFacts::default());
    }
    assert!(ledger.samples.is_empty());
    let runs = ledger.take_runs(end_ns).unwrap();
    runs.check().unwrap();
    runs.graph
}

/// All samples of an account whose time on a path is told apart, or is all that counts.
fn samples(steps: &[Step], end_ns: u64, path: &[PathStep], keeps_rest: bool) -> AccountedSamples {
    let mut ledger = ledger(sources(Account::Wall), steps);
    ledger.set_path(OnPath {
        times: PathTimes::of(path),
        keeps_rest,
    });
    for step in steps {
        ledger.take(step, StackFacts::default());
    }
    ledger.finish(end_ns, 0).unwrap()
}

fn sum(samples: &AccountedSamples, is_asked: impl Fn(&Stretch) -> bool) -> u64 {
    let all = samples.for_each_task(|_| 1);
    let asked = all.filter(|(_, one)| is_asked(&one.stretch));
    asked.map(|(_, one)| one.ns).sum()
}

/// Nanoseconds of a path that are known to be time of threads.
fn known(path: &[PathStep]) -> u64 {
    let known = path
        .iter()
        .filter(|step| step.activity != Activity::Unknown);
    known.map(PathStep::len_ns).sum()
}

proptest! {
    #[test]
    fn all_of_a_path_is_in_samples_and_nothing_else(
        events: Vec<(u8, u8)>,
        wakers: Vec<bool>,
        tid in 1i32..5,
    ) {
        let (mut steps, _, end_ns) = play(&events);
        let has_switches = steps.iter().any(|step| matches!(step.what, What::Switch { .. }));
        prop_assume!(has_switches);
        // Some are woken by the thread that runs where the interrupt was.
        let mut by_thread = wakers.iter();
        for step in &mut steps {
            if let What::WakeUp { waker, .. } = &mut step.what
                && by_thread.next() == Some(&true)
                && step.tid > 0
            {
                *waker = Waker::Thread(step.tid);
            }
        }
        let plain = {
            let mut ledger = ledger(sources(Account::Wall), &steps);
            steps.iter().for_each(|step| ledger.take(step, StackFacts::default()));
            ledger.finish(end_ns, 0)
        };
        let Ok(plain) = plain else {
            return Ok(());
        };
        let path = graph(&steps, end_ns).critical_path(tid, 1000..end_ns.max(1001));
        let apart = samples(&steps, end_ns, &path, true);
        for state in ThreadState::ALL {
            let of_state = |one: &Stretch| one.state == state;
            prop_assert_eq!(sum(&apart, of_state), sum(&plain, of_state));
        }
        prop_assert_eq!(sum(&apart, |one| one.is_on_path), known(&path));
        let alone = samples(&steps, end_ns, &path, false);
        prop_assert_eq!(sum(&alone, |_| true), known(&path));
        prop_assert!(alone.for_each_task(|_| 1).all(|(_, one)| one.stretch.is_on_path));
    }
}

#[test]
fn time_on_the_path_is_shared_by_the_samples_on_it() {
    let to = |prev, state, next| What::Switch { prev, state, next };
    let runnable = SwitchState::Runnable;
    let steps = [
        step(10, (0, 0), to(0, runnable, 7)),
        step(14, (7, 0), What::OnCpu { ns: 0 }),
        step(17, (7, 0), What::OnCpu { ns: 0 }),
        step(20, (7, 0), to(7, SLEEPING, 0)),
        step(30, (0, 0), to(0, runnable, 7)),
        step(35, (7, 0), What::OnCpu { ns: 0 }),
        step(40, (7, 0), to(7, SLEEPING, 0)),
    ];
    let path = |start_ns, end_ns| PathStep {
        tid: 7,
        start_ns,
        end_ns,
        activity: Activity::Running,
    };
    let of = |path: &[PathStep]| -> Vec<(u64, u64, bool)> {
        let all = samples(&steps, 40, path, true);
        let of_7 = all
            .for_each_task(|_| 7)
            .map(|(_, one)| (one.offset, one.ns, one.stretch.is_on_path));
        of_7.collect()
    };
    // Up to 15, the sample at 14 stands for all; the sample at 17 for what comes then.
    assert_eq!(
        of(&[path(10, 15)]),
        [
            (14, 5, true),
            (17, 2, false),
            (20, 10, false),
            (35, 13, false)
        ]
    );
    // No sample is on it: that is time without a stack.
    let without = samples(&steps, 40, &[path(18, 20)], false);
    let all: Vec<_> = without.for_each_task(|_| 7).collect();
    assert_eq!(all.len(), 1);
    assert_eq!((all[0].1.ns, all[0].1.stretch.has_stack), (2, false));
    assert!(
        without
            .warnings
            .iter()
            .any(|said| said.contains("without a sample"))
    );
    // A part of a wait.
    assert_eq!(
        sum(&samples(&steps, 40, &[path(25, 31)], false), |_| true),
        6
    );
}
