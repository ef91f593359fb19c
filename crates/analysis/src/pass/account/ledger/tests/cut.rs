//! Accounts of some times: together they are the account of all.

use super::*;
use std::ops::RangeInclusive;

/// The samples of an account of some times; `None` if there is none.
fn samples(
    steps: &[Step],
    end_ns: u64,
    times: Option<&[RangeInclusive<u64>]>,
) -> Option<AccountedSamples> {
    let mut ledger = ledger(sources(Account::Wall), steps);
    if let Some(times) = times {
        ledger.cut(times);
    }
    for step in steps {
        ledger.take(step, StackFacts::default());
    }
    ledger.finish(end_ns, 0).ok()
}

fn ns_in(samples: &AccountedSamples, state: ThreadState) -> u64 {
    let all = samples.for_each_task(|_| 1);
    let own = all.filter(|(_, one)| one.stretch.state == state);
    own.map(|(_, one)| one.ns).sum()
}

proptest! {
    #[test]
    fn parts_of_the_time_are_all_of_it(events: Vec<(u8, u8)>, cuts in prop::array::uniform2(900u64..9000)) {
        let (steps, _, end_ns) = play(&events);
        let [a, b] = cuts;
        let (a, b) = (a.min(b), a.max(b));
        let Some(whole) = samples(&steps, end_ns, None) else {
            return Ok(());
        };
        prop_assert!(!whole.is_cut);
        let parts = [0..=a, a..=b, b..=u64::MAX];
        let cut = parts.clone().map(|part| samples(&steps, end_ns, Some(&[part])).unwrap());
        prop_assert!(cut.iter().all(|part| part.is_cut));
        let touching = samples(&steps, end_ns, Some(&parts)).unwrap();
        for state in ThreadState::ALL {
            let all = ns_in(&whole, state);
            prop_assert_eq!(cut.iter().map(|part| ns_in(part, state)).sum::<u64>(), all);
            prop_assert_eq!(ns_in(&touching, state), all);
        }
    }
}

#[test]
fn a_wait_counts_for_as_long_as_it_is_within_the_times() {
    let off = |time_ns, prev| {
        let what = What::Switch {
            prev,
            state: SwitchState::Sleeping,
            next: 0,
        };
        step(time_ns, (prev, 0), what)
    };
    let on = |time_ns, next| {
        let what = What::Switch {
            prev: 0,
            state: SwitchState::Runnable,
            next,
        };
        step(time_ns, (0, 0), what)
    };
    let steps = [
        off(100, 1),
        on(200, 1),
        off(250, 1),
        on(300, 1),
        off(310, 1),
    ];
    let times = [150..=210, 240..=260];
    let samples = samples(&steps, 310, Some(&times)).unwrap();
    let of = |is_run: bool| {
        ns_of(&samples, &steps, 1, |state| {
            (state == ThreadState::Running) == is_run
        })
    };
    assert_eq!((of(false), of(true)), (50 + 10, 10 + 10));
}
