//! Arguments of `rprof stat`.

use super::record::FilterArgs;
use clap::ArgAction;
use rprof_record::ControlPipes;
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

/// The arguments of `rprof stat`.
#[derive(Debug, clap::Args)]
#[command(args_override_self = true)]
#[command(
    after_help = "rprof stat record [OPTIONS] [COMMAND]  also writes the counts to a file (-o) [default: perf.data]\n\
    rprof stat report [FILE]               shows the counts of a file again"
)]
pub(crate) struct StatArgs {
    /// Command to run, with its arguments: starts at the first word that is not a flag, or after --
    #[arg(trailing_var_arg = true, value_name = "COMMAND")]
    pub(crate) command: Vec<OsString>,

    #[command(flatten)]
    pub(crate) events: CountedArgs,

    #[command(flatten)]
    pub(crate) targets: CountTargetArgs,

    #[command(flatten)]
    pub(crate) runs: RunArgs,

    #[command(flatten)]
    pub(crate) sums: SumArgs,

    #[command(flatten)]
    pub(crate) output: CountOutputArgs,
}

/// The events to count.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Events")]
pub(crate) struct CountedArgs {
    // Before the events, which are taken out of what was matched.
    #[command(flatten)]
    pub(crate) filters: FilterArgs,

    /// Count these events, written as for rprof record: names, groups {a,b}, modifiers [default: perf's default
    /// events]
    #[arg(short = 'e', long = "event", value_name = "EVENTS")]
    pub(crate) events: Vec<String>,

    /// Compute metrics: NAME=EXPRESSION over event counts (+ - * /, min, max, d_ratio, a if b else c), or a file with
    /// one per line
    #[arg(short = 'M', long, value_name = "METRIC", conflicts_with = "null")]
    pub(crate) metrics: Vec<String>,

    /// Show where pipeline slots were spent (top-down analysis), on processors that count them
    #[arg(long, conflicts_with_all = ["null", "events", "metrics"])]
    pub(crate) topdown: bool,

    /// Level of --topdown: 1 or 2 [default: 1]
    #[arg(long, value_name = "N", requires = "topdown", value_parser = clap::value_parser!(u8).range(1..=2))]
    pub(crate) td_level: Option<u8>,

    /// Put all events into one group
    #[arg(short = 'g', long)]
    pub(crate) group: bool,

    /// Count more events, in addition to -e, too: -d data caches, -dd also instruction caches and TLBs, -ddd also
    /// prefetches
    #[arg(short = 'd', long, action = ArgAction::Count)]
    pub(crate) detailed: u8,

    /// Count no events, only times
    #[arg(short = 'n', long, conflicts_with_all = ["events", "detailed"])]
    pub(crate) null: bool,

    /// Count in user space only
    #[arg(long, conflicts_with = "all_kernel")]
    pub(crate) all_user: bool,

    /// Count in the kernel only
    #[arg(long)]
    pub(crate) all_kernel: bool,

    /// Do not scale the counts of multiplexed events
    #[arg(long, overrides_with = "scale")]
    pub(crate) no_scale: bool,

    /// Scale the counts of multiplexed events (default)
    #[arg(long)]
    pub(crate) scale: bool,
}

/// The targets to count for.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Targets")]
pub(crate) struct CountTargetArgs {
    /// Count everything on all CPUs (also without a command)
    #[arg(short = 'a', long, conflicts_with_all = ["pid", "tid"])]
    pub(crate) all_cpus: bool,

    /// Count events of these processes, by id
    #[arg(
        short = 'p',
        long,
        value_name = "PID",
        value_delimiter = ',',
        conflicts_with = "tid"
    )]
    pub(crate) pid: Vec<i32>,

    /// With -p, also count their child processes that are already running, recursively
    #[arg(long, requires = "pid", conflicts_with = "tid")]
    pub(crate) children: bool,

    /// Count events of these threads, by id
    #[arg(short = 't', long, value_name = "TID", value_delimiter = ',')]
    pub(crate) tid: Vec<i32>,

    /// Count only on these CPUs, such as 0-3,8; without -p or -t, count everything on them
    #[arg(short = 'C', long, value_name = "CPUS")]
    pub(crate) cpu: Option<String>,

    /// Count the nth event in the nth control group; a single group applies to all events
    #[arg(
        short = 'G',
        long,
        value_name = "NAMES",
        value_delimiter = ',',
        conflicts_with_all = ["pid", "tid", "for_each_cgroup"]
    )]
    pub(crate) cgroup: Vec<String>,

    /// Count all events in each of these control groups
    #[arg(long, value_name = "NAMES", value_delimiter = ',', conflicts_with_all = ["pid", "tid"])]
    pub(crate) for_each_cgroup: Vec<String>,

    /// Do not inherit: child tasks are not counted
    #[arg(short = 'i', long)]
    pub(crate) no_inherit: bool,
}

/// Runs, intervals and times.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Runs and times")]
pub(crate) struct RunArgs {
    /// Run the command N times, and show means with standard errors; 0: until interrupted
    #[arg(
        short = 'r',
        long,
        value_name = "N",
        default_value_t = 1,
        requires = "command"
    )]
    pub(crate) repeat: u32,

    /// With -r, show the time of each run
    #[arg(long)]
    pub(crate) table: bool,

    /// Start counting after MS milliseconds (-1: when --control enables it)
    #[arg(short = 'D', long, value_name = "MS", value_parser = parse_delay, allow_hyphen_values = true)]
    pub(crate) delay: Option<CountDelay>,

    /// Take commands (enable [EVENT], disable [EVENT], ping, stop) from a FIFO or file descriptor, and acknowledge
    /// each with "ack" on another: fifo:PATH[,PATH] or fd:N[,N]
    #[arg(long, value_name = "HOW", value_parser = super::parse_control)]
    pub(crate) control: Option<ControlPipes>,

    /// Print counts every MS milliseconds
    #[arg(short = 'I', long, value_name = "MS", value_parser = parse_some_ms)]
    pub(crate) interval_print: Option<Duration>,

    /// With -I, stop after N intervals
    #[arg(long, value_name = "N", requires = "interval_print", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) interval_count: Option<u32>,

    /// With -I, also print totals at the end
    #[arg(long, requires = "interval_print")]
    pub(crate) summary: bool,

    /// Stop after MS milliseconds, and end the command
    #[arg(long, value_name = "MS", value_parser = parse_some_ms)]
    pub(crate) timeout: Option<Duration>,
}

/// Aggregation of counts.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Aggregation")]
#[group(id = "sums", multiple = false)]
pub(crate) struct SumArgs {
    /// Show counts per CPU
    #[arg(short = 'A', long, visible_alias = "per-cpu")]
    pub(crate) no_aggr: bool,

    /// Aggregate counts per thread
    #[arg(long)]
    pub(crate) per_thread: bool,

    /// Aggregate counts per physical core
    #[arg(long)]
    pub(crate) per_core: bool,

    /// Aggregate counts per die
    #[arg(long)]
    pub(crate) per_die: bool,

    /// Aggregate counts per socket
    #[arg(long)]
    pub(crate) per_socket: bool,

    /// Aggregate counts per NUMA node
    #[arg(long)]
    pub(crate) per_node: bool,
}

/// Output options.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Output")]
pub(crate) struct CountOutputArgs {
    /// Print fields separated by SEP, as perf stat -x
    #[arg(short = 'x', long, value_name = "SEP", conflicts_with = "json_output")]
    pub(crate) field_separator: Option<String>,

    /// Print JSON, one object per line, as perf stat -j
    #[arg(short = 'j', long, visible_alias = "json")]
    pub(crate) json_output: bool,

    /// Output file [default: stderr]
    #[arg(short = 'o', long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,

    /// Append to the file of -o
    #[arg(long, requires = "output")]
    pub(crate) append: bool,

    /// Print only metrics computed from counts, not the counts
    #[arg(long)]
    pub(crate) metric_only: bool,

    /// Print large numbers with commas (default)
    #[arg(short = 'B', long, overrides_with = "no_big_num")]
    pub(crate) big_num: bool,

    /// Print large numbers without commas
    #[arg(long)]
    pub(crate) no_big_num: bool,
}

/// The arguments of `rprof stat report`.
#[derive(Debug, clap::Args)]
pub(crate) struct StatReportArgs {
    #[command(flatten)]
    pub(crate) recording: super::Recording,

    #[command(flatten)]
    pub(crate) limits: super::LimitArgs,

    /// Show counts per CPU
    #[arg(short = 'A', long, conflicts_with_all = ["per_thread", "global"])]
    pub(crate) no_aggr: bool,

    /// Aggregate counts per thread
    #[arg(long, conflicts_with = "global")]
    pub(crate) per_thread: bool,

    /// Show one total for all threads and CPUs
    #[arg(long)]
    pub(crate) global: bool,

    #[command(flatten)]
    pub(crate) output: CountOutputArgs,
}

/// When counting begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CountDelay {
    /// After this time.
    Time(Duration),
    /// When the pipe says so.
    UntilTold,
}

fn parse_delay(text: &str) -> Result<CountDelay, String> {
    match text {
        "-1" => Ok(CountDelay::UntilTold),
        _ => parse_ms(text).map(CountDelay::Time),
    }
}

fn parse_ms(text: &str) -> Result<Duration, String> {
    match text.parse() {
        Ok(ms) => Ok(Duration::from_millis(ms)),
        Err(_) => Err("expected a number of milliseconds".to_owned()),
    }
}

fn parse_some_ms(text: &str) -> Result<Duration, String> {
    let some = parse_ms(text).ok().filter(|span| !span.is_zero());
    some.ok_or_else(|| "expected a number of milliseconds, at least 1".to_owned())
}
