//! The arguments of `rprof report`.

use super::{FdeArgs, HeaderArgs, InputArgs};
use clap::ArgAction;
use rprof_profile::view::SortKey;

#[derive(Debug, clap::Args)]
pub(crate) struct ReportArgs {
    #[command(flatten)]
    pub(crate) input: InputArgs,

    #[command(flatten)]
    pub(crate) fde: FdeArgs,

    #[command(flatten)]
    pub(crate) header: HeaderArgs,

    /// Plain text to stdout (always; for compatibility with perf)
    #[arg(long)]
    pub(crate) stdio: bool,

    /// A row also counts what it called (default where there are call chains)
    #[arg(long, overrides_with = "no_children")]
    pub(crate) children: bool,

    /// A row counts only its own samples
    #[arg(long, overrides_with = "children")]
    pub(crate) no_children: bool,

    /// Call trees: none, or caller or callee, with a threshold in percent, such as caller,0.5
    #[arg(short = 'g', long = "call-graph", value_name = "HOW", num_args = 0..=1, default_missing_value = "")]
    pub(crate) graph: Option<String>,

    #[arg(short = 's', long, value_name = "KEYS", value_delimiter = ',', help = sort_help())]
    pub(crate) sort: Vec<String>,

    /// Leave out rows below this percentage
    #[arg(long, value_name = "PERCENT", default_value_t = 0.0)]
    pub(crate) percent_limit: f64,

    /// Show the number of samples of each row
    #[arg(short = 'n', long, action = ArgAction::SetTrue)]
    pub(crate) show_nr_samples: bool,

    /// Show only numbers: samples, losses, and how stacks ended that were unwound, by image
    #[arg(long)]
    pub(crate) stats: bool,
}

fn sort_help() -> String {
    let keys: Vec<&str> = SortKey::all().map(SortKey::name).collect();
    format!("Columns to group by: {}", keys.join(", "))
}

#[cfg(test)]
mod tests {
    use crate::args::{Args, Command};
    use clap::Parser;

    #[test]
    fn a_call_graph_needs_no_value() {
        let args = Args::parse_from(["rprof", "report", "-g", "--no-children"]);
        let Command::Report(report) = args.command else {
            panic!()
        };
        assert_eq!(report.graph.as_deref(), Some(""));
    }
}
