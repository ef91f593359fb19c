//! What is sampled, and how often.

use super::numbers;

#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Events")]
pub(crate) struct EventArgs {
    /// Events: names, PMU events, tracepoints, breakpoints, probes (uprobe:/path:function), {groups};
    /// a list or repeated; rprof list shows names [default: cycles, or cpu-clock without a hardware PMU]
    #[arg(short = 'e', long = "event", value_name = "EVENT")]
    pub(crate) events: Vec<String>,

    /// Samples a second, or "max" for the kernel's limit [default: 4000]
    #[arg(
        short = 'F',
        long = "freq",
        value_name = "HZ",
        conflicts_with = "period",
        allow_negative_numbers = true
    )]
    pub(crate) frequency: Option<String>,

    /// One sample every N events, instead of by time
    #[arg(
        short = 'c',
        long = "count",
        value_name = "N",
        value_parser = numbers::count,
        allow_negative_numbers = true
    )]
    pub(crate) period: Option<u64>,

    /// Fail if -F is above the kernel's limit, rather than sample at the limit
    #[arg(long)]
    pub(crate) strict_freq: bool,

    /// Count all events together, as one group
    #[arg(long)]
    pub(crate) group: bool,
}
