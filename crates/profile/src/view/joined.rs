//! Rows of several events side by side, joined by what they stand for.

use super::columns::Columns;
use super::field::Field;
use super::row::{Row, RowKey, Sums};
use super::rows::Rows;
use super::sum::Sum;
use foldhash::{HashMap, HashMapExt};
use std::cmp::Ordering;

/// What each event of a table has of a row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JoinedRow {
    /// That of the first event, which leads.
    pub leader: Row,
    /// Numbers and sums of the others that have anything of it, in their order: of many events, most rows have few.
    others: Vec<(u32, Sums)>,
}

impl JoinedRow {
    /// A row of a table of one event.
    pub fn single(leader: Row) -> Self {
        Self {
            leader,
            others: Vec::new(),
        }
    }

    /// What an event counts.
    pub fn of(&self, event: usize) -> &Sums {
        if event == 0 {
            return &self.leader.sums;
        }
        let found = self.place(event);
        let found = found.ok().and_then(|at| self.others.get(at));
        found.map_or(&Sums::NONE, |(_, sums)| sums)
    }

    /// Where an event is among the others, or would be.
    fn place(&self, event: usize) -> Result<usize, usize> {
        let number = |&(number, _): &(u32, Sums)| number as usize;
        self.others.binary_search_by_key(&event, number)
    }

    /// A row that counts nothing yet.
    pub(super) fn empty(key: RowKey) -> Self {
        Self::single(Row::absent(key))
    }

    /// Adds what another row counts.
    pub(super) fn add(&mut self, other: &Self) {
        self.leader.sums.add(&other.leader.sums);
        for &(event, ref sums) in &other.others {
            let at = self.place(event as usize).unwrap_or_else(|at| {
                self.others.insert(at, (event, Sums::NONE));
                at
            });
            if let Some((_, sum)) = self.others.get_mut(at) {
                sum.add(sums);
            }
        }
    }

    /// The order of two rows: see [`join`].
    pub(super) fn compare(
        &self,
        other: &Self,
        rows: &Rows<'_>,
        (columns, first): (&Columns, usize),
    ) -> Ordering {
        let order = |field: &Field| match field {
            Field::Sum(sum) => self.compare_sums(other, *sum, first),
            Field::Key(_) => field.compare(&self.leader, &other.leader, rows.profile),
        };
        let mut orders = columns.order.iter().map(order);
        orders
            .find(|order| order.is_ne())
            .unwrap_or(Ordering::Equal)
    }

    fn compare_sums(&self, other: &Self, sum: Sum, first: usize) -> Ordering {
        let differ = |event| sum.of(other.of(event)).cmp(&sum.of(self.of(event)));
        let by_first = differ(first).then_with(|| differ(0));
        by_first.then_with(|| {
            let (mut a, mut b) = (&*self.others, &*other.others);
            loop {
                let (ours, theirs) = match (a.first(), b.first()) {
                    (None, None) => return Ordering::Equal,
                    (Some(ours), Some(theirs)) => (ours.0 <= theirs.0, theirs.0 <= ours.0),
                    (ours, theirs) => (ours.is_some(), theirs.is_some()),
                };
                let order = next(&mut b, theirs, sum).cmp(&next(&mut a, ours, sum));
                if order.is_ne() {
                    return order;
                }
            }
        })
    }
}

/// What the next event counts if it is the one that is compared, which it then was.
fn next(events: &mut &[(u32, Sums)], is_compared: bool, sum: Sum) -> u64 {
    match events.split_first() {
        Some(((_, sums), rest)) if is_compared => {
            *events = rest;
            sum.of(sums)
        }
        _ => 0,
    }
}

/// Joins the rows of events that stand for the same; what an event has nothing of counts nothing.
///
/// Sums are compared by the event with number `first`, then by all in their order.
pub fn join(
    leader: &Rows<'_>,
    others: &[Rows<'_>],
    columns: &Columns,
    first: usize,
) -> Vec<JoinedRow> {
    let mut joined: Vec<JoinedRow> = Vec::new();
    let mut number_of: HashMap<RowKey, usize> = HashMap::new();
    for &row in leader.iter() {
        number_of.insert(row.key, joined.len());
        joined.push(JoinedRow::single(row));
    }
    for (event, rows) in (1..).zip(others) {
        for &row in rows.iter() {
            let number = *number_of.entry(row.key).or_insert_with(|| {
                joined.push(JoinedRow::empty(row.key));
                joined.len() - 1
            });
            joined[number].others.push((event, row.sums));
        }
    }
    joined.sort_by(|a, b| a.compare(b, leader, (columns, first)));
    joined
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
        let weight = |row: &Sums| match weighing {
            Weighing::Own => row.self_weight,
            Weighing::WithChildren => row.total_weight,
        };
        let row = |row: &JoinedRow| {
            let name = SortKey::Symbol.cell(&row.leader.key, &profile);
            (name, (0..2).map(|event| weight(row.of(event))).collect())
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

    #[test]
    fn a_row_takes_no_room_for_events_that_have_nothing_of_it() {
        let mut profile = Profile::default();
        let names: Vec<String> = (0..50).map(|number| format!("f{number:02}")).collect();
        for name in &names {
            let tally = testing::tally(&mut profile, &[(name, 1)]);
            let event = testing::counted(&mut profile, tally);
            profile.events.push(event);
        }
        let columns = Columns::of(&[SortKey::Symbol], Weighing::Own);
        let rows = |event| Rows::of(&profile, event, &columns);
        let (leader, others) = profile.events.split_first().unwrap();
        let others: Vec<Rows<'_>> = others.iter().map(rows).collect();
        let all = join(&rows(leader), &others, &columns, 0);
        assert_eq!(all.len(), names.len());
        for (event, row) in all.iter().enumerate() {
            assert_eq!(row.others.len(), usize::from(event > 0));
            let counted = (0..names.len()).filter(|&event| row.of(event).self_weight > 0);
            assert_eq!(counted.collect::<Vec<_>>(), [event]);
        }
        let outer = super::super::levels(&all, &rows(leader), &columns, 0);
        assert_eq!(outer.len(), names.len());
    }
}
