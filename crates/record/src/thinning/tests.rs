//! Sums and rows of thinned sequences against those of the whole, with fixed seeds.

use super::*;
use std::collections::BTreeMap;

/// A sample of a recorded sequence.
#[derive(Clone, Copy)]
struct Taken {
    event: usize,
    row: u32,
    period: u64,
    time_ns: u64,
}

impl Numbers {
    fn below(&mut self, n: u64) -> u64 {
        self.next() % n
    }
}

/// Rows, with how many of 100 samples are theirs; every row has at least 1 %.
const ROWS: [(u32, u64); 6] = [(0, 41), (1, 29), (2, 19), (3, 8), (4, 2), (5, 1)];

fn row(numbers: &mut Numbers) -> u32 {
    let mut at = numbers.below(100);
    for (row, share) in ROWS {
        if at < share {
            return row;
        }
        at -= share;
    }
    0
}

/// Samples of one event at `hz` with periods from `period` on, for `seconds`. Its rows alternate in phases of ten
/// seconds, as those of programs do.
fn steady(hz: u64, seconds: u64, period: impl Fn(&mut Numbers) -> u64) -> Vec<Taken> {
    let mut numbers = Numbers::with_seed(7);
    let taken = (0..hz * seconds).map(|at| {
        let time_ns = at * 1_000_000_000 / hz;
        let row = match (time_ns / 10_000_000_000) % 2 {
            0 => row(&mut numbers),
            _ => row(&mut numbers) ^ 1,
        };
        let period = period(&mut numbers);
        Taken {
            event: 0,
            row,
            period,
            time_ns,
        }
    });
    taken.collect()
}

/// What is kept of two events at most, with this seed. Rings are drained four times a second.
fn thinned(all: &[Taken], per_hour: u64, seed: u64) -> Vec<Taken> {
    const PASS_NS: u64 = 250_000_000;
    let mut thinner = Thinner::new(per_hour, [seed, !seed].map(Numbers::with_seed).into_iter());
    thinner.end_pass(0);
    let mut kept = Vec::new();
    let mut pass = 0;
    for one in all {
        while one.time_ns / PASS_NS > pass {
            pass += 1;
            thinner.end_pass(pass * PASS_NS);
        }
        let weight = thinner.take(one.event, one.period);
        kept.extend(weight.map(|period| Taken { period, ..*one }));
    }
    kept
}

fn sum(samples: &[Taken]) -> f64 {
    samples.iter().map(|one| selection::float(one.period)).sum()
}

fn rows(samples: &[Taken]) -> BTreeMap<u32, f64> {
    let mut rows = BTreeMap::new();
    for one in samples {
        *rows.entry(one.row).or_default() += selection::float(one.period);
    }
    rows
}

/// The standard error of a row: as if each of its kept samples had been kept or dropped independently of the others.
fn error(kept: &[Taken], row: u32) -> f64 {
    let of_row = kept.iter().filter(|one| one.row == row);
    let squares = of_row.map(|one| selection::float(one.period).powi(2));
    squares.sum::<f64>().sqrt()
}

/// Clocks, cycles at a frequency with a few large periods, and a machine that is busy and idle by turns.
fn workloads() -> Vec<(&'static str, Vec<Taken>)> {
    let clock = steady(198, 600, |_| 10_101_010);
    let cycles = steady(400, 300, |numbers| match numbers.below(50) {
        0 => 90_000_000 + numbers.below(400_000_000),
        _ => 2_000_000 + numbers.below(9_000_000),
    });
    let hits = steady(600, 300, |_| 1);
    let mut bursts = steady(1000, 300, |_| 1_000_000);
    bursts.retain(|one| {
        let is_busy = one.time_ns / 7_000_000_000 % 3 == 0;
        is_busy || one.time_ns / 1_000_000 % 100 == 0
    });
    vec![
        ("clock", clock),
        ("cycles", cycles),
        ("hits", hits),
        ("bursts", bursts),
    ]
}

#[test]
fn totals_and_rows_are_those_of_the_whole_recording() {
    for (name, all) in workloads() {
        let kept = thinned(&all, 36_000, 7);
        assert!(
            kept.len() * 5 < all.len(),
            "{name}: {} of {}",
            kept.len(),
            all.len()
        );
        let (truth, found) = (sum(&all), sum(&kept));
        assert!(
            (found / truth - 1.0).abs() < 0.01,
            "{name}: {found} of {truth}"
        );
        let found = rows(&kept);
        for (row, truth) in rows(&all) {
            let off = (found.get(&row).copied().unwrap_or_default() - truth).abs();
            assert!(
                off < 4.0 * error(&kept, row),
                "{name} {row}: {off} of {truth}"
            );
        }
    }
}

#[test]
fn the_mean_over_many_seeds_is_the_truth() {
    const SEEDS: u64 = 400;
    for (name, all) in workloads() {
        let mut found: BTreeMap<u32, (f64, f64)> = BTreeMap::new();
        for seed in 0..SEEDS {
            for (row, sum) in rows(&thinned(&all, 36_000, seed)) {
                let (sums, squares) = found.entry(row).or_default();
                *sums += sum;
                *squares += sum * sum;
            }
        }
        for (row, truth) in rows(&all) {
            let (sums, squares) = found[&row];
            let n = selection::float(SEEDS);
            let mean = sums / n;
            let error = ((squares / n - mean * mean) / n).sqrt();
            assert!(
                (mean - truth).abs() < 4.0 * error,
                "{name} {row}: {mean} of {truth}, {error}"
            );
        }
    }
}

#[test]
fn loops_that_take_as_long_as_an_interval_are_sampled_everywhere() {
    // Ten times a second, as many samples as are kept; its halves are two rows.
    let mut all = steady(997, 300, |_| 1_003_009);
    for one in &mut all {
        one.row = u32::from(one.time_ns % 100_000_000 >= 50_000_000);
    }
    for seed in 0..20 {
        let kept = thinned(&all, 36_000, seed);
        let found = rows(&kept);
        for (row, truth) in rows(&all) {
            let n = kept.iter().filter(|one| one.row == row).count();
            let off = found[&row] / truth - 1.0;
            let error = 1.0 / selection::float(n as u64).sqrt();
            assert!(off.abs() < 4.0 * error, "{seed} {row}: {off} of {n}");
        }
    }
}

#[test]
fn under_a_steady_load_sums_are_exact_to_one_interval() {
    let mut numbers = Numbers::with_seed(3);
    for seed in 0..100 {
        let mut selection = Selection::new(Numbers::with_seed(seed));
        selection.set_interval(1000);
        let (mut all, mut kept) = (0, 0);
        for _ in 0..10_000 {
            let period = numbers.below(1400);
            all += period;
            kept += selection.take(period).unwrap_or(0);
            assert!(all.abs_diff(kept) <= 1000);
        }
    }
}

/// Kept samples of each second.
fn by_second(kept: &[Taken]) -> Vec<usize> {
    let mut seconds = Vec::new();
    for one in kept {
        let second = usize::try_from(one.time_ns / 1_000_000_000).unwrap();
        seconds.resize(seconds.len().max(second + 1), 0);
        seconds[second] += 1;
    }
    seconds
}

#[test]
fn what_is_kept_keeps_pace_and_bursts_are_bounded() {
    for (name, all) in workloads() {
        let last_s = all[all.len() - 1].time_ns / 1_000_000_000;
        let kept = thinned(&all, 36_000, 1);
        let most = usize::try_from(10 * last_s).unwrap() + 110;
        assert!(kept.len() <= most, "{name}: {} of {most}", kept.len());
        let worst = by_second(&kept).into_iter().max().unwrap();
        assert!(worst <= 200, "{name}: {worst} in a second");
        if name != "bursts" {
            assert!(
                kept.len() * 10 >= most * 8,
                "{name}: {} of {most}",
                kept.len()
            );
        }
    }
}

#[test]
fn a_recording_with_fewer_samples_is_kept_as_it_is() {
    let all = steady(9, 100, |numbers| 1 + numbers.below(1000));
    let kept = thinned(&all, 36_000, 9);
    assert_eq!(kept.len(), all.len());
    assert!(all.iter().zip(&kept).all(|(a, b)| a.period == b.period));
}

#[test]
fn samples_that_stand_for_nothing_are_dropped_once_they_are_too_many() {
    let many = thinned(&steady(1000, 60, |_| 0), 36_000, 2);
    assert!(many.len() <= 100, "{}", many.len());
    let few = thinned(&steady(5, 60, |_| 0), 36_000, 2);
    assert_eq!(few.len(), 300);
}

#[test]
fn rare_events_are_kept_beside_frequent_ones() {
    let mut all = steady(1000, 120, |_| 1_000_000);
    let rare = steady(3, 120, |_| 1).into_iter();
    all.extend(rare.map(|one| Taken { event: 1, ..one }));
    all.sort_by_key(|one| one.time_ns);
    let kept = thinned(&all, 36_000, 4);
    let n_rare = kept.iter().filter(|one| one.event == 1).count();
    // The first second is a burst.
    assert!(n_rare > 300, "{n_rare} of 360");
    let others: Vec<Taken> = kept.into_iter().filter(|one| one.event == 0).collect();
    assert!((700..=960).contains(&others.len()), "{}", others.len());
    assert!((sum(&others) / 120e9 - 1.0).abs() < 0.01);
}
