//! The studentized bootstrap: Efron, Tibshirani: An Introduction to the Bootstrap, 1993, chapters 12.5 and 16.2.
//!
//! Runs are drawn again from the runs of each side, the same draws for all rows. What a draw says, it says in standard
//! errors of its own: how far it is from the runs that it was drawn from is how far these may be from the truth.

use super::numbers::Numbers;
use super::{Amount, Contrast, moments};

/// Runs drawn again, for both sides.
#[derive(Clone, Debug)]
pub(crate) struct Resamples {
    before: Vec<u32>,
    after: Vec<u32>,
}

impl Resamples {
    /// How many draws.
    const N: usize = 9_999;
    /// Fewer runs have too few different draws: 5 have 126.
    pub(crate) const FEWEST_RUNS: usize = 6;
    /// Nearer to an end than this number of draws, their number says little, and t alone is asked.
    const TAIL: usize = 10;
    /// The same recordings give the same answer.
    const SEED: u64 = 19_930_501;

    /// Draws for as many runs; none where there are too few.
    pub(crate) fn of(n_before: usize, n_after: usize) -> Option<Self> {
        if n_before.min(n_after) < Self::FEWEST_RUNS {
            return None;
        }
        let mut numbers = Numbers::of(Self::SEED);
        let mut draws = |n: usize| {
            let bound = u32::try_from(n).unwrap_or(u32::MAX);
            let all = (0..n * Self::N).map(|_| numbers.below(bound));
            all.collect()
        };
        Some(Self {
            before: draws(n_before),
            after: draws(n_after),
        })
    }

    /// The p-value and the bounds of a contrast of runs: of draws, and of t, whichever is less sure.
    ///
    /// A draw of a few runs with a few samples each has a small variance by chance, and draws alone are then too sure.
    pub(crate) fn ask(
        &self,
        (before, after): (&[f64], &[f64]),
        floors: (f64, f64),
        alpha: f64,
    ) -> (f64, (f64, f64)) {
        let found = Contrast::of(
            &Amount::of_runs(before, floors.0),
            &Amount::of_runs(after, floors.1),
        );
        let mut drawn = self.drawn((before, after), floors, &found);
        let t = found.t();
        let below = drawn.iter().filter(|&&one| one <= t).count();
        let above = drawn.iter().filter(|&&one| one >= t).count();
        let beyond = below.min(above);
        let p_of = |n: usize| {
            let p = 2.0 * super::float(n + 1) / super::float(Self::N + 1);
            p.min(1.0)
        };
        let by_t = found.p_value();
        let p_value = if beyond < Self::TAIL {
            by_t
        } else {
            p_of(beyond).max(by_t)
        };
        let bounds = Self::bounds(&mut drawn, &found, alpha);
        (p_value, bounds)
    }

    /// The wider of the draws' bounds and t's, on each side.
    fn bounds(drawn: &mut [f64], found: &Contrast, alpha: f64) -> (f64, f64) {
        let tail = alpha / 2.0 * super::float(Self::N + 1);
        let by_t = found.bounds(alpha);
        if tail < super::float(Self::TAIL) {
            return by_t;
        }
        let mut quantile = |share: f64| {
            let wanted = share * super::float(Self::N + 1);
            let rank = (1..=drawn.len()).rfind(|&rank| super::float(rank) <= wanted)?;
            // Not all of them have to be in order for one of them.
            let (_, value, _) = drawn.select_nth_unstable_by(rank - 1, f64::total_cmp);
            Some(*value)
        };
        match (quantile(alpha / 2.0), quantile(1.0 - alpha / 2.0)) {
            (Some(low), Some(high)) => (
                by_t.0.min(found.value - high * found.error),
                by_t.1.max(found.value - low * found.error),
            ),
            _ => by_t,
        }
    }

    /// What the draws say: t around what was found, on its scale.
    fn drawn(
        &self,
        (before, after): (&[f64], &[f64]),
        floors: (f64, f64),
        found: &Contrast,
    ) -> Vec<f64> {
        let of_before = self.before.chunks_exact(before.len().max(1));
        let of_after = self.after.chunks_exact(after.len().max(1));
        let before = Drawable::of(before, floors.0);
        let after = Drawable::of(after, floors.1);
        let drawn = of_before
            .zip(of_after)
            .map(|(first, second)| found.away(&before.amount(first), &after.amount(second)));
        drawn.collect()
    }
}

/// The runs of a side, from which some are drawn.
struct Drawable<'r> {
    runs: &'r [f64],
    mean: f64,
    /// The least variance of a run.
    floor: f64,
}

impl<'r> Drawable<'r> {
    fn of(runs: &'r [f64], floor: f64) -> Self {
        let (mean, _) = moments(runs);
        Self { runs, mean, floor }
    }

    /// The runs with some numbers.
    #[inline]
    fn amount(&self, draw: &[u32]) -> Amount {
        // Squares around the mean of all: their sum loses nothing that matters.
        let (mut sum, mut around, mut squares) = (0.0, 0.0, 0.0);
        for run in draw.iter().filter_map(|&at| self.runs.get(at as usize)) {
            let away = run - self.mean;
            sum += run;
            around += away;
            squares += away * away;
        }
        let n = super::float(draw.len().max(1));
        let variance = (squares - around * around / n).max(0.0) / (n - 1.0).max(1.0);
        Amount {
            mean: sum / n,
            variance: variance.max(self.floor) / n,
            degrees: 1.0,
            is_borrowed: false,
        }
    }
}

impl Contrast {
    /// How far two other amounts are from this, in standard errors of their own.
    fn away(&self, before: &Amount, after: &Amount) -> f64 {
        let other = if self.is_log {
            Self::of(before, after)
        } else {
            Self::difference(before, after)
        };
        let infinite = match (before.mean > 0.0, after.mean > 0.0) {
            _ if !self.is_log => None,
            (true, false) => Some(f64::NEG_INFINITY),
            (false, true) => Some(f64::INFINITY),
            (false, false) => Some(0.0),
            (true, true) => None,
        };
        let own = Self {
            value: other.value - self.value,
            ..other
        };
        infinite.unwrap_or_else(|| own.t())
    }
}
