//! Rows in levels, one for each sort key: perf's `--hierarchy`.

use super::row::{Row, RowKey};
use super::{Columns, Rows, SortKey};
use foldhash::HashMap;

/// A row, and where in a hierarchy it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LevelRow {
    /// Its keys are those of the levels down to its own.
    pub row: Row,
    /// How many rows it is below.
    pub depth: usize,
    /// Whether it is a row of the table without levels: it has all keys, and trees may grow below it.
    pub is_innermost: bool,
}

impl LevelRow {
    /// A row of a table without levels.
    pub fn flat(row: Row) -> Self {
        Self {
            row,
            depth: 0,
            is_innermost: true,
        }
    }
}

impl Rows<'_> {
    /// The rows in levels: of the first key, and below each those of the next one. A row stands before those below it,
    /// and counts what they count; rows of one level are in the order of columns.
    pub fn levels(&self, columns: &Columns) -> Vec<LevelRow> {
        let mut levels = Levels {
            rows: self,
            columns,
            keys: columns.keys(),
            all: Vec::new(),
        };
        let rows: Vec<&Row> = self.iter().collect();
        levels.add(&rows, RowKey::default(), 0);
        levels.all
    }
}

/// Levels on their way; as deep as there are keys.
struct Levels<'l, 'p> {
    rows: &'l Rows<'p>,
    columns: &'l Columns,
    keys: Vec<SortKey>,
    all: Vec<LevelRow>,
}

/// A row, and the rows of the table that it sums up.
struct Summed<'r> {
    row: Row,
    of: Vec<&'r Row>,
}

impl Levels<'_, '_> {
    /// Adds rows by the key of a level, of rows that have the same keys so far.
    fn add(&mut self, rows: &[&Row], outer: RowKey, depth: usize) {
        let Some(&key) = self.keys.get(depth) else {
            return;
        };
        let is_innermost = depth + 1 == self.keys.len();
        for Summed { row, of } in self.summed(rows, outer, key) {
            // The same sums, and what trees need.
            let row = match *of.as_slice() {
                [one] if is_innermost => *one,
                _ => row,
            };
            self.all.push(LevelRow {
                row,
                depth,
                is_innermost,
            });
            self.add(&of, row.key, depth + 1);
        }
    }

    /// Sums of rows by one more key, in order.
    fn summed<'r>(&self, rows: &[&'r Row], outer: RowKey, key: SortKey) -> Vec<Summed<'r>> {
        let mut numbers: HashMap<RowKey, usize> = HashMap::default();
        let mut sums: Vec<Summed<'r>> = Vec::new();
        for &row in rows {
            let mut own = outer;
            key.copy(&row.key, &mut own);
            let number = *numbers.entry(own).or_insert_with(|| {
                sums.push(Summed {
                    row: Row::of(own, usize::MAX),
                    of: Vec::new(),
                });
                sums.len() - 1
            });
            if let Some(sum) = sums.get_mut(number) {
                sum.row.add(row);
                sum.of.push(row);
            }
        }
        let profile = self.rows.profile;
        sums.sort_by(|a, b| self.columns.compare(&a.row, &b.row, profile));
        sums
    }
}
