//! A recording that is read part by part: waits go on from one to the next.

use super::*;

/// Each thread is on CPU 0 once: how it waits is known from then on.
const ALL_ONCE: [(u8, u8); 5] = [(2, 0), (2, 1), (2, 2), (2, 3), (2, 3)];

fn off_ns(samples: &AccountedSamples, steps: &[Step]) -> [u64; 4] {
    [1, 2, 3, 4].map(|tid| ns_of(samples, steps, tid, |state| state != ThreadState::Running))
}

/// What a part counts from a moment to another, with the waits that went on before it; those that go on after it.
fn part(
    before: &[Step],
    steps: &[Step],
    (since_ns, until_ns): (u64, u64),
) -> ([u64; 4], Vec<Step>) {
    let all = [before, steps].concat();
    let new = || {
        let mut ledger = ledger(sources(Account::OffCpu), &all);
        // Offsets are times.
        ledger.count_since(since_ns, since_ns);
        for step in &all {
            ledger.take(step, StackFacts::default());
        }
        ledger
    };
    let open = new().open_waits(until_ns);
    let samples = new().finish(until_ns, 0).unwrap();
    let is_open = |step: &&Step| open.contains(&step.offset);
    (
        off_ns(&samples, &all),
        all.iter().filter(is_open).copied().collect(),
    )
}

proptest! {
    #[test]
    fn parts_count_what_the_whole_does(events: Vec<(u8, u8)>, cuts in prop::collection::vec(0usize..60, 1..4)) {
        let events = [&ALL_ONCE[..], &events].concat();
        let (steps, _, end_ns) = play(&events);
        let whole = off_ns(&accounted(Account::OffCpu, &steps, end_ns), &steps);
        let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| (5 + cut).min(steps.len())).collect();
        cuts.sort_unstable();
        cuts.push(steps.len());
        let (mut sum, mut before, mut at, mut since_ns) = ([0; 4], Vec::new(), 0, 0);
        for cut in cuts {
            // The next record may be just after it.
            let until_ns = steps.get(cut).map_or(end_ns, |next| next.time_ns);
            let (off, open) = part(&before, &steps[at..cut], (since_ns, until_ns));
            for (sum, off) in sum.iter_mut().zip(off) {
                *sum += off;
            }
            (before, at, since_ns) = (open, cut, until_ns);
        }
        prop_assert_eq!(sum, whole);
    }
}
