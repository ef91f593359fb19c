//! Mean and deviation over several runs of a command.

use crate::rows::Row;
use std::collections::BTreeMap;

/// Numbers, one after the other, by Welford's method: no sum of squares that loses small differences.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Series {
    n: f64,
    mean: f64,
    squares: f64,
}

impl Series {
    pub(crate) fn add(&mut self, value: f64) {
        self.n += 1.0;
        let delta = value - self.mean;
        self.mean += delta / self.n;
        self.squares += delta * (value - self.mean);
    }

    pub(crate) fn n(&self) -> f64 {
        self.n
    }

    pub(crate) fn mean(&self) -> f64 {
        self.mean
    }

    /// Standard deviation of the mean.
    pub(crate) fn deviation(&self) -> f64 {
        if self.n < 2.0 {
            return 0.0;
        }
        let variance = self.squares / (self.n - 1.0);
        (variance / self.n).sqrt()
    }

    /// The same in percent of the mean.
    pub(crate) fn deviation_percent(&self) -> f64 {
        match self.mean {
            0.0 => 0.0,
            mean => 100.0 * self.deviation() / mean,
        }
    }
}

/// Rows of several runs.
#[derive(Clone, Debug, Default)]
pub(crate) struct Runs {
    /// By event, then by key: counts, and sums of both times.
    events: Vec<BTreeMap<crate::topology::Key, (Series, Series, Series, u64)>>,
    /// Seconds of a run.
    wall: Series,
    /// Seconds of each run, where a table wants them: runs without end are too many.
    pub(crate) walls: Option<Vec<f64>>,
}

impl Runs {
    pub(crate) fn new(has_table: bool) -> Self {
        Self {
            walls: has_table.then(Vec::new),
            ..Self::default()
        }
    }

    pub(crate) fn add(&mut self, rows: &[Vec<Row>], wall: f64) {
        self.wall.add(wall);
        self.walls.iter_mut().for_each(|walls| walls.push(wall));
        self.events
            .resize_with(self.events.len().max(rows.len()), BTreeMap::new);
        for (of_event, rows) in self.events.iter_mut().zip(rows) {
            for row in rows {
                let (count, enabled, running, n) = of_event.entry(row.key).or_default();
                count.add(row.count);
                enabled.add(row.enabled_ns);
                running.add(row.running_ns);
                *n = row.n;
            }
        }
    }

    /// Means, with their errors.
    pub(crate) fn rows(&self) -> Vec<Vec<Row>> {
        let of_event = |keys: &BTreeMap<_, (Series, Series, Series, u64)>| {
            let row =
                |(&key, (count, enabled, running, n)): (_, &(Series, Series, Series, u64))| Row {
                    key,
                    n: *n,
                    count: count.mean(),
                    enabled_ns: enabled.mean(),
                    running_ns: running.mean(),
                    noise_percent: count.deviation_percent(),
                };
            keys.iter().map(row).collect()
        };
        self.events.iter().map(of_event).collect()
    }

    /// Whether anything was to be counted.
    pub(crate) fn has_events(&self) -> bool {
        !self.events.is_empty()
    }

    /// Seconds of a run.
    pub(crate) fn wall(&self) -> Series {
        self.wall
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_are_kept_one_by_one_for_a_table_only() {
        for (mut runs, expected) in [
            (Runs::new(true), Some(vec![1.0, 3.0])),
            (Runs::new(false), None),
        ] {
            runs.add(&[], 1.0);
            runs.add(&[], 3.0);
            assert_eq!(runs.walls, expected);
            assert_eq!((runs.wall().n(), runs.wall().mean()), (2.0, 2.0));
        }
    }

    #[test]
    fn deviations_are_those_of_the_mean() {
        let mut series = Series::default();
        assert_eq!((series.mean(), series.deviation()), (0.0, 0.0));
        series.add(5.0);
        assert_eq!((series.mean(), series.deviation_percent()), (5.0, 0.0));
        let mut series = Series::default();
        for value in [2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0] {
            series.add(value);
        }
        assert_eq!(series.mean(), 5.0);
        // Variance 32 / 7, of the mean 4 / 7.
        assert!((series.deviation() - (4.0f64 / 7.0).sqrt()).abs() < 1e-12);
        let mut large = Series::default();
        for value in [1e15, 1e15 + 1.0, 1e15 + 2.0] {
            large.add(value);
        }
        assert!((large.deviation() - (1.0f64 / 3.0).sqrt()).abs() < 1e-9);
    }
}
