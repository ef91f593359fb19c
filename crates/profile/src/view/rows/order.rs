//! The order of rows.

use crate::Profile;
use crate::view::{Columns, Field, Row, Sum, Weighing};
use std::cmp::Ordering;

/// What is compared without a look at the rows: most differ in it.
///
/// First sums, of which a larger one comes first; then places of keys in their order ([`SortKey::place`]).
///
/// [`SortKey::place`]: crate::view::SortKey::place
type Start = ([u64; N_SUMS], [u32; N_PLACES]);

const N_SUMS: usize = 2;
const N_PLACES: usize = 3;

/// Numbers of the rows that columns show, in their order.
pub(super) fn order_of(rows: &[Row], profile: &Profile, columns: &Columns) -> Vec<u32> {
    let is_shown = |row: &Row| columns.weighing == Weighing::WithChildren || row.self_samples > 0;
    let shown = (0u32..).zip(rows).filter(|(_, row)| is_shown(row));
    let start = StartOf::new(rows.len(), profile, columns);
    let mut order: Vec<(Start, u32)> = shown
        .map(|(number, row)| (start.of(row, profile), number))
        .collect();
    let compare = |a: u32, b: u32| {
        let (a, b) = (&rows[a as usize], &rows[b as usize]);
        let differ = |field: &Field| Some(field.compare(a, b, profile)).filter(|one| one.is_ne());
        let mut fields = start.rest.iter();
        fields.find_map(differ).unwrap_or(Ordering::Equal)
    };
    order.sort_unstable_by(|(a_start, a), (b_start, b)| {
        let by_start = a_start.cmp(b_start);
        by_start.then_with(|| compare(*a, *b).then(a.cmp(b)))
    });
    order.into_iter().map(|(_, number)| number).collect()
}

/// Which fields rows are compared by at first.
struct StartOf<'c> {
    sums: Vec<Sum>,
    keys: &'c [Field],
    /// What decides where these do not.
    rest: &'c [Field],
}

impl<'c> StartOf<'c> {
    fn new(n_rows: usize, profile: &Profile, columns: &'c Columns) -> Self {
        let fields = &columns.order;
        let sums = fields.iter().map_while(|field| match field {
            Field::Sum(sum) => Some(*sum),
            Field::Key(_) => None,
        });
        let sums: Vec<Sum> = sums.take(N_SUMS).collect();
        // Texts of many rows would be compared again and again.
        if n_rows > profile.strings.len() {
            profile.strings.rank();
        }
        let after = &fields[sums.len()..];
        let is_placed = |field: &&Field| matches!(field, Field::Key(key) if key.has_place());
        let n_keys = if profile.strings.is_ranked() {
            after.iter().take_while(is_placed).count().min(N_PLACES)
        } else {
            0
        };
        let is_exact = |field: &&Field| matches!(field, Field::Key(key) if key.is_placed_exactly());
        let n_exact = after[..n_keys].iter().take_while(is_exact).count();
        Self {
            sums,
            keys: &after[..n_keys.min(n_exact + 1)],
            rest: &after[n_exact..],
        }
    }

    fn of(&self, row: &Row, profile: &Profile) -> Start {
        let mut start = Start::default();
        for (to, sum) in start.0.iter_mut().zip(&self.sums) {
            *to = u64::MAX - sum.of(row);
        }
        for (to, field) in start.1.iter_mut().zip(self.keys) {
            if let Field::Key(key) = field {
                *to = key.place(&row.key, profile);
            }
        }
        start
    }
}
