//! The arguments of `rprof report`.

use super::choice::{Choice, one_of};
use super::graph::GraphWords;
use super::{
    ColumnArgs, FoldArgs, Given, GroupArgs, HeaderArgs, InputArgs, KeepArgs, LayoutArgs, ModeArgs,
    ParentArgs, SelfTimeArgs, StrictArgs, columns,
};
use crate::screen::PagerArgs;
use rprof_report::{Graph, Percentage, TaskDetail};

/// Shown at the end of `--help`.
const EXAMPLES: &str = "\
Examples:
  rprof report                             where the time went, with call trees
  rprof report --no-children               by self time, with callers
  rprof report -s comm,dso -g none         by thread and binary, without trees
  rprof report -S 'std::*' --time 10%/2    a pattern, in the second tenth
  rprof report --keep-stacks '!parse*'     without these, and what they called
  rprof report --format csv -n > work.csv  a table for a spreadsheet
  rprof report --stats                     samples, losses, stack ends";

#[derive(Debug, clap::Args)]
#[command(after_help = format!("{}\n\n{EXAMPLES}", columns::help()))]
pub(crate) struct ReportArgs {
    /// Must come first: reading an argument removes it from the matches.
    #[command(flatten)]
    pub(crate) given: Given,

    #[command(flatten)]
    pub(crate) input: InputArgs,

    /// Show only this event [default: all, except switches and wake-ups that record --off-cpu added]
    #[arg(group = "samples/event", short = 'e', long, value_name = "EVENT")]
    pub(crate) event: Option<String>,

    #[command(flatten)]
    pub(crate) self_time: SelfTimeArgs,

    #[command(flatten)]
    pub(crate) keep: KeepArgs,

    #[command(flatten)]
    pub(crate) fold: FoldArgs,

    #[command(flatten)]
    pub(crate) header: HeaderArgs,

    #[command(flatten)]
    pub(crate) strict: StrictArgs,

    /// Print plain text to stdout (always on; for compatibility with perf)
    #[arg(group = "all/stdio", long)]
    pub(crate) stdio: bool,

    /// For compatibility with perf: do not check the owner of the file
    #[arg(group = "all/force", short = 'f', long, hide = true)]
    pub(crate) force: bool,

    /// Count callees' samples in each row (default if call chains were recorded)
    #[arg(
        group = "tables/children",
        long,
        overrides_with = "no_children",
        conflicts_with = "hierarchy"
    )]
    pub(crate) children: bool,

    /// Count only each row's own samples (self)
    #[arg(group = "tables/no_children", long, overrides_with = "children")]
    pub(crate) no_children: bool,

    #[command(flatten)]
    pub(crate) mode: ModeArgs,

    /// Set the form of call trees, such as callee,fractal,2: graph, fractal (shares of the caller), flat, folded or
    /// none; caller or callee; a threshold in percent, then a limit on sibling branches; nodes by function, address or
    /// srcline; percent, period or count
    #[arg(
        group = "tables/graph",
        short = 'g',
        long = "call-graph",
        value_name = "WORDS",
        num_args = 0..=1,
        default_missing_value = "",
        value_parser = GraphWords::parse
    )]
    pub(crate) graph: Option<GraphWords>,

    /// Start call trees with callers: same as -g caller
    #[arg(group = "tables/inverted", short = 'G', long)]
    pub(crate) inverted: bool,

    /// Print at most this many lines per call tree; a last line counts the omitted branches
    #[arg(group = "tables/max_tree_lines", long, value_name = "LINES", default_value_t = Graph::DEFAULT.max_lines)]
    pub(crate) max_tree_lines: usize,

    #[command(flatten)]
    pub(crate) columns: ColumnArgs,

    #[command(flatten)]
    pub(crate) parent: ParentArgs,

    /// Omit rows and branches of call trees below this percentage [default: 0 for rows, 0.5 for branches; if that
    /// were more than 1,000 lines with trees: 1, 2, 5 or 10 for both]
    #[arg(
        group = "tables/percent_limit",
        long,
        value_name = "PERCENT",
        value_parser = parse_percent
    )]
    pub(crate) percent_limit: Option<f64>,

    /// Base of percentages when filters are used
    #[arg(
        group = "tables/percentage",
        help_heading = "Filters",
        long,
        value_name = "OF",
        default_value = "absolute",
        value_parser = one_of(BASES)
    )]
    pub(crate) percentage: Percentage,

    #[command(flatten)]
    pub(crate) groups: GroupArgs,

    #[command(flatten)]
    pub(crate) layout: LayoutArgs,

    /// Show only statistics: samples, losses, and how unwound stacks ended, by binary
    #[arg(group = "all/stats", long)]
    pub(crate) stats: bool,

    /// Show only the tasks, as a tree of parents and children
    #[arg(group = "all/tasks", long, conflicts_with_all = ["stats", "format", "strict"])]
    tasks: bool,

    /// Show only the tasks, with their last mappings
    #[arg(group = "all/mmaps", long, conflicts_with_all = ["stats", "format", "strict"])]
    mmaps: bool,

    #[command(flatten)]
    pub(crate) paging: PagerArgs,
}

impl ReportArgs {
    /// Which task listing to print instead of samples, if any.
    pub(crate) fn tasks(&self) -> Option<TaskDetail> {
        match (self.mmaps, self.tasks) {
            (true, _) => Some(TaskDetail::Mappings),
            (false, true) => Some(TaskDetail::Names),
            (false, false) => None,
        }
    }
}

pub(super) fn parse_percent(text: &str) -> Result<f64, String> {
    let percent = text.strip_suffix('%').unwrap_or(text).parse().ok();
    let percent = percent.filter(|percent| (0.0..=100.0).contains(percent));
    percent.ok_or_else(|| "expected a percentage from 0 to 100".to_owned())
}

/// The words of `--percentage`.
const BASES: &[Choice<Percentage>] = &[
    ("absolute", "All samples", Percentage::Absolute),
    (
        "relative",
        "The samples that pass the filters",
        Percentage::Relative,
    ),
];

#[cfg(test)]
mod tests {
    use crate::args::graph::GraphWords;
    use crate::args::{Args, Command};
    use clap::Parser;

    #[test]
    fn a_call_graph_needs_no_value() {
        let args = Args::parse_from(["rprof", "report", "-g", "--no-children"]);
        let Command::Report(report) = args.command else {
            panic!()
        };
        assert_eq!(report.graph, Some(GraphWords::default()));
    }
}
