//! Rows in levels, one for each sort key: perf's `--hierarchy`.

use super::joined::JoinedRow;
use super::row::RowKey;
use super::{Columns, Rows, SortKey};
use crate::dimension::AlikeSets;
use foldhash::HashMap;

/// A row, and where in a hierarchy it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LevelRow {
    /// Its keys are those of the levels down to its own.
    pub row: JoinedRow,
    /// How many rows it is below.
    pub depth: usize,
    /// Whether it is a row of the table without levels: it has all keys, and trees may grow below it.
    pub is_innermost: bool,
}

impl LevelRow {
    /// A row of a table without levels.
    pub fn flat(row: JoinedRow) -> Self {
        Self {
            row,
            depth: 0,
            is_innermost: true,
        }
    }
}

/// Rows of a table in levels: of the first key, and below each those of the next one. A row stands before those below
/// it, and counts what they count; rows of one level are in the order of columns, by the event with number `first`.
pub fn levels(
    rows: &[JoinedRow],
    leader: &Rows<'_>,
    columns: &Columns,
    first: usize,
) -> Vec<LevelRow> {
    let keys = columns.keys();
    let values = &leader.profile.values;
    let alike = (1..=keys.len()).map(|n| values.alike_in(&SortKey::dimensions(&keys[..n])));
    let mut levels = Levels {
        leader,
        columns,
        first,
        alike: alike.collect(),
        keys,
        all: Vec::new(),
    };
    let rows: Vec<&JoinedRow> = rows.iter().collect();
    levels.add(&rows, RowKey::default(), 0);
    levels.all
}

/// Levels on their way; as deep as there are keys.
struct Levels<'l, 'p> {
    leader: &'l Rows<'p>,
    columns: &'l Columns,
    first: usize,
    keys: Vec<SortKey>,
    /// By level: of the dimensions down to it.
    alike: Vec<AlikeSets>,
    all: Vec<LevelRow>,
}

/// A row, and the rows of the table that it sums up.
struct Summed<'r> {
    row: JoinedRow,
    of: Vec<&'r JoinedRow>,
}

impl Levels<'_, '_> {
    /// Adds rows by the key of a level, of rows that have the same keys so far.
    fn add(&mut self, rows: &[&JoinedRow], outer: RowKey, depth: usize) {
        let Some(&key) = self.keys.get(depth) else {
            return;
        };
        let is_innermost = depth + 1 == self.keys.len();
        let alike = &self.alike[depth];
        for Summed { row, of } in self.summed(rows, outer, (key, alike)) {
            let key = row.leader.key;
            // The same sums, and what trees need.
            let row = match *of.as_slice() {
                [one] if is_innermost => one.clone(),
                _ => row,
            };
            self.all.push(LevelRow {
                row,
                depth,
                is_innermost,
            });
            self.add(&of, key, depth + 1);
        }
    }

    /// Sums of rows by one more key, in order.
    fn summed<'r>(
        &self,
        rows: &[&'r JoinedRow],
        outer: RowKey,
        (key, alike): (SortKey, &AlikeSets),
    ) -> Vec<Summed<'r>> {
        let mut numbers: HashMap<RowKey, usize> = HashMap::default();
        let mut sums: Vec<Summed<'r>> = Vec::new();
        for &row in rows {
            let mut own = outer;
            key.copy(&row.leader.key, &mut own, alike);
            let number = *numbers.entry(own).or_insert_with(|| {
                sums.push(Summed {
                    row: JoinedRow::empty(own),
                    of: Vec::new(),
                });
                sums.len() - 1
            });
            if let Some(sum) = sums.get_mut(number) {
                sum.row.add(row);
                sum.of.push(row);
            }
        }
        let order = (self.columns, self.first);
        sums.sort_by(|a, b| a.row.compare(&b.row, self.leader, order));
        sums
    }
}
