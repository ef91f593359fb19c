//! What the method says of noise whose truth is known: seeded, so that it is the same each time.

use super::numbers::Numbers;
use super::testing::{counted, normal};
use super::{Amount, Contrast, Resamples, adjusted, float};

/// How runs of a program vary.
#[derive(Clone, Copy, Debug)]
enum Noise {
    /// By 2 %, as errors of measurement do.
    Normal,
    /// By 5 %, to larger values more than to smaller ones.
    LogNormal,
    /// By 1 %; every tenth run was disturbed and took up to 20 % more.
    Disturbed,
    /// As counts of samples do (Poisson), with this mean: what most rows have.
    Counts(f64),
}

impl Noise {
    const ALL: [Self; 6] = [
        Self::Normal,
        Self::LogNormal,
        Self::Disturbed,
        Self::Counts(1.0),
        Self::Counts(3.0),
        Self::Counts(30.0),
    ];

    fn run(self, numbers: &mut Numbers) -> f64 {
        match self {
            Self::Normal => 1000.0 * (1.0 + 0.02 * normal(numbers)),
            Self::LogNormal => 1000.0 * (0.05 * normal(numbers)).exp(),
            Self::Disturbed => {
                let more = match numbers.below(10) {
                    0 => f64::from(numbers.below(200)),
                    _ => 0.0,
                };
                1000.0 + more + 10.0 * normal(numbers)
            }
            Self::Counts(mean) => counted(mean, numbers),
        }
    }

    fn runs(self, n: usize, factor: f64, numbers: &mut Numbers) -> Vec<f64> {
        (0..n).map(|_| factor * self.run(numbers)).collect()
    }

    /// The least variance of a run, as the judge of rows has it.
    fn floor(self, runs: &[f64]) -> f64 {
        match self {
            Self::Counts(_) if runs.len() < 5 => {
                (runs.iter().sum::<f64>() / float(runs.len())).max(1.0)
            }
            _ => 1.0,
        }
    }
}

/// Runs of a row on both sides.
struct Row {
    before: Vec<f64>,
    after: Vec<f64>,
    floors: (f64, f64),
}

impl Row {
    /// Of numbers of runs; the second side is slower by a factor.
    fn of(
        noise: Noise,
        (n_before, n_after): (usize, usize),
        slow: f64,
        from: &mut Numbers,
    ) -> Self {
        let before = noise.runs(n_before, 1.0, from);
        let after = noise.runs(n_after, slow, from);
        Self {
            floors: (noise.floor(&before), noise.floor(&after)),
            before,
            after,
        }
    }

    fn is_tested(&self) -> bool {
        self.before.iter().chain(&self.after).sum::<f64>() >= 10.0
    }

    fn by_t(&self) -> Contrast {
        let after = Amount::of_runs(&self.after, self.floors.1);
        let before = match self.before[..] {
            [run] => Amount::beside(run, &after, self.after.len(), self.floors.0),
            _ => Amount::of_runs(&self.before, self.floors.0),
        };
        Contrast::of(&before, &after)
    }

    /// The p-value and bounds of the logarithm.
    fn ask(&self, draws: Option<&Resamples>) -> (f64, (f64, f64)) {
        match draws {
            Some(draws) => draws.ask((&self.before, &self.after), self.floors, 0.05),
            None => (self.by_t().p_value(), self.by_t().bounds(0.05)),
        }
    }
}

fn has_mark(p_values: &[f64]) -> bool {
    adjusted(p_values).iter().any(|&one| one <= 0.05)
}

/// How often programs of 30 functions that did not change have a row that is marked.
fn false_alarms(noise: Noise, n_runs: (usize, usize), n_pairs: usize) -> usize {
    let mut numbers = Numbers::of(7);
    let draws = Resamples::of(n_runs.0, n_runs.1);
    let alarms = (0..n_pairs).filter(|_| {
        let rows: Vec<Row> = (0..30)
            .map(|_| Row::of(noise, n_runs, 1.0, &mut numbers))
            .filter(Row::is_tested)
            .collect();
        // Draws make nothing surer than t: they are asked only where t alone would mark.
        let by_t: Vec<f64> = rows.iter().map(|row| row.by_t().p_value()).collect();
        let asked = |row: &Row| match row.by_t().p_value() {
            near if near < 0.1 => row.ask(draws.as_ref()).0,
            far => far,
        };
        has_mark(&by_t) && has_mark(&rows.iter().map(asked).collect::<Vec<f64>>())
    });
    alarms.count()
}

#[test]
fn pairs_of_the_same_raise_false_alarms_no_more_often_than_said() {
    for noise in Noise::ALL {
        for n_runs in [(2, 2), (3, 3), (5, 5), (6, 6), (6, 8), (10, 10)] {
            let alarms = false_alarms(noise, n_runs, 400);
            // 5 % and two standard errors of that.
            assert!(alarms <= 28, "{noise:?} {n_runs:?} runs: {alarms} of 400");
        }
    }
}

#[test]
fn unequal_numbers_of_runs_raise_no_more() {
    for noise in Noise::ALL {
        for n_runs in [
            (1, 2),
            (1, 3),
            (1, 5),
            (1, 10),
            (2, 3),
            (2, 5),
            (3, 5),
            (3, 10),
            (5, 7),
            (5, 10),
            (6, 20),
        ] {
            let is_alone = n_runs.0 == 1;
            if is_alone && matches!(noise, Noise::Disturbed) {
                // Nobody can tell whether the only one was disturbed: README.md says so.
                continue;
            }
            let alarms = false_alarms(noise, n_runs, 400);
            assert!(alarms <= 28, "{noise:?} {n_runs:?} runs: {alarms} of 400");
        }
    }
}

#[test]
fn intervals_have_the_truth_as_often_as_they_say() {
    for noise in [Noise::Normal, Noise::LogNormal, Noise::Counts(30.0)] {
        for (n_runs, n_pairs) in [
            ((2, 2), 1000),
            ((2, 5), 1000),
            ((5, 5), 1000),
            ((6, 6), 200),
            ((10, 10), 200),
        ] {
            let mut numbers = Numbers::of(3);
            let draws = Resamples::of(n_runs.0, n_runs.1);
            let covers = (0..n_pairs).filter(|_| {
                let (_, (low, high)) =
                    Row::of(noise, n_runs, 1.1, &mut numbers).ask(draws.as_ref());
                let truth = 1.1_f64.ln();
                low <= truth && truth <= high
            });
            let covers = covers.count() * 1000 / n_pairs;
            assert!(covers >= 930, "{noise:?} {n_runs:?} runs: {covers} of 1000");
        }
    }
}

#[test]
fn slowdowns_are_found_with_enough_runs() {
    let mut numbers = Numbers::of(11);
    for (noise, n_runs, slow) in [
        (Noise::Normal, 10, 1.05),
        (Noise::Normal, 6, 1.1),
        (Noise::Counts(100.0), 10, 1.4),
    ] {
        let draws = Resamples::of(n_runs, n_runs);
        let found = (0..50).filter(|_| {
            let row = Row::of(noise, (n_runs, n_runs), slow, &mut numbers);
            row.ask(draws.as_ref()).0 < 0.05 / 30.0
        });
        let found = found.count();
        assert!(found >= 45, "{noise:?} {n_runs}: {found} of 50");
    }
}
