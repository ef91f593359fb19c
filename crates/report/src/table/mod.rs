//! The table of an event: columns, and the rows that are shown. Its forms are files beside this one.

mod text;

pub(crate) use text::left_out;
pub use text::write_table;

use rprof_base::Share;
use rprof_profile::view::{Columns, Field, Order, Row, Rows, Weighing};
use rprof_profile::{EventProfile, Profile};

/// Trees below the rows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Graph {
    /// From callers or from callees.
    pub order: Order,
    /// Nodes below this percentage of the event are left out.
    pub min_percent: f64,
}

/// How a table looks.
#[derive(Clone, Debug, PartialEq)]
pub struct TableOptions {
    /// Columns, what rows are grouped by, and their order.
    pub columns: Columns,
    /// Trees; `None` for the table alone.
    pub graph: Option<Graph>,
    /// Rows below this percentage are left out.
    pub percent_limit: f64,
    /// Count in the heading what a filter lets through; percentages are of all.
    pub is_filtered: bool,
    /// Colour heavy rows, as perf does, by terminal sequences.
    pub colors: bool,
}

/// The table of an event.
#[derive(Debug)]
pub(crate) struct Table<'p> {
    pub(crate) profile: &'p Profile,
    pub(crate) event: &'p EventProfile,
    pub(crate) options: &'p TableOptions,
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
        let rows = Rows::of(profile, event, &options.columns);
        let is_shown = |row: &&Row| {
            let share = Share::of(options.weight(row), event.weight);
            share.percent() >= options.percent_limit
        };
        let shown: Vec<Row> = rows.iter().filter(is_shown).copied().collect();
        Self {
            n_left_out: rows.iter().count() - shown.len(),
            profile,
            event,
            options,
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
        field.cell(row, self.event, self.profile)
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
