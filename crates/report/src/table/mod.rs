//! The table of an event: columns, and the rows that are shown. Its forms are files beside this one.

mod text;

pub(crate) use text::left_out;
pub use text::write_table;

use crate::text::Fit;
use crate::totals::{Percentage, Totals};
use crate::tree::Graph;
use rprof_base::Share;
use rprof_profile::view::{Columns, Field, Row, Rows, Weighing};
use rprof_profile::{EventProfile, Profile};

/// How a table looks.
#[derive(Clone, Debug, PartialEq)]
pub struct TableOptions {
    /// Columns, what rows are grouped by, and their order.
    pub columns: Columns,
    /// Trees; `None` for the table alone.
    pub graph: Option<Graph>,
    /// Rows below this percentage are left out.
    pub percent_limit: f64,
    /// Whether a filter leaves samples out.
    pub is_filtered: bool,
    /// What percentages are of, then.
    pub percentage: Percentage,
    /// The times that are shown, for the heading.
    pub time_slices: Option<String>,
    /// Colour heavy rows, as perf does, by terminal sequences.
    pub colors: bool,
    /// What has room.
    pub layout: Layout,
}

/// What of a table has room.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Layout {
    /// Rows, at most.
    pub limit: Option<usize>,
    /// Where lines of text end, if anywhere.
    pub fit: Option<Fit>,
    /// Widths of columns of text, from the first on; 0 and those that are not there are as wide as they need be.
    pub widths: Vec<usize>,
}

/// The table of an event.
#[derive(Debug)]
pub(crate) struct Table<'p> {
    pub(crate) profile: &'p Profile,
    pub(crate) event: &'p EventProfile,
    pub(crate) options: &'p TableOptions,
    /// What percentages are of.
    pub(crate) totals: Totals,
    /// Those that are shown, in order.
    pub(crate) shown: Vec<Row>,
    /// What limits leave out.
    pub(crate) left_out: LeftOut,
    /// All rows, for trees.
    pub(crate) rows: Rows<'p>,
}

/// Rows that are not shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LeftOut {
    pub(crate) rows: usize,
    /// Of their own samples.
    pub(crate) weight: u64,
}

impl LeftOut {
    fn of(rows: &Rows<'_>, shown: &[Row]) -> Self {
        let sum = |weights: &mut dyn Iterator<Item = u64>| weights.fold(0, u64::saturating_add);
        let all = sum(&mut rows.iter().map(|row| row.self_weight));
        Self {
            rows: rows.iter().count() - shown.len(),
            weight: all.saturating_sub(sum(&mut shown.iter().map(|row| row.self_weight))),
        }
    }
}

impl<'p> Table<'p> {
    /// The table of an event.
    pub(crate) fn of(
        profile: &'p Profile,
        event: &'p EventProfile,
        options: &'p TableOptions,
    ) -> Self {
        let totals = Totals::of(event, options);
        let rows = Rows::of(profile, event, &options.columns);
        let is_shown = |row: &&Row| {
            let share = Share::of(options.weight(row), totals.weight);
            share.percent() >= options.percent_limit
        };
        let limit = options.layout.limit.unwrap_or(usize::MAX);
        let shown: Vec<Row> = rows.iter().filter(is_shown).take(limit).copied().collect();
        Self {
            left_out: LeftOut::of(&rows, &shown),
            profile,
            event,
            options,
            totals,
            shown,
            rows,
        }
    }

    /// Columns, in order.
    pub(crate) fn columns(&self) -> &'p [Field] {
        &self.options.columns.shown
    }

    /// The heading of a column.
    pub(crate) fn heading(&self, field: Field) -> &'p str {
        field.heading(&self.options.columns)
    }

    /// What a column says of a row, as perf shows it.
    pub(crate) fn cell(&self, field: Field, row: &Row) -> String {
        field.cell(row, self.totals.weight, self.profile)
    }
}

impl TableOptions {
    /// What limits of rows are held against.
    pub(crate) fn weight(&self, row: &Row) -> u64 {
        match self.columns.weighing {
            Weighing::WithChildren => row.total_weight,
            Weighing::Own => row.self_weight,
        }
    }
}
