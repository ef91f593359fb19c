//! Whom to record, and for how long.

use super::numbers;
use rprof_record::NamePattern;
use std::time::Duration;

#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Targets")]
pub(crate) struct TargetArgs {
    /// Sample everything on all CPUs
    #[arg(short = 'a', long, conflicts_with_all = ["pid", "tid"])]
    pub(crate) all_cpus: bool,

    /// Sample these processes, by id
    #[arg(
        short = 'p',
        long,
        value_name = "PID",
        value_delimiter = ',',
        value_parser = numbers::id,
        allow_negative_numbers = true,
        conflicts_with = "tid"
    )]
    pub(crate) pid: Vec<i32>,

    /// With -p, also sample their child processes that are already running, recursively
    #[arg(long, requires = "pid", conflicts_with = "tid")]
    pub(crate) children: bool,

    /// Sample these threads, by id
    #[arg(
        short = 't',
        long,
        value_name = "TID",
        value_delimiter = ',',
        value_parser = numbers::id,
        allow_negative_numbers = true
    )]
    pub(crate) tid: Vec<i32>,

    /// Sample all processes of a user, by name or number
    #[arg(
        short = 'u',
        long,
        value_name = "USER",
        conflicts_with_all = ["all_cpus", "pid", "tid"]
    )]
    pub(crate) uid: Option<String>,

    /// Sample processes whose name or program name matches a regular expression (may be repeated)
    #[arg(
        long,
        value_name = "RE",
        value_parser = NamePattern::parse,
        conflicts_with_all = ["all_cpus", "pid", "tid", "uid"]
    )]
    pub(crate) name: Vec<NamePattern>,

    /// With --name, wait for a matching process
    #[arg(long, requires = "name")]
    pub(crate) wait: bool,

    /// Do not inherit: child tasks are not sampled
    #[arg(short = 'i', long)]
    pub(crate) no_inherit: bool,

    /// Like -i, but with one event and ring buffer per thread instead of per CPU: needs fewer open files on many CPUs
    #[arg(long, conflicts_with_all = ["all_cpus", "cpu"])]
    pub(crate) per_thread: bool,

    /// Sample only on these CPUs, such as 0-3,8; without -p or -t, sample everything on them
    #[arg(short = 'C', long, value_name = "CPUS")]
    pub(crate) cpu: Option<String>,

    /// With -a or -C, keep rprof's own samples (those of sched:* events are always kept)
    #[arg(long)]
    pub(crate) include_self: bool,

    /// Stop after this time: seconds, or a number with a unit (ms, s, m, h, d)
    #[arg(
        long,
        value_name = "TIME",
        value_parser = numbers::seconds,
        allow_negative_numbers = true
    )]
    pub(crate) duration: Option<Duration>,

    /// Wait for all processes that the command started, not only for the command itself
    #[arg(long)]
    pub(crate) wait_all: bool,
}
