//! What is sampled, and how often.

use super::numbers;

#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Events")]
pub(crate) struct EventArgs {
    /// Sample these events: names, PMU events, tracepoints, breakpoints, probes (uprobe:/path:function,
    /// uprobe:/path:function(parameter)), {groups}; a comma-separated list, may be repeated; see rprof list [default: cycles, or cpu-clock without a hardware PMU]
    #[arg(short = 'e', long = "event", value_name = "EVENT")]
    pub(crate) events: Vec<String>,

    /// Samples per second, or "max" for the kernel's limit [default: 4000]
    #[arg(
        short = 'F',
        long = "freq",
        value_name = "HZ",
        conflicts_with = "period",
        allow_negative_numbers = true
    )]
    pub(crate) frequency: Option<String>,

    /// Take one sample every N events, instead of -F
    #[arg(
        short = 'c',
        long = "count",
        value_name = "N",
        value_parser = numbers::count,
        allow_negative_numbers = true
    )]
    pub(crate) period: Option<u64>,

    /// Fail if -F is above the kernel's limit, instead of sampling at the limit
    #[arg(long)]
    pub(crate) strict_freq: bool,

    /// Put all events into one group
    #[arg(long)]
    pub(crate) group: bool,
}
