//! The arguments, with perf's names wherever perf has them.

mod attached;
mod doctor;
mod limits;
mod list;
mod record;
mod recording;
mod script;
mod sources;
mod stat;
mod unknown;

pub(crate) use doctor::DoctorArgs;
pub(crate) use limits::LimitArgs;
pub(crate) use list::ListArgs;
use record::parse_control;
pub(crate) use record::{CallChainArgs, CallGraph, EventArgs, OutputArgs, RecordArgs, TargetArgs};
pub(crate) use recording::Recording;
pub(crate) use script::ScriptArgs;
pub(crate) use stat::{CountDelay, CountOutputArgs, CountedArgs, StatArgs, StatReportArgs};
use stat::{STAT_RECORD, STAT_REPORT};

use clap::{ArgAction, CommandFactory, FromArgMatches, Parser, Subcommand, ValueEnum};
use rprof_locate::Locator;
use rprof_perfdata::Reader;
use rprof_profile::view::SortKey;
use rprof_profile::{Ancestor, Filter};
use rprof_symbols::Demangling;
use std::io::IsTerminal;
use std::ops::RangeInclusive;
use std::path::PathBuf;

/// A sampling profiler for Linux.
#[derive(Debug, Parser)]
#[command(
    name = "rprof",
    version,
    propagate_version = true,
    max_term_width = 100
)]
#[command(
    after_help = "Start with:\n  rprof record -- COMMAND   run COMMAND and sample it into perf.data\n  \
    rprof report [FILE]       see where the time went\n  rprof flame > flame.svg   see it as a flame graph"
)]
pub(crate) struct Args {
    #[command(subcommand)]
    pub(crate) command: Command,
}

impl Args {
    /// Columns of help where nobody says how many there are.
    const WIDTH: usize = 80;

    /// Reads what was typed.
    pub(crate) fn read() -> Result<Self, clap::Error> {
        let mut command = Self::command();
        if !is_width_known() {
            command = command.term_width(Self::WIDTH);
        }
        let words = stat::as_one_word(std::env::args_os());
        let words = attached::with_equals(&command, words);
        let matches = command.try_get_matches_from_mut(words);
        let matches = matches.map_err(unknown::explained)?;
        Self::from_arg_matches(&matches)
    }
}

fn sort_help() -> String {
    let keys: Vec<&str> = SortKey::all().map(SortKey::name).collect();
    format!("Columns to group by: {}", keys.join(", "))
}

/// Whether clap finds out how wide help may be.
fn is_width_known() -> bool {
    use std::io::{stderr, stdin, stdout};
    let is_terminal = stdout().is_terminal() || stderr().is_terminal() || stdin().is_terminal();
    is_terminal || std::env::var_os("COLUMNS").is_some()
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run a command, or watch what runs, and write samples to perf.data
    Record(Box<RecordArgs>),
    /// Count events of a command, of processes or CPUs, without samples
    Stat(StatArgs),
    /// Count events into a file: what follows rprof stat record
    #[command(hide = true, name = STAT_RECORD, bin_name = "rprof stat record")]
    StatRecord(StatArgs),
    /// Show the counts of a file: what follows rprof stat report
    #[command(hide = true, name = STAT_REPORT, bin_name = "rprof stat report")]
    StatReport(StatReportArgs),
    /// Show where samples were taken, as a table with call trees
    Report(ReportArgs),
    /// Draw a flame graph (SVG) to stdout
    Flame(FlameArgs),
    /// Write what other viewers read: Firefox Profiler, speedscope, pprof and more
    Export(ExportArgs),
    /// Print every sample, in order of time, as perf script does
    Script(ScriptArgs),
    /// Print every record of a recording as it is in the file
    Dump(DumpArgs),
    /// Show where the names of each binary come from, or why it has none; put names into the file
    Symbols(SymbolsArgs),
    /// Show what a recording is: events, machine, how many records of each kind
    Info(DumpArgs),
    /// List the events that this machine has
    List(ListArgs),
    /// Show what stands between you and a profile, and the smallest step that would help
    Doctor(DoctorArgs),
}

/// Which recording, and what of it: the same for all readers.
#[derive(Debug, clap::Args)]
pub(crate) struct InputArgs {
    #[command(flatten)]
    pub(crate) recording: Recording,

    /// Only threads of these names
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    comms: Vec<String>,

    /// Only samples in these binaries and libraries
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    dsos: Vec<String>,

    /// Only samples in these functions
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    symbols: Vec<String>,

    /// Only these processes
    #[arg(long, value_name = "PID", value_delimiter = ',')]
    pid: Vec<i32>,

    /// Only the recorded command and what it started; with =PID, that process and what it started
    #[arg(
        long,
        value_name = "PID",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "command",
        value_parser = parse_ancestor
    )]
    descendants: Option<Ancestor>,

    /// Only these threads
    #[arg(long, value_name = "TID", value_delimiter = ',')]
    tid: Vec<i32>,

    /// Only samples on these CPUs, such as 0-3,8
    #[arg(short = 'C', long, value_name = "CPUS", value_parser = parse_cpus)]
    cpu: Option<CpuList>,

    /// Only samples of this time: START,STOP in seconds, either may be left out
    #[arg(long, value_name = "START,STOP", value_parser = Filter::parse_time)]
    time: Option<RangeInclusive<u64>>,

    /// At most N frames of a stack, from the innermost on
    #[arg(long, value_name = "N", value_parser = parse_max_stack)]
    max_stack: Option<usize>,

    #[command(flatten)]
    sources: sources::SourceArgs,

    #[command(flatten)]
    pub(crate) limits: LimitArgs,

    /// Do not show inlined functions as frames of their own
    #[arg(long)]
    pub(crate) no_inline: bool,

    /// How names are shown: short, full (with parameters), folded (without template arguments) or no
    #[arg(
        long,
        value_name = "FORM",
        num_args = 0..=1,
        default_missing_value = "short",
        default_value = "short",
        value_parser = parse_demangling,
        overrides_with = "no_demangle"
    )]
    demangle: Demangling,

    /// Names as they are in the file: the same as --demangle no
    #[arg(long, overrides_with = "demangle")]
    no_demangle: bool,
}

/// CPUs as one value, for clap.
#[derive(Clone, Debug)]
struct CpuList(Vec<u32>);

fn parse_cpus(text: &str) -> Result<CpuList, rprof_events::EventError> {
    rprof_events::parse_cpu_list(text).map(CpuList)
}

fn parse_ancestor(text: &str) -> Result<Ancestor, String> {
    match text {
        "command" => Ok(Ancestor::Command),
        pid => match pid.parse() {
            Ok(pid) if pid > 0 => Ok(Ancestor::Process(pid)),
            _ => Err("a process id".to_owned()),
        },
    }
}

fn parse_demangling(text: &str) -> Result<Demangling, String> {
    match text {
        "short" => Ok(Demangling::Short),
        "full" => Ok(Demangling::Full),
        "folded" => Ok(Demangling::Folded),
        "no" => Ok(Demangling::Off),
        _ => Err("short, full, folded or no".to_owned()),
    }
}

fn parse_max_stack(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(0) | Err(_) => Err("a number of frames, at least 1".to_owned()),
        Ok(n) => Ok(n),
    }
}

impl InputArgs {
    pub(crate) fn locator(&self, reader: &Reader) -> Locator {
        self.sources.locator(reader.budget())
    }

    pub(crate) fn demangling(&self) -> Demangling {
        match self.no_demangle {
            true => Demangling::Off,
            false => self.demangle,
        }
    }

    pub(crate) fn filter(&self) -> Filter {
        Filter {
            comms: self.comms.clone(),
            dsos: self.dsos.clone(),
            symbols: self.symbols.clone(),
            pids: self.pid.clone(),
            descendants_of: self.descendants,
            tids: self.tid.clone(),
            cpus: self.cpu.clone().map(|list| list.0).unwrap_or_default(),
            time_ns: self.time.clone(),
            max_stack: self.max_stack,
        }
    }
}

#[derive(Debug, clap::Args)]
pub(crate) struct ReportArgs {
    #[command(flatten)]
    pub(crate) input: InputArgs,

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

#[derive(Debug, clap::Args)]
pub(crate) struct FlameArgs {
    #[command(flatten)]
    pub(crate) input: InputArgs,

    /// Print folded stacks instead, as FlameGraph tools read them
    #[arg(long)]
    pub(crate) folded: bool,

    /// Title of the picture
    #[arg(long)]
    pub(crate) title: Option<String>,

    /// Start from the innermost functions, with their callers above
    #[arg(long)]
    pub(crate) reverse: bool,

    /// Hang from the top (icicle graph)
    #[arg(long)]
    pub(crate) inverted: bool,

    /// Event to draw, of a recording with several [default: the first]
    #[arg(short = 'e', long, value_name = "EVENT")]
    pub(crate) event: Option<String>,
}

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  rprof export -o profile.json.gz          \
    profiler.firefox.com, \"Load a profile from file\"\n  \
    rprof export -o work.speedscope.json     www.speedscope.app, or npx speedscope\n  \
    rprof export -o work.pb.gz               go tool pprof -http=: work.pb.gz\n  \
    rprof export -o work.callgrind           kcachegrind, callgrind_annotate\n  \
    rprof export -o work.folded              flamegraph.pl, inferno-flamegraph\n  \
    rprof export --format json | jq .events  scripts (docs: crates/export/JSON.md)")]
pub(crate) struct ExportArgs {
    #[command(flatten)]
    pub(crate) input: InputArgs,

    /// What to write [default: by the ending of -o: .json.gz, .speedscope.json, .pb.gz,
    /// .callgrind, .folded, .json]
    #[arg(long, value_enum, value_name = "FORMAT")]
    pub(crate) format: Option<ExportFormat>,

    /// File to write, or - for standard output [default: -]
    #[arg(short = 'o', long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,

    /// Event of folded stacks, of a recording with several [default: the first]; the other formats
    /// have all events
    #[arg(short = 'e', long, value_name = "EVENT")]
    pub(crate) event: Option<String>,
}

/// The formats of other viewers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ExportFormat {
    /// Firefox Profiler: tracks of threads, flame graphs, markers; compressed
    Firefox,
    /// speedscope: flame charts of threads
    Speedscope,
    /// pprof: tables, graphs, flame graphs; compressed
    Pprof,
    /// Callgrind: costs of lines and of calls, for KCachegrind
    Callgrind,
    /// Stacks as lines with sample counts, for flame graph tools
    Folded,
    /// The profile itself: stacks as a tree with counts, and how good they are
    Json,
}

#[derive(Debug, clap::Args)]
pub(crate) struct SymbolsArgs {
    #[command(flatten)]
    pub(crate) recording: Recording,

    #[command(flatten)]
    sources: sources::SourceArgs,

    #[command(flatten)]
    pub(crate) limits: LimitArgs,

    /// Also images that no sample hit
    #[arg(long, conflicts_with = "embed")]
    pub(crate) all: bool,

    /// Print JSON (docs: crates/inspect/JSON.md)
    #[arg(long, conflicts_with = "embed")]
    pub(crate) json: bool,

    /// Put the names of all sampled code into the recording: it opens anywhere with its names
    #[arg(long)]
    pub(crate) embed: bool,

    /// Write a new file with the names: also for recordings from pipes and truncated ones
    #[arg(short = 'o', long, value_name = "FILE", requires = "embed")]
    pub(crate) output: Option<PathBuf>,
}

impl SymbolsArgs {
    pub(crate) fn locator(&self, reader: &Reader) -> Locator {
        self.sources.locator(reader.budget())
    }
}

#[derive(Debug, clap::Args)]
pub(crate) struct DumpArgs {
    #[command(flatten)]
    pub(crate) recording: Recording,

    #[command(flatten)]
    pub(crate) limits: LimitArgs,

    /// Print JSON (docs: crates/inspect/JSON.md)
    #[arg(long)]
    pub(crate) json: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_definition_is_sound() {
        Args::command().debug_assert();
    }

    #[test]
    fn a_call_graph_needs_no_value() {
        let args = Args::parse_from(["rprof", "report", "-g", "--no-children"]);
        let Command::Report(report) = args.command else {
            panic!()
        };
        assert_eq!(report.graph.as_deref(), Some(""));
    }

    #[test]
    fn the_last_word_on_demangling_counts() {
        for (options, expected) in [
            (&[][..], Demangling::Short),
            (&["--no-demangle"], Demangling::Off),
            (&["--no-demangle", "--demangle"], Demangling::Short),
            (&["--demangle=full"], Demangling::Full),
            (&["--demangle", "folded"], Demangling::Folded),
            (&["--demangle", "full", "--no-demangle"], Demangling::Off),
            (&["--demangle", "no"], Demangling::Off),
        ] {
            let args = Args::parse_from([&["rprof", "report"], options].concat());
            let Command::Report(report) = args.command else {
                panic!()
            };
            assert_eq!(report.input.demangling(), expected, "{options:?}");
        }
        assert!(Args::try_parse_from(["rprof", "flame", "--demangle=maybe"]).is_err());
    }
}
