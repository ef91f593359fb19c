//! Pauses of the recording, and CPUs that were left out: what threads do there is unknown.

use super::*;
use std::ops::RangeInclusive;

/// Takes all steps of a recording with pauses; each is at the offset that is its time.
fn paused(
    steps: &[Step],
    pauses: Vec<RangeInclusive<u64>>,
    end_ns: u64,
) -> (Vec<(u64, u64)>, Vec<String>) {
    let mut ledger = ledger(sources(Account::Wall), steps);
    ledger.set_pauses(pauses);
    for step in steps {
        ledger.take(step, StackFacts::default());
    }
    let samples = ledger.finish(end_ns, 0).unwrap();
    let all = samples.for_each_task(|_| 7);
    let parts = all.map(|(_, one)| (one.offset, one.ns)).collect();
    (parts, samples.warnings)
}

fn to(prev: i32, state: SwitchState, next: i32) -> What {
    What::Switch { prev, state, next }
}

#[test]
fn a_wait_counts_up_to_the_pause_and_not_after_it() {
    let steps = [
        step(10, (0, 0), to(0, SwitchState::Runnable, 7)),
        step(15, (7, 0), to(7, SLEEPING, 0)),
        // From a counter that was disabled later than the first one.
        step(21, (0, 0), to(0, SwitchState::Runnable, 7)),
        step(90, (0, 0), to(0, SwitchState::Runnable, 7)),
        step(94, (7, 0), What::OnCpu { ns: 0 }),
        step(95, (7, 0), to(7, SLEEPING, 0)),
    ];
    let (parts, warnings) = paused(&steps, vec![20..=80], 100);
    // What it ran before the pause is in the next sample.
    assert_eq!(parts, [(15, 5), (94, 5 + 5), (95, 5)]);
    assert!(
        warnings
            .iter()
            .any(|said| said.contains("paused 1 time (0.000 ms)")),
        "{warnings:?}"
    );
}

#[test]
fn who_runs_as_the_recording_goes_on_has_run_since_then() {
    let steps = [
        step(10, (0, 0), to(0, SwitchState::Runnable, 7)),
        step(12, (7, 0), What::OnCpu { ns: 0 }),
        step(94, (7, 0), What::OnCpu { ns: 0 }),
        step(95, (7, 0), to(7, SLEEPING, 0)),
    ];
    let (parts, _) = paused(&steps, vec![20..=80], 100);
    // Before the pause from 10 to 20, of which the first sample has 2 and the next one the rest; after it from 80 to 95.
    assert_eq!(parts, [(12, 2), (94, 8 + 14 + 1), (95, 5)]);
}

#[test]
fn who_is_made_in_a_pause_waits_from_no_moment_of_it() {
    let steps = [
        step(10, (0, 0), to(0, SwitchState::Runnable, 7)),
        step(30, (8, 0), What::Birth { parent: 7 }),
        // It is first seen by a sample that stands for more than the time since the pause, or as it leaves its CPU.
        step(90, (8, 0), What::OnCpu { ns: 50 }),
        step(95, (8, 0), to(8, SLEEPING, 0)),
    ];
    for steps in [&steps[..], &[steps[0], steps[1], steps[3]]] {
        let (parts, _) = paused(steps, vec![20..=80], 100);
        let of_8 = parts.iter().filter(|(at, _)| *at >= 30);
        let of_8: u64 = of_8.map(|(_, ns)| ns).sum();
        assert_eq!(of_8, 15 + 5, "{parts:?}");
    }
}

#[test]
fn a_pause_before_all_and_one_up_to_the_end_leave_nothing_out_of_what_is_known() {
    let steps = [
        step(5, (0, 0), to(0, SwitchState::Runnable, 7)),
        step(15, (7, 0), to(7, SLEEPING, 0)),
        step(30, (0, 0), to(0, SwitchState::Runnable, 7)),
    ];
    let (parts, warnings) = paused(&steps, vec![0..=9, 40..=100], 100);
    assert_eq!(parts, [(15, 15), (30, 6 + 10)]);
    assert_eq!(
        warnings
            .iter()
            .filter(|said| said.contains("paused"))
            .count(),
        1
    );
}

proptest! {
    #[test]
    fn no_moment_of_a_pause_counts(events: Vec<(u8, u8)>, ends in prop::array::uniform2(900u64..9000)) {
        let (steps, _, end_ns) = play(&events);
        let (from, until) = (ends[0].min(ends[1]), ends[0].max(ends[1]));
        let has_switches = steps.iter().any(|step| matches!(step.what, What::Switch { .. }));
        prop_assume!(has_switches);
        let mut ledger = ledger(sources(Account::Wall), &steps);
        ledger.set_pauses(vec![from..=until]);
        steps.iter().for_each(|step| ledger.take(step, StackFacts::default()));
        let Ok(samples) = ledger.finish(end_ns, 0) else {
            return Ok(());
        };
        let begin_ns = steps.first().map_or(0, |step| step.time_ns);
        let paused_ns = until.min(end_ns).saturating_sub(from.max(begin_ns));
        let most_ns = end_ns.saturating_sub(begin_ns).saturating_sub(paused_ns);
        for tid in 1..=4 {
            let ns = ns_of(&samples, &steps, tid, |_| true);
            prop_assert!(ns <= most_ns, "{} of {}", ns, most_ns);
        }
    }
}

#[test]
fn waits_of_threads_that_may_be_on_other_cpus_do_not_count() {
    let steps = [
        step(10, (0, 0), to(0, SwitchState::Runnable, 7)),
        step(15, (7, 0), to(7, SLEEPING, 0)),
        step(30, (0, 0), to(0, SwitchState::Runnable, 7)),
        step(32, (7, 0), to(7, SLEEPING, 0)),
    ];
    let mut followed = Followed::default();
    followed.note_switch(0, 0);
    followed.note_switch(7, 7);
    followed.misses_cpus = true;
    let mut ledger = Ledger::new(sources(Account::OffCpu), followed, &|tid, _| {
        TaskName::Unnamed(tid)
    });
    steps
        .iter()
        .for_each(|step| ledger.take(step, StackFacts::default()));
    let samples = ledger.finish(40, 0).unwrap();
    assert_eq!(samples.for_each_task(|_| 7).count(), 0);
    let said =
        "2 waits (0.000 ms) not counted: threads may have run on CPUs that were not recorded";
    assert!(
        samples.warnings.iter().any(|line| line.contains(said)),
        "{:?}",
        samples.warnings
    );
}
