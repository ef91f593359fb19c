//! The columns of a table: perf's fields.

use super::SortKey;
use super::row::{FieldValue, Row, Weighing};
use crate::{Dimension, Level, Profile};
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

    const fn about(self) -> &'static str {
        match self {
            Self::Overhead => "share of the samples",
            Self::OverheadChildren => "share of the samples, with those of what was called",
            Self::OverheadSys => "share of the samples in the kernel",
            Self::OverheadUs => "share of the samples in processes",
            Self::OverheadGuestSys => "share of the samples in guests' kernels",
            Self::OverheadGuestUs => "share of the samples in guests' processes",
            Self::Samples => "number of samples",
            Self::Period => "what the samples count",
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
    pub fn value(self, row: &Row, whole: u64, profile: &Profile) -> FieldValue {
        match self {
            Self::Sum(sum) if sum.is_share() => FieldValue::Share(Share::of(sum.of(row), whole)),
            Self::Sum(sum) => FieldValue::Number(sum.of(row).into()),
            Self::Key(key) => match (key.value(&row.key, profile), key.is_summed()) {
                (FieldValue::Number(one), true) => {
                    FieldValue::Number(one * i128::from(row.self_samples))
                }
                (value, _) => value,
            },
        }
    }

    /// What it says of a row, as perf shows it; shares are of `whole`.
    pub fn cell(self, row: &Row, whole: u64, profile: &Profile) -> String {
        match self {
            Self::Sum(sum) if sum.is_share() => {
                format!("{:.2}%", Share::of(sum.of(row), whole))
            }
            Self::Sum(sum) => sum.of(row).to_string(),
            Self::Key(key) if key.is_summed() => match self.value(row, whole, profile) {
                FieldValue::Number(sum) => sum.to_string(),
                _ => String::new(),
            },
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
    /// Headings of fields of tracepoints, by number.
    pub trace_fields: Vec<String>,
    /// Whether the overhead is called `Self`.
    has_self: bool,
}

/// Fields that are asked for, by one option.
#[derive(Clone, Debug, PartialEq, Default)]
pub enum Asked {
    /// Nobody asks.
    #[default]
    Default,
    /// These come on top of the default.
    More(Vec<Field>),
    /// These alone.
    Only(Vec<Field>),
}

impl Asked {
    fn is_only(&self) -> bool {
        matches!(self, Self::Only(_))
    }

    fn fields(&self) -> &[Field] {
        match self {
            Self::Default => &[],
            Self::More(fields) | Self::Only(fields) => fields,
        }
    }
}

/// What a table is made of, as perf's options have it.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct WantedColumns {
    /// What rows are ordered and grouped by.
    pub sort: Asked,
    /// What is shown; without [`Asked::Only`], after the shares.
    pub fields: Asked,
    /// Sums between the shares and what else is shown, unless fields alone are asked for.
    pub sums: Vec<Sum>,
}

impl WantedColumns {
    /// The columns; what is in two lists is taken once.
    pub fn columns(&self, default: &[SortKey], weighing: Weighing) -> Columns {
        let mut order: Vec<Field> = Vec::new();
        let mut shown: Vec<Field> = Vec::new();
        if !self.fields.is_only() {
            if weighing == Weighing::WithChildren {
                shown.push(Field::Sum(Sum::OverheadChildren));
            }
            shown.push(Field::Sum(Sum::Overhead));
            // Shares that are sorted by stand where they are asked for; any stands for the overhead.
            let sort = self.sort.fields();
            let is_left =
                |field: &&Field| !sort.iter().any(|key| key.name().contains(field.name()));
            order.extend(shown.iter().filter(is_left));
            add(&mut shown, self.sums.iter().copied().map(Field::Sum));
        }
        add(&mut shown, self.fields.fields().iter().copied());
        let is_default = match self.sort {
            Asked::Default => !self.fields.is_only(),
            Asked::More(_) => true,
            Asked::Only(_) => false,
        };
        if is_default {
            add(&mut order, default.iter().copied().map(Field::Key));
        }
        add(&mut order, self.sort.fields().iter().copied());
        add(&mut shown, order.clone());
        add(&mut order, shown.clone());
        Columns {
            shown,
            order,
            weighing,
            trace_fields: Vec::new(),
            has_self: weighing == Weighing::WithChildren && !self.fields.is_only(),
        }
    }
}

fn add(to: &mut Vec<Field>, fields: impl IntoIterator<Item = Field>) {
    for field in fields {
        if !to.contains(&field) {
            to.push(field);
        }
    }
}

impl Columns {
    /// perf's default: shares, then keys, ordered by them.
    pub fn of(keys: &[SortKey], weighing: Weighing) -> Self {
        WantedColumns::default().columns(keys, weighing)
    }

    /// What rows are grouped by.
    pub fn keys(&self) -> Vec<SortKey> {
        let keys = self.order.iter().filter_map(|field| match field {
            Field::Key(key) => Some(*key),
            Field::Sum(_) => None,
        });
        keys.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fields(names: &str) -> Vec<Field> {
        let names = names.split(',').filter(|name| !name.is_empty());
        names.map(|name| Field::parse(name).unwrap()).collect()
    }

    fn asked(names: &str) -> Asked {
        match names.strip_prefix('+') {
            Some(more) => Asked::More(fields(more)),
            None if names.is_empty() => Asked::Default,
            None => Asked::Only(fields(names)),
        }
    }

    /// Names of the columns, and of what they are ordered by.
    fn columns(sort: &str, shown: &str, weighing: Weighing) -> (String, String) {
        let wanted = WantedColumns {
            sort: asked(sort),
            fields: asked(shown),
            sums: Vec::new(),
        };
        let columns = wanted.columns(SortKey::DEFAULT, weighing);
        let names = |fields: &[Field]| {
            let names: Vec<&str> = fields.iter().map(|field| field.name()).collect();
            names.join(",")
        };
        (names(&columns.shown), names(&columns.order))
    }

    #[test]
    fn columns_and_order_are_perfs() {
        use Weighing::{Own, WithChildren};
        for (sort, fields, weighing, shown, order) in [
            (
                "",
                "",
                Own,
                "overhead,comm,dso,sym",
                "overhead,comm,dso,sym",
            ),
            ("sym", "", Own, "overhead,sym", "overhead,sym"),
            (
                "+cpu",
                "",
                Own,
                "overhead,comm,dso,sym,cpu",
                "overhead,comm,dso,sym,cpu",
            ),
            (
                "sym",
                "",
                WithChildren,
                "overhead_children,overhead,sym",
                "overhead_children,overhead,sym",
            ),
            ("", "sym,overhead", Own, "sym,overhead", "sym,overhead"),
            (
                "overhead_us,comm",
                "",
                Own,
                "overhead,overhead_us,comm",
                "overhead_us,comm,overhead",
            ),
            (
                "dso,sym",
                "sample,overhead",
                WithChildren,
                "sample,overhead,dso,sym",
                "dso,sym,sample,overhead",
            ),
            (
                "sym",
                "+period,sample",
                Own,
                "overhead,period,sample,sym",
                "overhead,sym,period,sample",
            ),
        ] {
            let expected = (shown.to_owned(), order.to_owned());
            assert_eq!(
                columns(sort, fields, weighing),
                expected,
                "-s {sort} -F {fields}"
            );
        }
    }

    #[test]
    fn sums_stand_after_the_shares() {
        let wanted = WantedColumns {
            sums: vec![Sum::Samples],
            ..WantedColumns::default()
        };
        let columns = wanted.columns(&[SortKey::Symbol], Weighing::WithChildren);
        let headings = columns.shown.iter().map(|field| field.heading(&columns));
        let headings: Vec<&str> = headings.collect();
        assert_eq!(headings, ["Children", "Self", "Samples", "Symbol"]);
    }
}
