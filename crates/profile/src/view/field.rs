//! The columns of a table: perf's fields.

use super::SortKey;
use super::row::{FieldValue, Row, Weighing};
use crate::{Level, Profile};
use rprof_base::Share;
use std::cmp::Ordering;

/// What a column sums up over the samples of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sum {
    /// Share of the event's weight.
    Overhead,
    /// The same, with what the row called.
    OverheadChildren,
    /// Share of the event's weight, in the kernel.
    OverheadSys,
    /// In processes.
    OverheadUs,
    /// In guests' kernels.
    OverheadGuestSys,
    /// In guests' processes.
    OverheadGuestUs,
    /// How many.
    Samples,
    /// Weight, in the event's unit.
    Period,
}

/// A column of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Field {
    /// What its samples sum up to.
    Sum(Sum),
    /// What makes rows differ.
    Key(SortKey),
}

impl Sum {
    /// All of them.
    pub const ALL: &[Self] = &[
        Self::Overhead,
        Self::OverheadChildren,
        Self::OverheadSys,
        Self::OverheadUs,
        Self::OverheadGuestSys,
        Self::OverheadGuestUs,
        Self::Samples,
        Self::Period,
    ];

    /// perf's name on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Overhead => "overhead",
            Self::OverheadChildren => "overhead_children",
            Self::OverheadSys => "overhead_sys",
            Self::OverheadUs => "overhead_us",
            Self::OverheadGuestSys => "overhead_guest_sys",
            Self::OverheadGuestUs => "overhead_guest_us",
            Self::Samples => "sample",
            Self::Period => "period",
        }
    }

    const fn heading(self) -> &'static str {
        match self {
            Self::Overhead => "Overhead",
            Self::OverheadChildren => "Children",
            Self::OverheadSys => "sys",
            Self::OverheadUs => "usr",
            Self::OverheadGuestSys => "guest sys",
            Self::OverheadGuestUs => "guest usr",
            Self::Samples => "Samples",
            Self::Period => "Period",
        }
    }

    const fn width(self) -> usize {
        match self {
            Self::Overhead | Self::OverheadChildren | Self::OverheadSys | Self::OverheadUs => 8,
            Self::OverheadGuestSys | Self::OverheadGuestUs => 9,
            Self::Samples | Self::Period => 12,
        }
    }

    /// The sum of a row.
    pub fn of(self, row: &Row) -> u64 {
        match self {
            Self::Overhead | Self::Period => row.self_weight,
            Self::OverheadChildren => row.total_weight,
            Self::OverheadSys => row.weight_at(Level::Kernel),
            Self::OverheadUs => row.weight_at(Level::User),
            Self::OverheadGuestSys => row.weight_at(Level::GuestKernel),
            Self::OverheadGuestUs => row.weight_at(Level::GuestUser),
            Self::Samples => row.self_samples,
        }
    }

    const fn is_share(self) -> bool {
        !matches!(self, Self::Samples | Self::Period)
    }
}

impl Field {
    /// A sum, by perf's name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Sum(sum) => sum.name(),
            Self::Key(key) => key.name(),
        }
    }

    /// The field with a name.
    pub fn parse(name: &str) -> Option<Self> {
        let sum = Sum::ALL.iter().find(|sum| sum.name() == name);
        let sum = sum.copied().map(Self::Sum);
        sum.or_else(|| SortKey::parse(name).map(Self::Key))
    }

    /// The column's heading. Beside what rows called, perf's overhead is `Self`.
    pub const fn heading(self, columns: &Columns) -> &'static str {
        match self {
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
    pub fn value(self, row: &Row, whole: u64, profile: &Profile) -> FieldValue {
        match self {
            Self::Sum(sum) if sum.is_share() => FieldValue::Share(Share::of(sum.of(row), whole)),
            Self::Sum(sum) => FieldValue::Number(sum.of(row).into()),
            Self::Key(key) => key.value(&row.key, profile),
        }
    }

    /// What it says of a row, as perf shows it; shares are of `whole`.
    pub fn cell(self, row: &Row, whole: u64, profile: &Profile) -> String {
        match self {
            Self::Sum(sum) if sum.is_share() => {
                format!("{:.2}%", Share::of(sum.of(row), whole))
            }
            Self::Sum(sum) => sum.of(row).to_string(),
            Self::Key(key) => key.cell(&row.key, profile),
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

/// The columns of a table, and what its rows are.
#[derive(Clone, Debug, PartialEq)]
pub struct Columns {
    /// Those that are shown, in order.
    pub shown: Vec<Field>,
    /// What rows are ordered by. All keys in it make rows differ, and all that are shown are in it.
    pub order: Vec<Field>,
    /// Whether rows count what they called, and which of them there are.
    pub weighing: Weighing,
    /// Whether the overhead is called `Self`.
    has_self: bool,
}

impl Columns {
    /// perf's default: shares, then keys, ordered by them.
    pub fn of(keys: &[SortKey], weighing: Weighing) -> Self {
        let overhead = Field::Sum(Sum::Overhead);
        let sums = match weighing {
            Weighing::Own => vec![overhead],
            Weighing::WithChildren => vec![Field::Sum(Sum::OverheadChildren), overhead],
        };
        let keys = keys.iter().copied().map(Field::Key);
        let shown: Vec<Field> = sums.into_iter().chain(keys).collect();
        Self {
            order: shown.clone(),
            shown,
            weighing,
            has_self: weighing == Weighing::WithChildren,
        }
    }

    /// What rows are grouped by.
    pub fn keys(&self) -> Vec<SortKey> {
        let keys = self.order.iter().filter_map(|field| match field {
            Field::Key(key) => Some(*key),
            Field::Sum(_) => None,
        });
        keys.collect()
    }

    /// Shows more sums, after the shares.
    #[must_use]
    pub fn with_sums(mut self, sums: &[Sum]) -> Self {
        let is_sum = |field: &Field| matches!(field, Field::Sum(_));
        let at = self.shown.iter().take_while(|field| is_sum(field)).count();
        let new = sums.iter().copied().map(Field::Sum);
        let new: Vec<Field> = new.filter(|sum| !self.shown.contains(sum)).collect();
        self.order.extend(&new);
        self.shown.splice(at..at, new);
        self
    }
}
