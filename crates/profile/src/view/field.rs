//! One column of a table: a perf field.

use super::row::{FieldValue, Row, RowKey, Sums};
use super::{Columns, SortKey, Sum};
use crate::{Dimension, Profile};
use rprof_base::Share;
use std::cmp::Ordering;

/// A column of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Field {
    /// What its samples sum up to.
    Sum(Sum),
    /// What makes rows differ.
    Key(SortKey),
}

impl Field {
    /// perf's name on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Sum(sum) => sum.name(),
            Self::Key(key) => key.name(),
        }
    }

    /// All fields.
    pub fn all() -> impl Iterator<Item = Self> {
        let sums = Sum::ALL.iter().copied().map(Self::Sum);
        sums.chain(SortKey::all().map(Self::Key))
    }

    /// What can be typed: names of fields, and other names that perf has for some.
    pub fn words() -> impl Iterator<Item = &'static str> {
        let others = SortKey::OTHER_NAMES.iter().map(|(other, _)| *other);
        Self::all().map(Self::name).chain(others)
    }

    /// What it is, in a line.
    pub const fn about(self) -> &'static str {
        match self {
            Self::Sum(sum) => sum.about(),
            Self::Key(key) => key.about(),
        }
    }

    /// The field with a name.
    pub fn parse(name: &str) -> Option<Self> {
        let sum = Sum::ALL.iter().find(|sum| sum.name() == name);
        let sum = sum.copied().map(Self::Sum);
        sum.or_else(|| SortKey::parse(name).map(Self::Key))
    }

    /// The column's heading. Beside what rows called, perf's overhead is `Self`.
    pub fn heading(self, columns: &Columns) -> &str {
        match self {
            Self::Key(SortKey::Dimension(Dimension::TraceField(number))) => {
                let name = columns.trace_fields.get(usize::from(number));
                name.map_or("", String::as_str)
            }
            Self::Sum(Sum::Overhead) if columns.has_self => "Self",
            Self::Sum(sum) => sum.heading(),
            Self::Key(key) => key.heading(),
        }
    }

    /// How wide the column is at least, without its heading.
    pub const fn min_width(self) -> usize {
        match self {
            Self::Sum(sum) => sum.width(),
            Self::Key(_) => 0,
        }
    }

    /// Whether cells stand at the right.
    pub const fn is_right(self) -> bool {
        matches!(self, Self::Sum(_))
    }

    /// What it says of a row, for other programs; shares are of `whole`.
    pub fn value(
        self,
        (row_key, sums): (&RowKey, &Sums),
        whole: u64,
        profile: &Profile,
    ) -> FieldValue {
        match self {
            Self::Sum(sum) if sum.is_share() => FieldValue::Share(Share::of(sum.of(sums), whole)),
            Self::Sum(sum) => FieldValue::Number(sum.of(sums).into()),
            Self::Key(key) => match (key.value(row_key, profile), key.is_summed()) {
                (FieldValue::Number(one), true) => {
                    FieldValue::Number(one * i128::from(sums.self_samples))
                }
                (value, _) => value,
            },
        }
    }

    /// What it says of a row, as perf shows it; shares are of `whole`.
    pub fn cell(self, row: (&RowKey, &Sums), whole: u64, profile: &Profile) -> String {
        match self {
            Self::Sum(sum) if sum.is_share() => {
                format!("{:.2}%", Share::of(sum.of(row.1), whole))
            }
            Self::Sum(sum) => sum.of(row.1).to_string(),
            Self::Key(key) if key.is_summed() => match self.value(row, whole, profile) {
                FieldValue::Number(sum) => sum.to_string(),
                _ => String::new(),
            },
            Self::Key(key) => key.cell(row.0, profile),
        }
    }

    /// Orders two rows by this field: sums from the largest on, keys as their cells.
    pub(super) fn compare(self, a: &Row, b: &Row, profile: &Profile) -> Ordering {
        match self {
            Self::Sum(sum) => sum.of(b).cmp(&sum.of(a)),
            Self::Key(key) => key.compare(&a.key, &b.key, profile),
        }
    }
}
