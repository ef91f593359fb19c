//! Arguments of `rprof stat`.

use super::record::FilterArgs;
use clap::ArgAction;
use rprof_record::ControlPipes;
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

/// `stat record` and `stat report`, as one word each: what follows `stat` is a command otherwise.
pub(super) const STAT_RECORD: &str = "stat-record";
pub(super) const STAT_REPORT: &str = "stat-report";

/// The words with these two as one.
pub(super) fn as_one_word(words: impl IntoIterator<Item = OsString>) -> Vec<OsString> {
    let mut words: Vec<OsString> = words.into_iter().collect();
    let is = |at: usize, word: &str| words.get(at).is_some_and(|is| is == word);
    let joined = match (is(1, "stat"), is(2, "record"), is(2, "report")) {
        (true, true, _) => STAT_RECORD,
        (true, _, true) => STAT_REPORT,
        _ => return words,
    };
    words.splice(1..3, [joined.into()]);
    words
}

/// What to count, of whom, and how to write it.
#[derive(Debug, clap::Args)]
#[command(args_override_self = true)]
#[command(
    after_help = "rprof stat record [OPTIONS] [COMMAND]  also writes the counts to a file (-o) [default: perf.data]\n\
    rprof stat report [FILE]               shows those of a file again"
)]
pub(crate) struct StatArgs {
    /// Command to run, with its arguments: the first word that is no flag, or what follows --
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

/// What is counted.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Events")]
pub(crate) struct CountedArgs {
    // Before the events, which are taken out of what was matched.
    #[command(flatten)]
    pub(crate) filters: FilterArgs,

    /// Events, as for rprof record: names, groups {a,b}, modifiers [default: perf's set]
    #[arg(short = 'e', long = "event", value_name = "EVENTS")]
    pub(crate) events: Vec<String>,

    /// Metrics: NAME=EXPRESSION over counts of events (+ - * /, min, max, d_ratio, a if b else c), or a file
    /// with one a line
    #[arg(short = 'M', long, value_name = "METRIC", conflicts_with = "null")]
    pub(crate) metrics: Vec<String>,

    /// Where the slots of the pipeline went, on processors that count them
    #[arg(long, conflicts_with_all = ["null", "events", "metrics"])]
    pub(crate) topdown: bool,

    /// Level of --topdown: 1 or 2 [default: 1]
    #[arg(long, value_name = "N", requires = "topdown", value_parser = clap::value_parser!(u8).range(1..=2))]
    pub(crate) td_level: Option<u8>,

    /// Count all events together, as one group
    #[arg(short = 'g', long)]
    pub(crate) group: bool,

    /// More events, beside -e, too: -d caches of data, -dd also of instructions and addresses, -ddd also prefetches
    #[arg(short = 'd', long, action = ArgAction::Count)]
    pub(crate) detailed: u8,

    /// Count nothing: only times
    #[arg(short = 'n', long, conflicts_with_all = ["events", "detailed"])]
    pub(crate) null: bool,

    /// Only in user code
    #[arg(long, conflicts_with = "all_kernel")]
    pub(crate) all_user: bool,

    /// Only in the kernel
    #[arg(long)]
    pub(crate) all_kernel: bool,

    /// Do not scale counts of events that took turns
    #[arg(long, overrides_with = "scale")]
    pub(crate) no_scale: bool,

    /// Scale them (default)
    #[arg(long)]
    pub(crate) scale: bool,
}

/// Whose events are counted.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Targets")]
pub(crate) struct CountTargetArgs {
    /// Everything on all CPUs (also without a command)
    #[arg(short = 'a', long, conflicts_with_all = ["pid", "tid"])]
    pub(crate) all_cpus: bool,

    /// Processes, by id
    #[arg(
        short = 'p',
        long,
        value_name = "PID",
        value_delimiter = ',',
        conflicts_with = "tid"
    )]
    pub(crate) pid: Vec<i32>,

    /// With -p: also the child processes that run already, and their children
    #[arg(long, requires = "pid", conflicts_with = "tid")]
    pub(crate) children: bool,

    /// Threads, by id
    #[arg(short = 't', long, value_name = "TID", value_delimiter = ',')]
    pub(crate) tid: Vec<i32>,

    /// Only on these CPUs, such as 0-3,8; without -p or -t: all that runs there
    #[arg(short = 'C', long, value_name = "CPUS")]
    pub(crate) cpu: Option<String>,

    /// The nth event of the nth control group; one group is of all events
    #[arg(
        short = 'G',
        long,
        value_name = "NAMES",
        value_delimiter = ',',
        conflicts_with_all = ["pid", "tid", "for_each_cgroup"]
    )]
    pub(crate) cgroup: Vec<String>,

    /// All events, of each of these control groups
    #[arg(long, value_name = "NAMES", value_delimiter = ',', conflicts_with_all = ["pid", "tid"])]
    pub(crate) for_each_cgroup: Vec<String>,

    /// Leave out what is started later
    #[arg(short = 'i', long)]
    pub(crate) no_inherit: bool,
}

/// How long, and how often.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Runs and times")]
pub(crate) struct RunArgs {
    /// Run the command N times, and show means with their errors; 0 until it is stopped
    #[arg(
        short = 'r',
        long,
        value_name = "N",
        default_value_t = 1,
        requires = "command"
    )]
    pub(crate) repeat: u32,

    /// With -r: the time of each run
    #[arg(long)]
    pub(crate) table: bool,

    /// Begin this many milliseconds after the start (-1: once --control says so)
    #[arg(short = 'D', long, value_name = "MS", value_parser = parse_delay, allow_hyphen_values = true)]
    pub(crate) delay: Option<CountDelay>,

    /// Obey words on a FIFO or a descriptor (enable [EVENT], disable [EVENT], ping, stop), and answer
    /// each with "ack" on another: fifo:PATH[,PATH] or fd:N[,N]
    #[arg(long, value_name = "HOW", value_parser = super::parse_control)]
    pub(crate) control: Option<ControlPipes>,

    /// Write counts every N milliseconds
    #[arg(short = 'I', long, value_name = "MS", value_parser = parse_some_ms)]
    pub(crate) interval_print: Option<Duration>,

    /// With -I: end after N intervals
    #[arg(long, value_name = "N", requires = "interval_print", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) interval_count: Option<u32>,

    /// With -I: also the sums of all, at the end
    #[arg(long, requires = "interval_print")]
    pub(crate) summary: bool,

    /// End after this many milliseconds, and end the command
    #[arg(long, value_name = "MS", value_parser = parse_some_ms)]
    pub(crate) timeout: Option<Duration>,
}

/// What counts are added up.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Sums")]
#[group(id = "sums", multiple = false)]
pub(crate) struct SumArgs {
    /// Each CPU by itself
    #[arg(short = 'A', long, visible_alias = "per-cpu")]
    pub(crate) no_aggr: bool,

    /// By thread
    #[arg(long)]
    pub(crate) per_thread: bool,

    /// By physical core
    #[arg(long)]
    pub(crate) per_core: bool,

    /// By die
    #[arg(long)]
    pub(crate) per_die: bool,

    /// By socket
    #[arg(long)]
    pub(crate) per_socket: bool,

    /// By NUMA node
    #[arg(long)]
    pub(crate) per_node: bool,
}

/// How it is written.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Output")]
pub(crate) struct CountOutputArgs {
    /// Fields with this between them, as perf stat -x
    #[arg(short = 'x', long, value_name = "SEP", conflicts_with = "json_output")]
    pub(crate) field_separator: Option<String>,

    /// An object a line, as perf stat -j
    #[arg(short = 'j', long, visible_alias = "json")]
    pub(crate) json_output: bool,

    /// Into this file [default: standard error]
    #[arg(short = 'o', long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,

    /// Append to the file of -o
    #[arg(long, requires = "output")]
    pub(crate) append: bool,

    /// No counts: only what is computed from them
    #[arg(long)]
    pub(crate) metric_only: bool,

    /// Large numbers have commas (default)
    #[arg(short = 'B', long, overrides_with = "no_big_num")]
    pub(crate) big_num: bool,

    /// Large numbers have none
    #[arg(long)]
    pub(crate) no_big_num: bool,
}

/// A file of counts, and how to show it.
#[derive(Debug, clap::Args)]
pub(crate) struct StatReportArgs {
    #[command(flatten)]
    pub(crate) recording: super::Recording,

    #[command(flatten)]
    pub(crate) limits: super::LimitArgs,

    /// Each CPU by itself
    #[arg(short = 'A', long, conflicts_with_all = ["per_thread", "global"])]
    pub(crate) no_aggr: bool,

    /// By thread
    #[arg(long, conflicts_with = "global")]
    pub(crate) per_thread: bool,

    /// All together
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
        Err(_) => Err("a number of milliseconds".to_owned()),
    }
}

fn parse_some_ms(text: &str) -> Result<Duration, String> {
    let some = parse_ms(text).ok().filter(|span| !span.is_zero());
    some.ok_or_else(|| "a number of milliseconds, at least 1".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn record_and_report_are_part_of_the_name_only_behind_it() {
        for (typed, expected) in [
            ("rprof stat record -o f true", "rprof stat-record -o f true"),
            ("rprof stat report -i f", "rprof stat-report -i f"),
            ("rprof stat -- record", "rprof stat -- record"),
            ("rprof stat true record", "rprof stat true record"),
            ("rprof record stat record", "rprof record stat record"),
            ("rprof stat", "rprof stat"),
        ] {
            let words = typed.split(' ').map(OsString::from);
            let expected: Vec<OsString> = expected.split(' ').map(OsString::from).collect();
            assert_eq!(as_one_word(words), expected);
        }
    }
}
