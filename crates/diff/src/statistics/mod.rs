//! How sure a change is: of several runs a side by what differs between them, of one by blocks of time.
//!
//! What is compared is the logarithm of after / before: noise of programs is in proportion to what they take. README.md
//! has the method.

mod benjamini;
mod blocks;
mod numbers;
mod resamples;
mod student;

pub(crate) use benjamini::adjusted;
pub(crate) use blocks::variance_of_sum;
pub(crate) use resamples::Resamples;

/// What a side amounts to, and how sure that is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Amount {
    /// The mean of its runs.
    pub(crate) mean: f64,
    /// Variance of that mean.
    pub(crate) variance: f64,
    /// Degrees of freedom of that variance.
    pub(crate) degrees: f64,
    /// Whether the variance is that of the other side: both are one estimate then.
    pub(crate) is_borrowed: bool,
}

/// What changed, and how sure that is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// The mean before.
    pub before: f64,
    /// The mean after.
    pub after: f64,
    /// The interval of after / before - 1; none where one of the two is 0.
    pub interval: Option<(f64, f64)>,
    /// The probability of so large a difference by noise alone.
    pub p_value: f64,
}

impl Estimate {
    /// after - before, as amounts.
    pub(crate) fn moved(&self) -> f64 {
        self.after - self.before
    }

    /// after / before - 1: infinite for what is new, -1 for what vanished.
    pub fn change(&self) -> f64 {
        match (self.before > 0.0, self.after > 0.0) {
            (true, _) => self.after / self.before - 1.0,
            (false, true) => f64::INFINITY,
            (false, false) => 0.0,
        }
    }
}

impl Amount {
    /// Of runs: their mean. `floor` is the least variance that a run can have: counts of samples are whole.
    pub(crate) fn of_runs(runs: &[f64], floor: f64) -> Self {
        let (mean, variance) = moments(runs);
        Self {
            mean,
            variance: variance.max(floor) / float(runs.len().max(1)),
            degrees: float(runs.len().saturating_sub(1)),
            is_borrowed: false,
        }
    }

    /// Of one run beside several: as if it varied as they do, in proportion.
    pub(crate) fn beside(run: f64, others: &Self, n_others: usize, floor: f64) -> Self {
        let scale = if others.mean > 0.0 {
            run / others.mean
        } else {
            1.0
        };
        let variance = others.variance * float(n_others) * scale * scale;
        Self {
            mean: run,
            variance: variance.max(floor),
            degrees: others.degrees,
            is_borrowed: true,
        }
    }
}

/// A difference on a scale, with its standard error.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Contrast {
    pub(crate) value: f64,
    pub(crate) error: f64,
    pub(crate) degrees: f64,
    is_log: bool,
}

impl Contrast {
    /// The logarithm of after / before where both are there; else their difference.
    pub(crate) fn of(before: &Amount, after: &Amount) -> Self {
        if before.mean > 0.0 && after.mean > 0.0 {
            let relative = |side: &Amount| side.variance / (side.mean * side.mean);
            let parts = [(before, relative(before)), (after, relative(after))];
            Self::welch((after.mean / before.mean).ln(), parts, true)
        } else {
            Self::difference(before, after)
        }
    }

    /// after - before.
    pub(crate) fn difference(before: &Amount, after: &Amount) -> Self {
        let parts = [(before, before.variance), (after, after.variance)];
        Self::welch(after.mean - before.mean, parts, false)
    }

    fn welch(value: f64, parts: [(&Amount, f64); 2], is_log: bool) -> Self {
        let variance: f64 = parts.iter().map(|(_, variance)| variance).sum();
        Self {
            value,
            error: variance.sqrt(),
            degrees: degrees(parts, variance),
            is_log,
        }
    }

    /// How many standard errors it is from none.
    pub(crate) fn t(&self) -> f64 {
        if self.error > 0.0 {
            self.value / self.error
        } else {
            0.0
        }
    }

    /// Whether it is of logarithms.
    pub(crate) fn is_log(&self) -> bool {
        self.is_log
    }

    /// The same with an error that is larger by a factor, and another one beside it.
    pub(crate) fn less_sure(self, factor: f64, beside: f64) -> Self {
        Self {
            error: (self.error * factor).hypot(beside),
            ..self
        }
    }

    pub(crate) fn p_value(&self) -> f64 {
        student::two_sided(self.t(), self.degrees)
    }

    /// Where it lies but for a probability.
    pub(crate) fn bounds(&self, alpha: f64) -> (f64, f64) {
        let margin = student::critical(alpha, self.degrees) * self.error;
        (self.value - margin, self.value + margin)
    }

    /// What that says of after / before - 1.
    pub(crate) fn relative(&self, bounds: (f64, f64)) -> Option<(f64, f64)> {
        let (low, high) = bounds;
        self.is_log.then(|| (low.exp_m1(), high.exp_m1()))
    }
}

/// Degrees of freedom by Welch, Biometrika 34, 1947; those of the smaller side where Welch's are too many: the other side
/// has at least twice as many runs, or no variance of its own.
fn degrees(parts: [(&Amount, f64); 2], variance: f64) -> f64 {
    let [before, after] = parts.map(|(side, _)| side.degrees);
    let (fewest, most) = (before.min(after), before.max(after));
    let is_uneven = most + 1.0 >= 2.0 * (fewest + 1.0);
    if is_uneven || parts.iter().any(|(side, _)| side.is_borrowed) {
        return fewest.max(1.0);
    }
    let share = |&(side, part): &(&Amount, f64)| part * part / side.degrees;
    let degrees = variance * variance / parts.iter().map(share).sum::<f64>();
    if degrees.is_finite() {
        degrees.max(1.0)
    } else {
        1.0
    }
}

/// The mean, and the variance of one around it.
pub(crate) fn moments(values: &[f64]) -> (f64, f64) {
    let n = float(values.len().max(1));
    let mean = values.iter().sum::<f64>() / n;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    (mean, squares / (n - 1.0).max(1.0))
}

/// Counts as numbers to calculate with.
#[expect(clippy::cast_precision_loss, reason = "statistics are not exact")]
pub(crate) fn float(count: usize) -> f64 {
    count as f64
}

/// Weights as numbers to calculate with.
#[expect(clippy::cast_precision_loss, reason = "statistics are not exact")]
pub(crate) fn weight(weight: u64) -> f64 {
    weight as f64
}

#[cfg(test)]
mod simulation;
#[cfg(test)]
pub(crate) mod testing;
