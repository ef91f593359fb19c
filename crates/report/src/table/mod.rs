//! The table of an event: columns, and the rows that are shown. Its forms are files beside this one.

mod delimited;
mod hierarchy;
mod json;
mod separated;
mod text;

pub use delimited::{write_csv, write_markdown};
pub use json::{REPORT_VERSION, write_json};
pub(crate) use text::left_out;
pub use text::write_table;

use crate::text::Fit;
use crate::totals::{Percentage, Totals};
use crate::tree::Graph;
use rprof_base::Share;
use rprof_profile::view::{Columns, Field, LevelRow, Row, Rows, SortKey, Weighing};
use rprof_profile::{Dimension, EventProfile, Profile};

/// How a table looks.
#[derive(Clone, Debug, PartialEq)]
pub struct TableOptions {
    /// Columns, what rows are grouped by, and their order.
    pub columns: Columns,
    /// Whether each key is a level of rows, those of the next one below it.
    pub hierarchy: bool,
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
    /// What stands between columns of text instead of blanks: perf's `-t`. Not empty, and no dot.
    pub separator: Option<String>,
    /// Only rows and trees of text: nothing about them.
    pub quiet: bool,
}

impl Layout {
    /// Whether nothing ends the last column, or tells how wide it is.
    fn is_open(&self) -> bool {
        self.fit.is_none() && self.separator.is_none()
    }
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
    pub(crate) shown: Vec<LevelRow>,
    /// What limits leave out.
    pub(crate) left_out: LeftOut,
    /// All rows, for trees.
    pub(crate) rows: Rows<'p>,
}

/// The last column is not padded, and names may have thousands of characters: its dots end here.
const LAST_COLUMN: usize = 60;

/// Rows that are not shown; of those in levels, the innermost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LeftOut {
    pub(crate) rows: usize,
    /// Of their own samples.
    pub(crate) weight: u64,
}

impl LeftOut {
    fn of(rows: &Rows<'_>, shown: &[LevelRow]) -> Self {
        let mut left_out = Self { rows: 0, weight: 0 };
        for row in rows.iter() {
            left_out.rows += 1;
            left_out.weight = left_out.weight.saturating_add(row.self_weight);
        }
        for LevelRow { row, .. } in shown.iter().filter(|shown| shown.is_innermost) {
            left_out.rows -= 1;
            left_out.weight = left_out.weight.saturating_sub(row.self_weight);
        }
        left_out
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
        let is_shown = |shown: &LevelRow| {
            let share = Share::of(options.weight(&shown.row), totals.weight);
            share.percent() >= options.percent_limit
        };
        let limit = options.layout.limit.unwrap_or(usize::MAX);
        let shown: Vec<LevelRow> = match options.hierarchy {
            true => {
                let levels = rows.levels(&options.columns).into_iter();
                levels.filter(is_shown).take(limit).collect()
            }
            false => {
                let rows = rows.iter().copied().map(LevelRow::flat);
                rows.filter(is_shown).take(limit).collect()
            }
        };
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

    /// Which level a column is the key of, if rows are in levels.
    pub(crate) fn level(&self, field: Field) -> Option<usize> {
        let is_key = |field: &&Field| matches!(field, Field::Key(_));
        let mut keys = self.columns().iter().filter(is_key);
        let level = keys.position(|&key| key == field);
        level.filter(|_| self.options.hierarchy)
    }

    /// Whether a column is of a row: keys are of the rows of their level.
    pub(crate) fn is_of(&self, field: Field, shown: &LevelRow) -> bool {
        self.level(field).is_none_or(|level| level == shown.depth)
    }

    /// What a column says of a row, as perf shows it.
    pub(crate) fn cell(&self, field: Field, row: &Row) -> String {
        field.cell(row, self.totals.weight, self.profile)
    }
}

impl TableOptions {
    /// A column's name for other programs: perf's, or that of a tracepoint's field.
    pub(crate) fn name(&self, field: Field) -> &str {
        match field {
            Field::Key(SortKey::Dimension(Dimension::TraceField(_))) => {
                field.heading(&self.columns)
            }
            _ => field.name(),
        }
    }

    /// What limits of rows are held against.
    pub(crate) fn weight(&self, row: &Row) -> u64 {
        match self.columns.weighing {
            Weighing::WithChildren => row.total_weight,
            Weighing::Own => row.self_weight,
        }
    }
}
