//! What the method says of noise whose truth is known: seeded, so that it is the same each time.

use super::numbers::Numbers;
use super::testing::normal;
use super::{Amount, Contrast, Resamples, adjusted};

/// How runs of a program vary.
#[derive(Clone, Copy, Debug)]
enum Noise {
    /// By 2 %, as errors of measurement do.
    Normal,
    /// By 5 %, to larger values more than to smaller ones.
    LogNormal,
    /// By 1 %; every tenth run was disturbed and took up to 20 % more.
    Disturbed,
}

impl Noise {
    const ALL: [Self; 3] = [Self::Normal, Self::LogNormal, Self::Disturbed];

    fn run(self, numbers: &mut Numbers) -> f64 {
        let z = normal(numbers);
        match self {
            Self::Normal => 1000.0 * (1.0 + 0.02 * z),
            Self::LogNormal => 1000.0 * (0.05 * z).exp(),
            Self::Disturbed => {
                let more = match numbers.below(10) {
                    0 => f64::from(numbers.below(200)),
                    _ => 0.0,
                };
                1000.0 + more + 10.0 * z
            }
        }
    }

    fn runs(self, n: usize, factor: f64, numbers: &mut Numbers) -> Vec<f64> {
        (0..n).map(|_| factor * self.run(numbers)).collect()
    }
}

/// What is said of two sides: the p-value and bounds of the logarithm.
fn ask(before: &[f64], after: &[f64], draws: Option<&Resamples>) -> (f64, (f64, f64)) {
    match draws {
        Some(draws) => draws.ask((before, after), (1.0, 1.0), 0.05),
        None => {
            let found = Contrast::of(&Amount::of_runs(before, 1.0), &Amount::of_runs(after, 1.0));
            (found.p_value(), found.bounds(0.05))
        }
    }
}

/// How often programs of 30 functions that did not change have a row that is marked.
fn false_alarms(noise: Noise, n_runs: usize, n_pairs: usize) -> usize {
    let mut numbers = Numbers::of(7);
    let draws = Resamples::of(n_runs, n_runs);
    let alarms = (0..n_pairs).filter(|_| {
        let mut p_value = || {
            let before = noise.runs(n_runs, 1.0, &mut numbers);
            let after = noise.runs(n_runs, 1.0, &mut numbers);
            ask(&before, &after, draws.as_ref()).0
        };
        let p_values: Vec<f64> = (0..30).map(|_| p_value()).collect();
        adjusted(&p_values).iter().any(|&one| one <= 0.05)
    });
    alarms.count()
}

#[test]
fn pairs_of_the_same_raise_false_alarms_no_more_often_than_said() {
    for noise in Noise::ALL {
        for (n_runs, n_pairs) in [(2, 400), (3, 400), (5, 400), (10, 40)] {
            let alarms = false_alarms(noise, n_runs, n_pairs);
            // 5 % and two standard errors of that.
            let most = if n_pairs == 400 { 28 } else { 4 };
            assert!(
                alarms <= most,
                "{noise:?} {n_runs} runs: {alarms} of {n_pairs}"
            );
        }
    }
}

#[test]
fn intervals_have_the_truth_as_often_as_they_say() {
    for noise in [Noise::Normal, Noise::LogNormal] {
        for (n_runs, n_pairs) in [(2, 1000), (5, 1000), (10, 300)] {
            let mut numbers = Numbers::of(3);
            let draws = Resamples::of(n_runs, n_runs);
            let covers = (0..n_pairs).filter(|_| {
                let before = noise.runs(n_runs, 1.0, &mut numbers);
                let after = noise.runs(n_runs, 1.1, &mut numbers);
                let (_, (low, high)) = ask(&before, &after, draws.as_ref());
                let truth = 1.1_f64.ln();
                low <= truth && truth <= high
            });
            let covers = covers.count() * 1000 / n_pairs;
            assert!(covers >= 930, "{noise:?} {n_runs} runs: {covers} of 1000");
        }
    }
}

#[test]
fn slowdowns_are_found_with_enough_runs() {
    let mut numbers = Numbers::of(11);
    let draws = Resamples::of(10, 10);
    let found = (0..50).filter(|_| {
        let before = Noise::Normal.runs(10, 1.0, &mut numbers);
        let after = Noise::Normal.runs(10, 1.05, &mut numbers);
        ask(&before, &after, draws.as_ref()).0 < 0.05 / 30.0
    });
    let found = found.count();
    assert!(found >= 45, "{found} of 50");
}
