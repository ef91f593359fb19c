//! What the recordings say of something that was counted: how much it changed, and how sure that is.

use crate::per::Divisor;
use crate::recordings::Recordings;
use crate::rows::RunCounts;
use crate::statistics::{Amount, Contrast, Estimate, Resamples, float, variance_of_sum, weight};
use rprof_profile::difference::Side;

/// What judges all rows of an event.
#[derive(Debug)]
pub(crate) struct Judge<'a> {
    recordings: &'a Recordings,
    /// Of each recording, those before first.
    divisors: Vec<Divisor>,
    /// All of the event.
    total: RunCounts,
    draws: Option<Resamples>,
    alpha: f64,
    /// What only all rows together show, of one recording a side.
    shared: Shared,
}

/// What nobody has to look at twice: with a p-value above, runs are not drawn again.
const NOT_NEAR: f64 = 0.1;

/// With fewer runs, their own variance may be small by chance, and samples are noise at least.
const FEW_RUNS: usize = 5;

/// How much runs of the same command vary at least, where nobody has seen two of them: this share.
pub(crate) const UNSEEN: f64 = 0.01;

/// Rows with fewer samples on both sides together say nothing.
pub(crate) const FEWEST_SAMPLES: u64 = 10;

/// Fewer rows do not tell how much all of them vary together.
const FEWEST_ROWS: usize = 10;

/// The median of squares of standard normal numbers.
const MEDIAN_OF_SQUARES: f64 = 0.454_936;

/// What all rows have in common is taken to be the machine, up to this standard deviation of logarithms: one that
/// was slower for a while makes all of them slower.
pub(crate) const MOST_SHARED: f64 = 0.25;

/// What noise is not seen in one row's blocks, but in all rows together.
#[derive(Clone, Copy, Debug)]
struct Shared {
    /// By how much rows vary around their median more than their own noise says.
    inflation: f64,
    /// The standard error, of logarithms, of what all rows do together.
    error: f64,
}

impl Shared {
    const NONE: Self = Self {
        inflation: 1.0,
        error: 0.0,
    };
}

impl<'a> Judge<'a> {
    pub(crate) fn new(
        recordings: &'a Recordings,
        divisors: Vec<Divisor>,
        total: RunCounts,
        alpha: f64,
    ) -> Self {
        let (n_before, n_after) = recordings.counts();
        Self {
            recordings,
            divisors,
            total,
            draws: Resamples::of(n_before, n_after),
            alpha,
            shared: Shared::NONE,
        }
    }

    /// Learns from all rows what no single one says. Only for one recording a side: several show it themselves.
    pub(crate) fn learn<'c>(&mut self, rows: impl Iterator<Item = &'c RunCounts>) {
        if !self.recordings.are_single() {
            return;
        }
        let enough = rows.filter(|row| row.samples() >= 2 * FEWEST_SAMPLES);
        let contrasts: Vec<Contrast> = enough
            .map(|row| self.contrast(row))
            .filter(Contrast::is_log)
            .collect();
        let values = contrasts.iter().map(|row| row.value);
        let shift = if contrasts.len() >= FEWEST_ROWS {
            median(values.collect())
        } else {
            // Few rows may all be the change that is looked for; all together have to do.
            self.contrast(&self.total).value
        };
        let squares = contrasts
            .iter()
            .filter(|row| row.error > 0.0)
            .map(|row| ((row.value - shift) / row.error).powi(2));
        let inflation = if contrasts.len() >= FEWEST_ROWS {
            (median(squares.collect()) / MEDIAN_OF_SQUARES).sqrt()
        } else {
            1.0
        };
        self.shared = Shared {
            inflation: inflation.max(1.0),
            error: shift.abs().min(MOST_SHARED),
        };
    }

    /// What is to be said of a row.
    pub(crate) fn estimate(&self, counts: &RunCounts) -> Estimate {
        let [before, after] = self.values(counts);
        let contrast = self.contrast(counts);
        let p_value = contrast.p_value();
        let (p_value, bounds) = match &self.draws {
            Some(draws) if p_value < NOT_NEAR && counts.samples() >= FEWEST_SAMPLES => {
                draws.ask((&before, &after), self.floors(counts), self.alpha)
            }
            _ => (p_value, contrast.bounds(self.alpha)),
        };
        Estimate {
            before: mean(&before),
            after: mean(&after),
            interval: contrast.relative(bounds),
            p_value,
        }
    }

    /// The bounds of after / before - 1 at a level of its own.
    pub(crate) fn bounds(&self, counts: &RunCounts, alpha: f64) -> Option<(f64, f64)> {
        let contrast = self.contrast(counts);
        let [before, after] = self.values(counts);
        let bounds = match &self.draws {
            Some(draws) => draws.ask((&before, &after), self.floors(counts), alpha).1,
            None => contrast.bounds(alpha),
        };
        contrast.relative(bounds)
    }

    /// after - before, and its bounds.
    pub(crate) fn difference(&self, counts: &RunCounts, alpha: f64) -> (f64, (f64, f64)) {
        let [before, after] = self.amounts(counts);
        let Shared { inflation, error } = self.shared;
        let found = Contrast::difference(&before, &after);
        let found = found.less_sure(inflation, error * before.mean.max(after.mean));
        (found.value, found.bounds(alpha))
    }

    fn contrast(&self, counts: &RunCounts) -> Contrast {
        let [before, after] = self.amounts(counts);
        let Shared { inflation, error } = self.shared;
        let found = Contrast::of(&before, &after);
        let scale = if found.is_log() {
            1.0
        } else {
            before.mean.max(after.mean)
        };
        found.less_sure(inflation, error * scale)
    }

    /// What each recording amounts to, divided.
    fn values(&self, counts: &RunCounts) -> [Vec<f64>; 2] {
        let values = counts.runs.iter().zip(&self.divisors);
        let values = values.map(|(run, divisor)| divisor.of(weight(run.weight)));
        let mut before: Vec<f64> = values.collect();
        let after = before.split_off(self.n_before().min(before.len()));
        [before, after]
    }

    pub(crate) fn n_before(&self) -> usize {
        self.recordings.before.len()
    }

    fn amounts(&self, counts: &RunCounts) -> [Amount; 2] {
        let [before, after] = self.values(counts);
        if self.recordings.are_single() {
            return [self.of_blocks(counts, 0), self.of_blocks(counts, 1)];
        }
        let floors = self.floors(counts);
        let of_before = Amount::of_runs(&before, floors.0);
        let of_after = Amount::of_runs(&after, floors.1);
        match (&before[..], &after[..]) {
            (&[run], _) => [
                Amount::beside(run, &of_after, after.len(), floors.0),
                of_after,
            ],
            (_, &[run]) => [
                of_before,
                Amount::beside(run, &of_before, before.len(), floors.1),
            ],
            _ => [of_before, of_after],
        }
    }

    /// The least variance of a run on each side.
    fn floors(&self, counts: &RunCounts) -> (f64, f64) {
        let n_before = self.n_before();
        let floor = |runs: std::ops::Range<usize>| {
            let n = runs.len();
            let floors: f64 = runs.map(|run| self.floor(counts, run, n)).sum();
            floors / float(n.max(1))
        };
        (floor(0..n_before), floor(n_before..counts.runs.len()))
    }

    /// Of one run: samples are whole, and of few runs at least as random as they may be.
    fn floor(&self, counts: &RunCounts, run: usize, n_runs: usize) -> f64 {
        let (Some(own), Some(all), Some(divisor)) = (
            counts.runs.get(run),
            self.total.runs.get(run),
            self.divisors.get(run),
        ) else {
            return 0.0;
        };
        let unit = divisor.of(weight(all.weight) / weight(all.samples.max(1)));
        let others = 1.0 - weight(own.samples) / weight(all.samples.max(1));
        let random = weight(own.samples) * others.max(0.0);
        let samples = if n_runs < FEW_RUNS {
            random.max(1.0)
        } else {
            1.0
        };
        unit * unit * samples
    }

    /// Of the only recording of a side.
    fn of_blocks(&self, counts: &RunCounts, run: usize) -> Amount {
        let (Some(sum), Some(divisor)) = (counts.runs.get(run), self.divisors.get(run)) else {
            return Amount::of_runs(&[], 0.0);
        };
        let mean = divisor.of(weight(sum.weight));
        let blocks = counts.blocks.get(run).map_or(&[][..], Vec::as_slice);
        let around = blocks.iter().enumerate().map(|(at, block)| {
            // What a block has beyond its part of what is divided by.
            let part = divisor.blocks.get(at).map_or(0.0, |part| part * mean);
            divisor.of(block - part)
        });
        let around: Vec<f64> = around.collect();
        // Also of what has no sample on this side.
        let n_blocks = self.total.blocks.get(run).map_or(0, Vec::len);
        let seen = variance_of_sum(&around).max(self.floor(counts, run, 1));
        Amount {
            mean,
            variance: seen + (UNSEEN * mean).powi(2),
            degrees: (float(n_blocks) / 2.0).max(1.0),
            is_borrowed: false,
        }
    }

    /// Whether both sides have samples of the event: without, all there is has vanished, or is new.
    pub(crate) fn has_both_sides(&self) -> bool {
        let sides = [Side::Before, Side::After].map(|side| self.total.side(side, self.n_before()));
        sides.iter().all(|side| side.samples > 0)
    }

    /// All of the event.
    pub(crate) fn all(&self) -> &RunCounts {
        &self.total
    }
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(0.0)
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / float(values.len().max(1))
}
