//! Comparisons as text, Markdown, CSV and JSON: their columns and cells.

mod amount;
mod csv;
mod each;
mod fitting;
mod github;
mod json;
mod markdown;
mod text;
mod verdict;

pub(crate) use amount::ChangeUnit;
pub use csv::write_diff_csv;
pub use each::{EachForm, write_each, write_each_json};
pub use github::workflow_commands;
pub use json::{DIFF_EACH_VERSION, DIFF_VERSION, write_diff_json};
pub use markdown::write_diff_markdown;
pub use text::write_diff;

use crate::comparison::{ComparedEvent, ComparedRow, Comparison, Inlining, Judged, RowOrder};
use crate::compute::Compute;
use crate::per::Per;
use amount::amount;
use rprof_base::{Counted, Share};
use rprof_profile::text::Fit;

/// What is shown of rows, and how.
#[derive(Clone, Debug, Default)]
pub struct DiffLayout {
    /// What is computed as perf does.
    pub compute: Compute,
    /// perf's `-p`: weights.
    pub periods: bool,
    /// perf's `-F`: how it is computed.
    pub formula: bool,
    /// What stands between columns, instead of blanks.
    pub separator: Option<String>,
    /// Only rows.
    pub quiet: bool,
    /// Whether marked rows are in colour.
    pub colors: bool,
    /// Whether it is shown in an interface, which has no flags that sentences could name.
    pub is_interactive: bool,
    /// Where lines end.
    pub fit: Option<Fit>,
    /// The most rows of an event.
    pub limit: Option<usize>,
    /// Rows with smaller shares on both sides are left out, unless they are beyond noise.
    pub least: Share,
}

/// A column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum DiffColumn {
    Baseline,
    BasePeriod,
    Computed,
    /// By how much the amount changed that rows are ordered by.
    Amount,
    Formula,
    Period,
    Change,
    Interval,
    Children,
    Remark,
    Key(usize),
}

impl DiffLayout {
    /// The columns of an event.
    fn columns(&self, comparison: &Comparison, event: &ComparedEvent) -> Vec<DiffColumn> {
        use DiffColumn::{
            Amount, BasePeriod, Baseline, Change, Children, Computed, Formula, Interval, Key,
            Period, Remark,
        };
        let rows = self.rows(event).rows;
        let has_remarks = rows.iter().any(|row| !remarks(row).is_empty());
        // Of shares, it is what perf computes.
        let has_amounts = comparison.order == RowOrder::Amount && event.total.is_some();
        let columns = [
            (true, Baseline),
            (self.periods, BasePeriod),
            (true, Computed),
            (self.formula, Formula),
            (self.periods, Period),
            (has_amounts, Amount),
            (true, Change),
            (true, Interval),
            (event.has_children, Children),
            // Before names: these are as long as they are, and are cut where a line ends.
            (has_remarks, Remark),
        ];
        let columns = columns.into_iter().filter(|(is_shown, _)| *is_shown);
        let columns = columns.map(|(_, column)| column);
        let keys = (0..comparison.keys.len()).map(Key);
        columns.chain(keys).collect()
    }

    fn rows<'e>(&self, event: &'e ComparedEvent) -> ShownRows<'e> {
        let is_shown = |row: &&ComparedRow| is_sure(row) || largest_share(row) >= self.least;
        let (mut rows, small): (Vec<_>, Vec<_>) = event.rows.iter().partition(is_shown);
        let n_large = rows.len();
        rows.truncate(self.limit.unwrap_or(usize::MAX));
        ShownRows {
            n_more: n_large - rows.len(),
            n_small: small.len(),
            rows,
        }
    }
}

/// The unit of the amounts of rows.
fn unit_of(rows: &[&ComparedRow], event: &ComparedEvent) -> ChangeUnit {
    let changes = rows.iter().map(|row| row.ordered_by().1.estimate.moved());
    ChangeUnit::of(changes, event.kind)
}

/// The rows of an event that are shown, and how many are not.
#[derive(Debug)]
struct ShownRows<'e> {
    rows: Vec<&'e ComparedRow>,
    /// Beyond the limit.
    n_more: usize,
    /// With small shares.
    n_small: usize,
}

impl ShownRows<'_> {
    /// What is said of the others, a sentence each.
    fn left_out(&self, layout: &DiffLayout) -> Vec<String> {
        let more = (self.n_more > 0).then(|| format!("{} more rows", self.n_more));
        let small = (self.n_small > 0).then(|| {
            let rows = Counted::new(self.n_small as u64, "row", "rows");
            let least = trimmed(layout.least.percent());
            let all = if layout.is_interactive {
                ""
            } else {
                " (--percent-limit 0 shows all)"
            };
            format!(
                "{rows} with less than {least} % self on both sides, none with a significant change{all}"
            )
        });
        more.into_iter().chain(small).collect()
    }
}

/// Whether a row is marked.
fn is_sure(row: &ComparedRow) -> bool {
    row.own.is_sure || row.children.is_some_and(|children| children.is_sure)
}

/// Of a row's own samples, on the side where it is larger.
fn largest_share(row: &ComparedRow) -> Share {
    let weights = &row.weights;
    let before = Share::of(weights.before.weight, weights.all_before);
    let after = Share::of(weights.after.weight, weights.all_after);
    if before > after { before } else { after }
}

impl DiffColumn {
    fn heading(self, comparison: &Comparison, layout: &DiffLayout) -> String {
        match self {
            Self::Baseline => "Baseline".to_owned(),
            Self::BasePeriod => "Base period".to_owned(),
            Self::Computed => layout.compute.heading().to_owned(),
            Self::Formula => "Formula".to_owned(),
            Self::Period => "Period".to_owned(),
            Self::Amount => "Amount".to_owned(),
            Self::Change => "Change".to_owned(),
            Self::Interval => interval_heading(comparison),
            Self::Children => "Children".to_owned(),
            Self::Key(at) => {
                let key = comparison.keys.get(at);
                key.map_or("", |key| key.heading()).to_owned()
            }
            Self::Remark => "Remark".to_owned(),
        }
    }

    /// Whether it is numbers.
    fn is_at_right(self) -> bool {
        !matches!(self, Self::Key(_) | Self::Remark)
    }

    /// `unit` is that of the column of amounts.
    fn cell(self, row: &ComparedRow, unit: ChangeUnit, layout: &DiffLayout) -> String {
        let weights = &row.weights;
        match self {
            Self::Baseline => weights.baseline().map_or_else(String::new, |share| {
                let share = Share::from_percent(share);
                // perf's: what is computed has its sign there, too.
                if layout.separator.is_some() {
                    share.to_string()
                } else {
                    format!("{share}%")
                }
            }),
            Self::BasePeriod => weights.before.weight.to_string(),
            Self::Computed => weights.cell(layout.compute),
            Self::Formula => weights.formula(layout.compute),
            Self::Period if weights.is_after() => weights.after.weight.to_string(),
            Self::Period => String::new(),
            Self::Amount => {
                let estimate = row.ordered_by().1.estimate;
                let is_there = estimate.before > 0.0 || estimate.after > 0.0;
                if is_there {
                    unit.text(estimate.moved())
                } else {
                    String::new()
                }
            }
            Self::Change => marked(&row.own),
            Self::Interval => interval(&row.own),
            Self::Children => row.children.as_ref().map_or_else(String::new, marked),
            Self::Key(at) => row.cells.get(at).cloned().unwrap_or_default(),
            Self::Remark => remarks(row).join(", "),
        }
    }
}

fn interval_heading(comparison: &Comparison) -> String {
    format!("{} % interval", trimmed(100.0 * (1.0 - comparison.alpha)))
}

/// A number with as many decimals as it has, two at most.
fn trimmed(number: f64) -> String {
    let text = format!("{number:.2}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// How much something changed, in percent.
fn change(judged: &Judged) -> String {
    let estimate = &judged.estimate;
    match (estimate.before > 0.0, estimate.after > 0.0) {
        (false, false) => String::new(),
        (false, true) => "new".to_owned(),
        (true, false) => "removed".to_owned(),
        (true, true) => format!("{:+.1}%", 100.0 * estimate.change()),
    }
}

/// The same, with a mark if it is beyond noise.
fn marked(judged: &Judged) -> String {
    let change = change(judged);
    match (change.is_empty(), judged.is_sure) {
        (true, _) => change,
        (false, true) => format!("{change} *"),
        (false, false) => format!("{change}  "),
    }
}

fn interval(judged: &Judged) -> String {
    match judged.estimate.interval {
        // Nothing is known.
        Some((low, high)) if high - low > 100.0 || !high.is_finite() => {
            format!("[{:+.1}, ...]", 100.0 * low)
        }
        Some((low, high)) => format!("[{:+.1}, {:+.1}]", 100.0 * low, 100.0 * high),
        None => String::new(),
    }
}

/// What is otherwise than before.
fn remarks(row: &ComparedRow) -> Vec<&'static str> {
    let inlining = row.inlining.map(|inlining| match inlining {
        Inlining::Begun => "inlined",
        Inlining::Ended => "no longer inlined",
    });
    let renamed = row.is_renamed.then_some("renamed");
    inlining.into_iter().chain(renamed).collect()
}

/// How many recordings and samples a side has.
fn side_line(n_runs: usize, samples: u64) -> String {
    let recordings = Counted::new(n_runs as u64, "recording", "recordings");
    let samples = Counted::new(samples, "sample", "samples");
    format!("{recordings}, {samples}")
}

/// What all of an event became.
fn total_line(comparison: &Comparison, event: &ComparedEvent) -> String {
    let per = &comparison.per;
    let measure = format!("{} (--per {per})", per.about());
    let Some(total) = &event.total else {
        return format!("{measure}: the total is always 100 %");
    };
    let estimate = &total.estimate;
    let before = amount(estimate.before, event.kind, per);
    let after = amount(estimate.after, event.kind, per);
    let parts = [
        format!("{measure}: {before} -> {after}"),
        change(total),
        interval(total),
    ];
    let parts = parts.into_iter().filter(|part| !part.is_empty());
    let line = parts.collect::<Vec<_>>().join("  ");
    if total.is_sure { line + " *" } else { line }
}

/// What rows are ordered by, for those who expect perf's order.
fn order_line(comparison: &Comparison, layout: &DiffLayout) -> String {
    let what = match (comparison.order, &comparison.per) {
        (RowOrder::Baseline, _) => "Baseline (-o 0)".to_owned(),
        (RowOrder::Computed, _) => format!("{} (-c, -o)", layout.compute.heading()),
        (RowOrder::Amount, Per::Event) => "change of share, significant ones first".to_owned(),
        (RowOrder::Amount, _) => {
            let perfs = if layout.is_interactive {
                ""
            } else {
                "; -c delta-abs orders by shares"
            };
            format!("change of amount, significant ones first{perfs}")
        }
    };
    format!("Rows are ordered by {what}")
}

/// What marks mean.
fn mark_line(comparison: &Comparison) -> String {
    format!(
        "* marks significant changes: at most {} % of them are expected to be chance (Benjamini-Hochberg)",
        trimmed(100.0 * comparison.alpha)
    )
}
