//! The columns of a table, as perf's options have them.

use super::row::Weighing;
use super::{Field, SortKey, Sum};
use crate::Dimension;

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
    pub(super) has_self: bool,
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

    /// Beside these keys, one more as the last; `shown` are the fields that are asked for.
    #[must_use]
    pub fn with(self, key: Field, shown: &Self) -> Self {
        let with = |mut fields: Vec<Field>| {
            add(&mut fields, [key]);
            fields
        };
        match self {
            Self::Default if shown.is_only() => Self::Only(vec![key]),
            Self::Default => Self::More(vec![key]),
            Self::More(fields) => Self::More(with(fields)),
            Self::Only(fields) => Self::Only(with(fields)),
        }
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
    /// Whether shares of the time that passed come first: perf's `--latency`.
    pub latency: bool,
}

impl WantedColumns {
    /// The columns; what is in two lists is taken once.
    pub fn columns(&self, default: &[SortKey], weighing: Weighing) -> Columns {
        let mut order: Vec<Field> = Vec::new();
        let mut shown: Vec<Field> = Vec::new();
        if !self.fields.is_only() {
            if self.latency && weighing == Weighing::WithChildren {
                shown.push(Field::Sum(Sum::LatencyChildren));
            }
            if self.latency {
                shown.push(Field::Sum(Sum::Latency));
            }
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

    /// Whether samples count by the threads that ran at their time.
    pub fn has_latency(&self) -> bool {
        let mut fields = self.order.iter();
        fields.any(|field| matches!(field, Field::Sum(sum) if sum.is_latency()))
    }

    /// What samples are told apart by, beside the names of threads, for these columns.
    pub fn dimensions(&self) -> Vec<Dimension> {
        let mut dimensions = SortKey::dimensions(&self.keys());
        if self.has_latency() && !dimensions.contains(&Dimension::Parallelism) {
            dimensions.push(Dimension::Parallelism);
        }
        dimensions
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
            ..WantedColumns::default()
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
