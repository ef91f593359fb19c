//! A heat map: seconds from left to right, parts of a second from bottom to top, as FlameScope draws it.

use crate::SampleSelection;
use crate::chosen::Chosen;
use crate::lanes::times_of;
use rprof_profile::SampledProfile;

/// Samples by second and part of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeatMap {
    /// When the first column begins, nanoseconds of the recording's clock.
    pub start_ns: u64,
    /// Cells of a column.
    pub n_rows: usize,
    /// Samples by cell, column after column.
    pub cells: Vec<u32>,
}

impl HeatMap {
    /// Nanoseconds of a column.
    pub const COLUMN_NS: u64 = 1_000_000_000;
    /// Columns at most: what is later is in the last one.
    pub const MAX_COLUMNS: usize = 100_000;

    /// How many columns there are.
    pub fn n_columns(&self) -> usize {
        self.cells.len() / self.n_rows.max(1)
    }

    /// The times of a cell, nanoseconds of the recording's clock, both included.
    pub fn times_ns(&self, column: usize, row: usize) -> std::ops::RangeInclusive<u64> {
        let number = |number: usize| u64::try_from(number).unwrap_or(u64::MAX);
        let rows = number(self.n_rows);
        let column = self.start_ns + number(column) * Self::COLUMN_NS;
        // The first moment that is in a row or in a later one.
        let begins = |row: usize| (number(row) * Self::COLUMN_NS).div_ceil(rows);
        column + begins(row)..=column + begins(row + 1) - 1
    }
}

/// Counts what is selected by second since the recording's first sample, and by `n_rows` parts of it.
/// `None` if there are no samples, or no times.
pub fn heat_map(
    sampled: &SampledProfile,
    selection: &SampleSelection,
    n_rows: usize,
) -> Option<HeatMap> {
    let times = times_of(sampled, selection)?;
    let start_ns = *sampled.samples.span_ns()?.start();
    let n_rows = n_rows.max(1);
    let last = (times.end().saturating_sub(start_ns)) / HeatMap::COLUMN_NS;
    let last = usize::try_from(last)
        .unwrap_or(usize::MAX)
        .min(HeatMap::MAX_COLUMNS - 1);
    let mut cells = vec![0u32; (last + 1) * n_rows];
    let chosen = Chosen::new(sampled, selection);
    for sample in sampled.samples.rows(chosen.range.clone()) {
        let has_stack = |stack| chosen.is_shown(&sample, stack);
        if chosen.is_in_totals(&sample) && sample.stack.is_some_and(has_stack) {
            let since = sample.time_ns.saturating_sub(start_ns);
            let column = usize::try_from(since / HeatMap::COLUMN_NS)
                .unwrap_or(usize::MAX)
                .min(last);
            let part = u128::from(since % HeatMap::COLUMN_NS) * n_rows as u128;
            let row = usize::try_from(part / u128::from(HeatMap::COLUMN_NS)).unwrap_or(0);
            let cell = &mut cells[column * n_rows + row.min(n_rows - 1)];
            *cell = cell.saturating_add(1);
        }
    }
    Some(HeatMap {
        start_ns,
        n_rows,
        cells,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use rprof_profile::testing;

    proptest! {
        #[test]
        fn a_cell_has_the_samples_of_its_times(
            mut times in prop::collection::vec(0u64..3_000_000_000, 1..40),
            n_rows in 1usize..20,
        ) {
            times.sort_unstable();
            let samples: Vec<_> = times.iter().map(|&time| (time, "a", "main", 1)).collect();
            let sampled = testing::sampled(&samples);
            let map = heat_map(&sampled, &SampleSelection::default(), n_rows).unwrap();
            for column in 0..map.n_columns() {
                for row in 0..n_rows {
                    let times_ns = Some(map.times_ns(column, row));
                    let n_within = sampled.samples.within(&times_ns.clone().unwrap()).len();
                    prop_assert_eq!(map.cells[column * n_rows + row] as usize, n_within);
                }
            }
            prop_assert_eq!(map.cells.iter().sum::<u32>() as usize, times.len());
        }
    }
}
