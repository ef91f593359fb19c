//! The table of an event: columns, and the rows that are shown. Its forms are files beside this one.

mod delimited;
mod hierarchy;
mod json;
mod limit;
mod separated;
mod slots;
mod spans;
#[cfg(test)]
mod tests;
mod text;

pub use delimited::{write_csv, write_markdown};
pub use json::{REPORT_VERSION, write_json};
pub(crate) use text::left_out;
pub use text::write_table;

use crate::totals::{self, Percentage};
use crate::tree::Graph;
use rprof_base::{Counted, Share};
use rprof_profile::text::Fit;
use rprof_profile::view::{
    Columns, EventSet, EventSets, Field, FieldValue, JoinedRow, LevelRow, Row, Rows, SortKey,
    Weighing, join, levels,
};
use rprof_profile::{Dimension, Profile, SampleCount};
use std::borrow::Cow;
use std::ops::Range;

/// How a table looks.
#[derive(Clone, Debug, PartialEq)]
pub struct TableOptions {
    /// Columns, what rows are grouped by, and their order.
    pub columns: Columns,
    /// Whether each key is a level of rows, those of the next one below it.
    pub hierarchy: bool,
    /// Whether a table of spans comes first.
    pub spans: bool,
    /// Which events share a table.
    pub events: EventTables,
    /// Trees; `None` for the table alone.
    pub graph: Option<Graph>,
    /// Rows below this percentage are left out.
    pub percent_limit: f64,
    /// Whether text with trees of very many lines gets a limit of its own, which its last line says.
    pub limits_trees: bool,
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

/// Which tables there are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EventTables {
    /// Which events share one.
    pub sets: EventSets,
    /// The event of a group whose sums rows are ordered by, from 0 on.
    pub sort_idx: usize,
    /// Also tables of events without samples.
    pub with_empty: bool,
}

impl EventTables {
    /// The events of each table. If none has samples, all are there.
    pub(crate) fn of(self, profile: &Profile) -> Vec<EventSet<'_>> {
        let mut sets = self.sets.of(profile);
        if !self.with_empty && !sets.iter().all(EventSet::is_empty) {
            sets.retain(|set| !set.is_empty());
        }
        sets
    }
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

/// The table of an event, or of several side by side.
#[derive(Debug)]
pub(crate) struct Table<'p> {
    pub(crate) profile: &'p Profile,
    pub(crate) set: EventSet<'p>,
    pub(crate) options: &'p TableOptions,
    /// What percentages of the first event are of.
    pub(crate) totals: SampleCount,
    /// Those of the others.
    others: Vec<SampleCount>,
    /// What shares of the time that passed are of, by event.
    latencies: Vec<u64>,
    /// Those that are shown, in order.
    pub(crate) shown: Vec<LevelRow>,
    /// How deep the first row is that [`Layout::limit`] leaves out.
    next_depth: Option<usize>,
    /// What limits leave out.
    pub(crate) left_out: LeftOut,
    /// All rows of the first event, for trees.
    pub(crate) rows: Rows<'p>,
}

/// The last column is not padded, and names may have thousands of characters: its dots end here.
const LAST_COLUMN: usize = 60;

/// Rows that are not shown; of those in levels, the innermost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LeftOut {
    pub(crate) rows: usize,
    /// Of their own samples, of the first event.
    pub(crate) weight: u64,
}

impl LeftOut {
    fn of(n_rows: usize, rows: &Rows<'_>, shown: &[LevelRow]) -> Self {
        let shown = || shown.iter().filter(|shown| shown.is_innermost);
        let sum = |weights: &mut dyn Iterator<Item = u64>| weights.fold(0, u64::saturating_add);
        let all = sum(&mut rows.iter().map(|row| row.self_weight));
        let of_shown = sum(&mut shown().map(|shown| shown.row.leader.self_weight));
        Self {
            rows: n_rows - shown().count(),
            weight: all.saturating_sub(of_shown),
        }
    }
}

impl LeftOut {
    /// How many rows.
    pub(crate) fn counted(self, options: &TableOptions) -> Counted<'static> {
        let (one, several) = if options.has_levels() {
            ("more innermost row", "more innermost rows")
        } else {
            ("more row", "more rows")
        };
        Counted::new(self.rows as u64, one, several)
    }
}

impl<'p> Table<'p> {
    /// The table of some events.
    pub(crate) fn of(profile: &'p Profile, set: EventSet<'p>, options: &'p TableOptions) -> Self {
        let rows = |event| Rows::of(profile, event, &options.columns);
        let leader = rows(set.leader);
        let totals = totals::of_event(set.leader, options);
        let is_shown = |row: &Row| {
            let share = Share::of(options.weight(row), totals.weight);
            share.percent() >= options.percent_limit
        };
        let limit = options.layout.limit.unwrap_or(usize::MAX);
        let is_level_shown = |shown: &LevelRow| is_shown(&shown.row.leader);
        let mut latencies = vec![leader.latency()];
        let mut next_depth = None;
        let (n_rows, shown): (usize, Vec<LevelRow>) = match &*set.others {
            [] if !options.has_levels() => {
                let shown = leader.iter().filter(|row| is_shown(row)).take(limit);
                let shown = shown.copied().map(JoinedRow::single).map(LevelRow::flat);
                (leader.iter().count(), shown.collect())
            }
            others => {
                let others: Vec<Rows<'p>> = others.iter().map(|event| rows(event)).collect();
                latencies.extend(others.iter().map(Rows::latency));
                let (columns, first) = (&options.columns, options.events.sort_idx);
                let all = join(&leader, &others, columns, first);
                let n_rows = all.len();
                let all = if options.has_levels() {
                    levels(&all, &leader, columns, first)
                } else {
                    all.into_iter().map(LevelRow::flat).collect()
                };
                let mut above_limit = all.into_iter().filter(is_level_shown);
                let shown = above_limit.by_ref().take(limit).collect();
                next_depth = above_limit.next().map(|next| next.depth);
                (n_rows, shown)
            }
        };
        let others = set
            .others
            .iter()
            .map(|event| totals::of_event(event, options));
        Self {
            left_out: LeftOut::of(n_rows, &leader, &shown),
            profile,
            others: others.collect(),
            latencies,
            set,
            options,
            totals,
            shown,
            next_depth,
            rows: leader,
        }
    }

    /// How deep the row is that follows one, if it is shown or the number of rows leaves it out.
    pub(crate) fn depth_after(&self, at: usize) -> Option<usize> {
        let next = self.shown.get(at + 1);
        next.map(|next| next.depth).or(self.next_depth)
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
        let columns = self.columns().iter();
        let level = columns
            .filter(|column| matches!(column, Field::Key(_)))
            .position(|&key| key == field);
        level.filter(|_| self.options.has_levels())
    }

    /// Whether a column is of a row: keys are of the rows of their level.
    pub(crate) fn is_of(&self, field: Field, shown: &LevelRow) -> bool {
        self.level(field).is_none_or(|level| level == shown.depth)
    }

    /// The events that a column says something of: for keys, the first.
    pub(crate) fn events_of(&self, field: Field) -> Range<usize> {
        match field {
            Field::Sum(_) => 0..1 + self.others.len(),
            Field::Key(_) => 0..1,
        }
    }

    /// Columns by event, in order.
    pub(crate) fn event_columns(&self) -> impl Iterator<Item = (Field, usize)> {
        let columns = self.columns().iter();
        columns.flat_map(|&field| self.events_of(field).map(move |event| (field, event)))
    }

    /// What percentages of an event are of.
    fn totals_of(&self, event: usize) -> SampleCount {
        let others = self.others.get(event.wrapping_sub(1));
        others.copied().unwrap_or(self.totals)
    }

    /// What shares in a column are of.
    fn whole(&self, field: Field, event: usize) -> u64 {
        match field {
            Field::Sum(sum) if sum.is_latency() => self.latencies.get(event).copied().unwrap_or(0),
            _ => self.totals_of(event).weight,
        }
    }

    /// What a column says of an event's part of a row, as perf shows it.
    pub(crate) fn cell(&self, field: Field, row: &JoinedRow, event: usize) -> String {
        let whole = self.whole(field, event);
        field.cell((&row.leader.key, row.of(event)), whole, self.profile)
    }

    /// The same for other programs.
    pub(crate) fn value(&self, field: Field, row: &JoinedRow, event: usize) -> FieldValue {
        let whole = self.whole(field, event);
        field.value((&row.leader.key, row.of(event)), whole, self.profile)
    }

    /// A column of an event for other programs: of several, `cycles.overhead`.
    pub(crate) fn name(&self, field: Field, event: usize) -> Cow<'p, str> {
        let name = self.options.name(field);
        match self.event_label(field, event) {
            Some(label) => format!("{label}.{name}").into(),
            None => name.into(),
        }
    }

    /// Its heading: of several, `cycles Overhead`.
    pub(crate) fn long_heading(&self, field: Field, event: usize) -> String {
        let heading = self.heading(field).trim();
        match self.event_label(field, event) {
            Some(label) => format!("{label} {heading}"),
            None => heading.to_owned(),
        }
    }

    /// What tells the columns of several events apart: their names, with numbers where those are the same.
    fn event_label(&self, field: Field, event: usize) -> Option<String> {
        if self.others.is_empty() || matches!(field, Field::Key(_)) {
            return None;
        }
        let names: Vec<&str> = self.set.events().map(|event| event.name.raw()).collect();
        let (before, name) = (names.get(..event)?, *names.get(event)?);
        Some(
            match before.iter().filter(|other| **other == name).count() {
                0 => name.to_owned(),
                n => format!("{name}#{}", n + 1),
            },
        )
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

    /// Whether rows are in levels: without keys there is one row.
    pub(crate) fn has_levels(&self) -> bool {
        self.hierarchy && !self.columns.keys().is_empty()
    }

    /// What limits of rows are held against.
    pub(crate) fn weight(&self, row: &Row) -> u64 {
        match self.columns.weighing {
            Weighing::WithChildren => row.total_weight,
            Weighing::Own => row.self_weight,
        }
    }
}
