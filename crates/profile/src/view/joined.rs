//! Rows of several events side by side, joined by what they stand for.

use super::columns::Columns;
use super::field::Field;
use super::row::{Row, RowKey};
use super::rows::Rows;
use foldhash::{HashMap, HashMapExt};
use std::cmp::Ordering;

/// What each event of a table has of a row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JoinedRow {
    /// That of the first event, which leads.
    pub leader: Row,
    /// Those of the others, in their order.
    pub others: Box<[Row]>,
}

impl JoinedRow {
    /// A row of a table of one event.
    pub fn single(leader: Row) -> Self {
        Self {
            leader,
            others: Box::default(),
        }
    }

    /// An event's part.
    pub fn of(&self, event: usize) -> &Row {
        let others = self.others.get(event.wrapping_sub(1));
        others.unwrap_or(&self.leader)
    }

    /// A row that counts nothing yet.
    pub(super) fn empty(key: RowKey, n_others: usize) -> Self {
        Self {
            leader: Row::absent(key),
            others: vec![Row::absent(key); n_others].into_boxed_slice(),
        }
    }

    /// Adds what another row counts.
    pub(super) fn add(&mut self, other: &Self) {
        self.leader.add(&other.leader);
        for (sum, other) in self.others.iter_mut().zip(&other.others) {
            sum.add(other);
        }
    }

    /// The order of two rows: see [`join`].
    pub(super) fn compare(
        &self,
        other: &Self,
        rows: &Rows<'_>,
        (columns, first): (&Columns, usize),
    ) -> Ordering {
        let fields = columns.order.iter();
        let mut orders = fields.map(|&field| compare(field, (self, other), rows, first));
        orders
            .find(|order| order.is_ne())
            .unwrap_or(Ordering::Equal)
    }

    /// Those of all events.
    fn all(&self) -> impl Iterator<Item = &Row> {
        std::iter::once(&self.leader).chain(&self.others)
    }
}

/// Joins the rows of events that stand for the same; what an event has nothing of counts nothing.
///
/// Sums are compared by the event with number `first`, then by the others in their order.
pub fn join(
    leader: &Rows<'_>,
    others: &[Rows<'_>],
    columns: &Columns,
    first: usize,
) -> Vec<JoinedRow> {
    let none = |key: RowKey| vec![Row::absent(key); others.len()].into_boxed_slice();
    let mut joined: Vec<JoinedRow> = Vec::new();
    let mut number_of: HashMap<RowKey, usize> = HashMap::new();
    for &row in leader.iter() {
        number_of.insert(row.key, joined.len());
        joined.push(JoinedRow {
            leader: row,
            others: none(row.key),
        });
    }
    for (event, rows) in others.iter().enumerate() {
        for &row in rows.iter() {
            let number = *number_of.entry(row.key).or_insert_with(|| {
                joined.push(JoinedRow {
                    leader: Row::absent(row.key),
                    others: none(row.key),
                });
                joined.len() - 1
            });
            joined[number].others[event] = row;
        }
    }
    joined.sort_by(|a, b| a.compare(b, leader, (columns, first)));
    joined
}

fn compare(
    field: Field,
    (a, b): (&JoinedRow, &JoinedRow),
    rows: &Rows<'_>,
    first: usize,
) -> Ordering {
    let differ = |(a, b): (&Row, &Row)| field.compare(a, b, rows.profile);
    let by_first = differ((a.of(first), b.of(first)));
    match field {
        Field::Key(_) => by_first,
        Field::Sum(_) => {
            let mut others = a.all().zip(b.all()).map(differ);
            by_first.then_with(|| {
                let other = others.find(|order| order.is_ne());
                other.unwrap_or(Ordering::Equal)
            })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{SortKey, Weighing};
    use super::*;
    use crate::{Profile, testing};

    /// Symbols and their weights by event.
    fn joined(first: usize, weighing: Weighing) -> Vec<(String, Vec<u64>)> {
        let mut profile = Profile::default();
        for stacks in [
            &[("main;a", 6), ("main;b", 3)][..],
            &[("main;b", 5), ("c", 7)],
        ] {
            let tally = testing::tally(&mut profile, stacks);
            let event = testing::counted(&mut profile, tally);
            profile.events.push(event);
        }
        let columns = Columns::of(&[SortKey::Symbol], weighing);
        let rows = |event: usize| Rows::of(&profile, &profile.events[event], &columns);
        let all = join(&rows(0), &[rows(1)], &columns, first);
        let weight = |row: &Row| match weighing {
            Weighing::Own => row.self_weight,
            Weighing::WithChildren => row.total_weight,
        };
        let row = |row: &JoinedRow| {
            let name = SortKey::Symbol.cell(&row.leader.key, &profile);
            (name, row.all().map(weight).collect())
        };
        all.iter().map(row).collect()
    }

    fn expected(rows: &[(&str, [u64; 2])]) -> Vec<(String, Vec<u64>)> {
        let row = |(name, weights): &(&str, [u64; 2])| (format!("[.] {name}"), weights.to_vec());
        rows.iter().map(row).collect()
    }

    #[test]
    fn a_row_has_what_each_event_counts() {
        let own = expected(&[("a", [6, 0]), ("b", [3, 5]), ("c", [0, 7])]);
        assert_eq!(joined(0, Weighing::Own), own);
        let children = [
            ("main", [9, 5]),
            ("a", [6, 0]),
            ("b", [3, 5]),
            ("c", [0, 7]),
        ];
        assert_eq!(joined(0, Weighing::WithChildren), expected(&children));
    }

    #[test]
    fn rows_can_be_sorted_by_any_event() {
        let by_second = expected(&[("c", [0, 7]), ("b", [3, 5]), ("a", [6, 0])]);
        assert_eq!(joined(1, Weighing::Own), by_second);
        // There is no such event: the first sorts.
        assert_eq!(joined(9, Weighing::Own), joined(0, Weighing::Own));
    }
}
