//! The table of an event: columns, and the rows that are shown. Its forms are files beside this one.

mod text;

pub(crate) use text::left_out;
pub use text::write_table;

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
    /// How many a limit leaves out.
    #[expect(dead_code, reason = "forms that say it are still to come")]
    pub(crate) n_left_out: usize,
    /// All rows, for trees.
    pub(crate) rows: Rows<'p>,
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
        let shown: Vec<Row> = rows.iter().filter(is_shown).copied().collect();
        Self {
            n_left_out: rows.iter().count() - shown.len(),
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
    pub(crate) fn heading(&self, field: Field) -> &'static str {
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
