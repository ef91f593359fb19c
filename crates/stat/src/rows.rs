//! Counts as they are shown: added up, and scaled where counters took turns.

use crate::Aggregation;
use crate::opening::Cell;
use crate::topology::{Key, Topology};
use std::collections::BTreeMap;

/// A count as it is shown.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Row {
    pub(crate) key: Key,
    /// How many counters were added up.
    pub(crate) n: u64,
    /// Scaled; without its unit.
    pub(crate) count: f64,
    pub(crate) enabled_ns: f64,
    pub(crate) running_ns: f64,
    /// Relative error of the mean over several runs, in percent.
    pub(crate) noise_percent: f64,
}

impl Row {
    /// One of several counters that have counted nothing.
    pub(crate) fn empty(key: Key, n: u64) -> Self {
        Self {
            key,
            n,
            count: 0.0,
            enabled_ns: 0.0,
            running_ns: 0.0,
            noise_percent: 0.0,
        }
    }

    /// Whether it was on the PMU at all.
    pub(crate) fn is_counted(&self) -> bool {
        self.running_ns > 0.0 && self.enabled_ns > 0.0
    }

    /// How much of the time it was counted, if not always; percent.
    pub(crate) fn running_percent(&self) -> Option<f64> {
        let percent = 100.0 * self.running_ns / self.enabled_ns;
        (self.enabled_ns > 0.0 && self.running_ns < self.enabled_ns).then_some(percent)
    }
}

/// How cells are added up.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AddedUp<'a> {
    pub(crate) aggregation: Aggregation,
    pub(crate) topology: &'a Topology,
    pub(crate) scale: bool,
}

impl AddedUp<'_> {
    /// The rows of one event, by key.
    pub(crate) fn rows(&self, cells: &[Cell]) -> Vec<Row> {
        let mut rows: BTreeMap<Key, Row> = BTreeMap::new();
        for cell in cells {
            let key = self.topology.key(self.aggregation, cell.cpu, cell.thread);
            let row = rows.entry(key).or_insert(Row::empty(key, 0));
            let count = if self.scale {
                cell.reading.scaled().unwrap_or(0)
            } else {
                cell.reading.count
            };
            row.n += 1;
            row.count += as_float(count);
            row.enabled_ns += as_float(cell.reading.enabled_ns);
            row.running_ns += as_float(cell.reading.running_ns);
        }
        rows.into_values().collect()
    }
}

/// What each counter counted since `before`, which has the same counters.
pub(crate) fn since(now: &[Vec<Cell>], before: &[Vec<Cell>]) -> Vec<Vec<Cell>> {
    let of_event = |(now, before): (&Vec<Cell>, &Vec<Cell>)| {
        let of_cell = |(now, before): (&Cell, &Cell)| Cell {
            reading: now.reading.since(&before.reading),
            ..*now
        };
        now.iter().zip(before).map(of_cell).collect()
    };
    now.iter().zip(before).map(of_event).collect()
}

#[expect(
    clippy::cast_precision_loss,
    reason = "counts are shown as they are up to 2^53, and as perf shows them beyond"
)]
pub(crate) fn as_float(count: u64) -> f64 {
    count as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use rprof_ringbuf::count::Reading;

    fn cell(cpu: u32, count: u64, enabled_ns: u64, running_ns: u64) -> Cell {
        Cell {
            cpu: Some(cpu),
            thread: 0,
            reading: Reading {
                count,
                enabled_ns,
                running_ns,
            },
        }
    }

    fn rows(aggregation: Aggregation, scale: bool, cells: &[Cell]) -> Vec<Row> {
        let added_up = AddedUp {
            aggregation,
            topology: &Topology::default(),
            scale,
        };
        added_up.rows(cells)
    }

    #[test]
    fn each_counter_is_scaled_by_its_own_times() {
        let cells = [
            cell(0, 10, 100, 50),
            cell(1, 10, 100, 100),
            cell(2, 0, 100, 0),
        ];
        let all = rows(Aggregation::Global, true, &cells);
        assert_eq!((all.len(), all[0].n, all[0].count), (1, 3, 30.0));
        assert_eq!(all[0].running_percent(), Some(50.0));
        let each = rows(Aggregation::Cpu, true, &cells);
        assert_eq!(each.len(), 3);
        assert!(each[1].is_counted() && !each[2].is_counted());
        assert_eq!(each[1].running_percent(), None);
        let unscaled = rows(Aggregation::Global, false, &cells);
        assert_eq!(unscaled[0].count, 20.0);
    }

    #[test]
    fn an_interval_has_what_came_in_it() {
        let before = vec![vec![cell(0, 10, 100, 100)]];
        let now = vec![vec![cell(0, 25, 300, 300)]];
        assert_eq!(since(&now, &before), [[cell(0, 15, 200, 200)]]);
    }
}
