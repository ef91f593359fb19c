//! Which samples: the filters that all readers share.

use rprof_profile::{
    Account, Ancestor, EventSwitches, Filter, FilterError, NameList, PathEnd, SpanSpeed, TimeSlices,
};
use std::fs::File;
use std::io::Read;

/// The heading in `--help`.
const HEADING: &str = "Filters";

/// Which samples count; same short flags as `perf report`.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct FilterArgs {
    #[command(flatten)]
    common: CommonFilterArgs,
    #[command(flatten)]
    more: MoreFilterArgs,
}

/// The filters that comparisons have, too. Both parts stand together in `--help`, so each flag says its place.
#[derive(Clone, Debug, clap::Args)]
#[group(id = "samples/common_filters")]
#[command(group = clap::ArgGroup::new("account").args(["on_cpu", "off_cpu", "wall"]))]
pub(crate) struct CommonFilterArgs {
    /// Keep samples of threads with these names: a comma-separated list; each may be a pattern such as 'std::*' or a
    /// '/regex/'; a leading '!' excludes it; file:FILE reads one name per line
    #[arg(help_heading = HEADING, display_order = 0, short = 'c', long, value_name = "NAMES", value_parser = parse_names)]
    comms: Vec<NameList>,

    /// Keep samples whose innermost function is in these binaries or libraries (name or path); not those of code that
    /// they call
    #[arg(help_heading = HEADING, display_order = 1, short = 'd', long, value_name = "NAMES", value_parser = parse_names)]
    dsos: Vec<NameList>,

    /// Keep samples in these functions
    #[arg(help_heading = HEADING, display_order = 2, short = 'S', long, value_name = "NAMES", value_parser = parse_names)]
    symbols: Vec<NameList>,

    /// Keep samples of these processes
    #[arg(help_heading = HEADING, display_order = 5, long, value_name = "PID", value_delimiter = ',', value_parser = parse_pid)]
    pid: Vec<i32>,

    /// Keep samples of these threads
    #[arg(help_heading = HEADING, display_order = 7, long, value_name = "TID", value_delimiter = ',', value_parser = parse_tid)]
    tid: Vec<i32>,

    /// Keep samples on these CPUs, such as 0-3,8
    #[arg(help_heading = HEADING, display_order = 8, short = 'C', long, value_name = "CPUS", value_parser = parse_cpus)]
    cpu: Option<CpuList>,

    /// Keep samples in this time range: START,STOP in seconds (or with ms, us, ns), either may be omitted; +1.5,+3:
    /// from the beginning of the recording; -2s,: its last two seconds; 10%-20%, or 10%,20%: one range of percentages;
    /// several are separated by commas: 0%-10%,90%-100%; 10%/2: the second tenth
    #[arg(help_heading = HEADING, display_order = 11, long, value_name = "TIMES", value_parser = TimeSlices::parse, allow_hyphen_values = true)]
    time: Option<TimeSlices>,

    /// Count the samples that were recorded (default)
    #[arg(help_heading = HEADING, display_order = 12, long)]
    on_cpu: bool,

    /// Count time spent waiting, in nanoseconds, by the stack at which the thread blocked; a wait is in the slice of
    /// --time in which it began. Requires recorded context switches
    #[arg(help_heading = HEADING, display_order = 13, long)]
    off_cpu: bool,

    /// Count all of the time of threads, running and waiting, in nanoseconds; requires recorded context switches
    #[arg(help_heading = HEADING, display_order = 14, long)]
    wall: bool,

    /// Count only time on the critical path: what the end of the recorded command waited for. With =THREAD, the path to
    /// the end of that thread: its id, or a name or pattern; of several, the one that ends last; with =span:NAMES, the
    /// paths to the ends of spans. Implies --wall
    #[arg(
        help_heading = HEADING,
        display_order = 15,
        long,
        value_name = "THREAD",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "",
        value_parser = parse_path_end,
        conflicts_with = "on_cpu"
    )]
    critical: Option<PathEnd>,

    /// Keep samples in spans of threads' time that took longer than this: a time such as 10ms, or p99, which 99 % of
    /// the spans of a name in each recording do not exceed; NAME:p99 looks only at spans of that name (record --span)
    #[arg(help_heading = HEADING, display_order = 16, long, value_name = "LIMIT", value_parser = SpanSpeed::slower, conflicts_with = "faster_than")]
    slower_than: Option<SpanSpeed>,

    /// Keep samples in spans that did not take longer than this
    #[arg(help_heading = HEADING, display_order = 17, long, value_name = "LIMIT", value_parser = SpanSpeed::faster)]
    faster_than: Option<SpanSpeed>,
}

/// The filters of commands that read a single recording.
#[derive(Clone, Debug, clap::Args)]
#[group(id = "samples/filters")]
#[command(group = clap::ArgGroup::new("switches").args(["switch_on", "switch_off"]).multiple(true))]
struct MoreFilterArgs {
    /// Keep samples in functions whose name contains TEXT
    #[arg(help_heading = HEADING, display_order = 3, long, value_name = "TEXT")]
    symbol_filter: Option<String>,

    /// Drop samples in functions without a name, and callers without a name
    #[arg(help_heading = HEADING, display_order = 4, short = 'U', long)]
    hide_unresolved: bool,

    /// Keep samples of the recorded command and its descendants; with =PID, of that process and its descendants
    #[arg(
        help_heading = HEADING,
        display_order = 6,
        long,
        value_name = "PID",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "command",
        value_parser = parse_ancestor
    )]
    descendants: Option<Ancestor>,

    /// Keep samples taken while N recorded threads were running; LIST: such as 1,4-8; requires recorded context
    /// switches
    #[arg(help_heading = HEADING, display_order = 9, long, value_name = "LIST", value_parser = parse_parallelism)]
    parallelism: Option<CpuList>,

    /// Keep samples on CPUs of this socket
    #[arg(help_heading = HEADING, display_order = 10, long, value_name = "N")]
    socket_filter: Option<u32>,

    /// Keep samples after this event, which must also be recorded
    #[arg(help_heading = HEADING, long, value_name = "EVENT")]
    switch_on: Option<String>,

    /// Drop samples after this event, until the event of --switch-on occurs again
    #[arg(help_heading = HEADING, long, value_name = "EVENT")]
    switch_off: Option<String>,

    /// Also keep the samples of the --switch-on and --switch-off events
    #[arg(help_heading = HEADING, long, requires = "switches")]
    show_on_off_events: bool,

    /// Drop samples of idle CPUs (swapper)
    #[arg(help_heading = HEADING, long)]
    no_idle: bool,

    /// Keep at most N frames of each stack, starting with the innermost
    #[arg(help_heading = HEADING, long, value_name = "N", value_parser = parse_max_stack)]
    max_stack: Option<usize>,
}

/// CPUs as one value, for clap.
#[derive(Clone, Debug)]
struct CpuList(Vec<u32>);

/// Bytes of a file of names.
const MAX_NAMES: u64 = 16 << 20;

pub(super) fn parse_names(text: &str) -> Result<NameList, FilterError> {
    NameList::parse(text, read_names)
}

/// The text of a file of names.
pub(super) fn read_names(path: &str) -> Result<String, FilterError> {
    let why = |why| FilterError(format!("reading {path}: {why}"));
    let mut names = String::new();
    let file = File::open(path).map_err(|error| why(error.to_string()))?;
    let read = file.take(MAX_NAMES + 1).read_to_string(&mut names);
    match read.map_err(|error| why(error.to_string()))? as u64 {
        0..=MAX_NAMES => Ok(names),
        _ => Err(why("it is larger than 16 MiB".to_owned())),
    }
}

/// Numbers of running threads, at least 1: a sampled thread is running.
fn parse_parallelism(text: &str) -> Result<CpuList, FilterError> {
    let list = parse_cpus(text).map_err(|error| FilterError(error.to_string()))?;
    if list.0.contains(&0) {
        Err(FilterError(
            "expected at least 1: a sampled thread is running".to_owned(),
        ))
    } else {
        Ok(list)
    }
}

fn parse_cpus(text: &str) -> Result<CpuList, rprof_events::EventError> {
    rprof_events::parse_cpu_list(text).map(CpuList)
}

fn parse_ancestor(text: &str) -> Result<Ancestor, String> {
    match text {
        "command" => Ok(Ancestor::Command),
        pid => match pid.parse() {
            Ok(pid) if pid > 0 => Ok(Ancestor::Process(pid)),
            _ => Err("expected a process id".to_owned()),
        },
    }
}

pub(super) fn parse_pid(text: &str) -> Result<i32, String> {
    parse_id(text).ok_or_else(|| "expected a process id, or several separated by commas".to_owned())
}

pub(super) fn parse_tid(text: &str) -> Result<i32, String> {
    parse_id(text).ok_or_else(|| "expected a thread id, or several separated by commas".to_owned())
}

/// Accepts -1, which the kernel writes for tasks that have exited.
fn parse_id(text: &str) -> Option<i32> {
    text.parse().ok().filter(|&id| id >= -1)
}

fn parse_path_end(text: &str) -> Result<PathEnd, FilterError> {
    if let Some(names) = text.strip_prefix("span:") {
        return parse_names(names).map(PathEnd::Spans);
    }
    let end = match text.parse::<i32>() {
        _ if text.is_empty() => PathEnd::Command,
        Ok(tid) => PathEnd::of(NameList::default(), Vec::new(), vec![tid]),
        Err(_) => PathEnd::of(parse_names(text)?, Vec::new(), Vec::new()),
    };
    Ok(end)
}

fn parse_max_stack(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(0) | Err(_) => Err("expected a number of frames, at least 1".to_owned()),
        Ok(n) => Ok(n),
    }
}

impl CommonFilterArgs {
    pub(crate) fn filter(&self) -> Filter {
        Filter {
            comms: NameList::of_all(&self.comms),
            dsos: NameList::of_all(&self.dsos),
            symbols: NameList::of_all(&self.symbols),
            pids: self.pid.clone(),
            tids: self.tid.clone(),
            cpus: numbers(self.cpu.as_ref()),
            times: self.time.clone(),
            account: match (self.off_cpu, self.wall || self.critical.is_some()) {
                (true, _) => Account::OffCpu,
                (_, true) => Account::Wall,
                _ => Account::OnCpu,
            },
            critical: self.critical.clone(),
            span_speed: self.slower_than.clone().or(self.faster_than.clone()),
            ..Filter::default()
        }
    }
}

impl FilterArgs {
    pub(crate) fn filter(&self) -> Filter {
        let more = &self.more;
        Filter {
            symbol_part: more.symbol_filter.clone(),
            hide_unresolved: more.hide_unresolved,
            descendants_of: more.descendants,
            parallelism: numbers(more.parallelism.as_ref()),
            socket: more.socket_filter,
            switches: EventSwitches {
                on: more.switch_on.clone(),
                off: more.switch_off.clone(),
                are_shown: more.show_on_off_events,
            },
            no_idle: more.no_idle,
            max_stack: more.max_stack,
            ..self.common.filter()
        }
    }
}

fn numbers(list: Option<&CpuList>) -> Vec<u32> {
    list.map_or_else(Vec::new, |list| list.0.clone())
}

#[cfg(test)]
mod tests {
    use crate::args::{Args, Command};
    use clap::Parser;
    use rprof_profile::{Account, Filter, NameList, PathEnd};

    fn filter(options: &[&str]) -> Result<Filter, String> {
        let args = [&["rprof", "report"], options].concat();
        match Args::try_parse_from(args)
            .map_err(|error| error.to_string())?
            .command
        {
            Command::Report(report) => Ok(report.input.filter()),
            _ => Err(String::new()),
        }
    }

    #[test]
    fn perfs_letters_and_several_lists_are_one_filter() {
        let long = [
            "--comms",
            "a,b",
            "--comms",
            "!c",
            "--dsos",
            "d",
            "--symbols",
            "e<f, g>",
        ];
        let short = ["-c", "a,b", "-c", "!c", "-d", "d", "-S", "e<f, g>"];
        let filter_of = |words: &[&str]| filter(words).unwrap();
        assert_eq!(filter_of(&long), filter_of(&short));
        assert_eq!(filter_of(&long).comms.items(), ["a", "b", "!c"]);
        assert_eq!(filter_of(&long).symbols.items(), ["e<f, g>"]);
    }

    #[test]
    fn a_critical_path_is_of_all_time_and_of_one_thread() {
        let of = |options: &[&str]| {
            let filter = filter(options).unwrap();
            (filter.account, filter.critical)
        };
        let command = Some(PathEnd::Command);
        assert_eq!(of(&["--critical"]), (Account::Wall, command.clone()));
        assert_eq!(of(&["--critical", "--off-cpu"]), (Account::OffCpu, command));
        let tids = PathEnd::of(NameList::default(), vec![], vec![7]);
        assert_eq!(of(&["--critical=7"]).1, Some(tids));
        let comms = PathEnd::of(NameList::of(["in_*"]), vec![], vec![]);
        assert_eq!(of(&["--critical=in_*"]).1, Some(comms));
        let spans = PathEnd::Spans(NameList::of(["request"]));
        assert_eq!(of(&["--critical=span:request"]).1, Some(spans));
        assert_eq!(of(&[]), (Account::OnCpu, None));
        assert!(filter(&["--critical", "--on-cpu"]).is_err());
    }

    #[test]
    fn times_before_the_end_are_no_flags() {
        let filter = filter(&["--time", "-2s,", "--no-idle"]).unwrap();
        assert!(filter.times.is_some_and(|times| times.needs_span()) && filter.no_idle);
    }

    #[test]
    fn what_cannot_be_read_is_said() {
        for (options, why) in [
            (["-S", "/(/"], "invalid regular expression '/(/'"),
            (["-c", "file:/nowhere"], "reading /nowhere: No such file"),
            (["--time", "1"], "'1' has no comma"),
            (["--pid", "x"], "a process id"),
            (["--tid", "1,-5"], "a thread id"),
        ] {
            let said = filter(&options).unwrap_err();
            assert!(said.contains(why), "{said}");
        }
    }
}
