//! The arguments, with perf's names wherever perf has them.

mod against;
mod annotate;
mod attached;
mod choice;
mod columns;
mod command;
mod completions;
mod critical;
mod diff;
mod doctor;
mod documented;
mod export;
mod fde;
mod filters;
mod flame;
mod fold;
mod forms;
mod graph;
mod groups;
mod header;
mod help;
mod input;
mod keep;
mod layout;
mod limits;
mod list;
mod listing;
mod lock;
mod look;
mod mode;
mod page_code;
mod parent;
#[cfg(feature = "push")]
mod push;
mod record;
mod recording;
mod report;
mod sched;
mod script;
mod self_time;
mod source_files;
mod sources;
mod stat;
mod strict;
mod symbols;
mod top;
mod trace;
#[cfg(feature = "tui")]
mod tui;
mod two_words;
mod unknown;

pub(crate) use against::AgainstArgs;
pub(crate) use annotate::AnnotateArgs;
pub(crate) use columns::ColumnArgs;
pub(crate) use command::CommandArgs;
pub(crate) use completions::CompletionsArgs;
pub(crate) use critical::CriticalArgs;
pub(crate) use diff::{DiffArgs, DiffFormat};
pub(crate) use doctor::DoctorArgs;
pub(crate) use documented::documented;
pub(crate) use export::ExportArgs;
pub(crate) use fde::FdeArgs;
pub(crate) use flame::FlameArgs;
pub(crate) use fold::FoldArgs;
pub(crate) use forms::{Form, Given};
use groups::GroupArgs;
pub(crate) use header::HeaderArgs;
pub(crate) use help::HelpArgs;
pub(crate) use input::{InputArgs, SampleArgs};
pub(crate) use keep::KeepArgs;
pub(crate) use layout::{LayoutArgs, ReportFormat};
pub(crate) use limits::LimitArgs;
pub(crate) use list::ListArgs;
pub(crate) use listing::{ListingArgs, ListingFormat};
pub(crate) use lock::LockArgs;
pub(crate) use look::{LookArgs, TableArgs};
pub(crate) use mode::ModeArgs;
pub(crate) use page_code::PageCodeArgs;
pub(crate) use parent::ParentArgs;
#[cfg(feature = "push")]
pub(crate) use push::PushArgs;
use record::parse_control;
pub(crate) use record::{
    CallChainArgs, CallGraph, EventArgs, FilterArgs, OutputArgs, RecordArgs, TargetArgs,
    bytes_with_unit, time_with_unit,
};
pub(crate) use recording::{Recording, Recordings};
pub(crate) use report::ReportArgs;
pub(crate) use sched::{LatencyArgs, MapArgs, SchedArgs, SchedInputArgs, TimehistArgs, WaitsBy};
pub(crate) use script::ScriptArgs;
pub(crate) use self_time::SelfTimeArgs;
pub(crate) use source_files::SourceFileArgs;
pub(crate) use stat::{CountDelay, CountOutputArgs, CountedArgs, StatArgs, StatReportArgs};
pub(crate) use strict::StrictArgs;
pub(crate) use symbols::SymbolsArgs;
pub(crate) use top::{TopArgs, TopViewArgs, TopWindow};
pub(crate) use trace::TraceArgs;
#[cfg(feature = "tui")]
pub(crate) use tui::TuiArgs;
use two_words::{SCHED_LATENCY, SCHED_MAP, SCHED_TIMEHIST, STAT_RECORD, STAT_REPORT};

use crate::screen::PagerArgs;
use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};
use std::ffi::OsString;
use std::io::IsTerminal;

/// A sampling profiler for Linux.
#[derive(Debug, Parser)]
#[command(
    name = "rprof",
    version,
    propagate_version = true,
    disable_help_subcommand = true,
    max_term_width = 100
)]
#[command(
    after_help = "Start with:\n  rprof record -- COMMAND   run COMMAND and sample it into perf.data\n  \
    rprof report [FILE]       see where the time went\n  rprof flame > flame.svg   draw a flame graph"
)]
pub(crate) struct Args {
    #[command(flatten)]
    pub(crate) paging: PagerArgs,

    #[command(subcommand)]
    pub(crate) command: Command,
}

impl Args {
    /// Columns of help text if the terminal's width is unknown.
    const WIDTH: usize = 80;

    /// Parses the command line, starting with the program's name.
    pub(crate) fn read(words: impl IntoIterator<Item = OsString>) -> Result<Self, clap::Error> {
        let mut command = Self::command();
        if !is_width_known() {
            command = command.term_width(Self::WIDTH);
        }
        let words = two_words::as_one_word(words);
        let words = attached::with_equals(&command, words);
        let verb = words
            .get(1)
            .and_then(|word| word.to_str())
            .map(str::to_owned);
        let matches = command.try_get_matches_from_mut(words);
        let matches = matches.map_err(|error| unknown::explained(error, verb.as_deref()))?;
        Self::from_arg_matches(&matches)
    }
}

fn is_width_known() -> bool {
    use std::io::{stderr, stdin, stdout};
    let is_terminal = stdout().is_terminal() || stderr().is_terminal() || stdin().is_terminal();
    is_terminal || std::env::var_os("COLUMNS").is_some()
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Sample a command, or what is already running, into perf.data
    Record(Box<RecordArgs>),
    /// Count events of a command, processes or CPUs, without sampling
    Stat(StatArgs),
    /// Count events, and also write the counts to a file
    #[command(hide = true, name = STAT_RECORD, bin_name = "rprof stat record", override_usage = "rprof stat record [OPTIONS] [COMMAND]...")]
    StatRecord(StatArgs),
    /// Show the counts in a file
    #[command(hide = true, name = STAT_REPORT, bin_name = "rprof stat report", override_usage = "rprof stat report [OPTIONS] [FILE]")]
    StatReport(StatReportArgs),
    /// Live profile: show where time goes, refreshed every few seconds
    Top(Box<TopArgs>),
    /// Show the profile as a table with call trees
    Report(Box<ReportArgs>),
    /// Browse a recording interactively: tables, call trees, flame graph, threads over time
    #[cfg(feature = "tui")]
    Tui(Box<TuiArgs>),
    /// Show functions' instructions and source lines, with the samples of each
    Annotate(Box<AnnotateArgs>),
    /// Draw a flame graph (SVG) of a recording, or record a command and draw it
    Flame(Box<FlameArgs>),
    /// Compare recordings, and tell changes from noise
    Diff(Box<DiffArgs>),
    /// Export to an HTML page, Firefox Profiler, speedscope, pprof and more
    Export(ExportArgs),
    /// Send recordings to an OpenTelemetry collector, Pyroscope or Parca
    #[cfg(feature = "push")]
    Push(PushArgs),
    /// Print every sample in time order, in perf script's format
    Script(ScriptArgs),
    /// Show how long threads ran, waited for a CPU, and waited for anything else
    Sched(SchedArgs),
    /// Show how long threads waited for a CPU, in perf sched latency's format
    #[command(hide = true, name = SCHED_LATENCY, bin_name = "rprof sched latency", override_usage = "rprof sched latency [OPTIONS] [FILE]")]
    SchedLatency(LatencyArgs),
    /// Show which thread each CPU runs, switch by switch, in perf sched map's format
    #[command(hide = true, name = SCHED_MAP, bin_name = "rprof sched map", override_usage = "rprof sched map [OPTIONS] [FILE]")]
    SchedMap(MapArgs),
    /// Show each run of each thread, in perf sched timehist's format
    #[command(hide = true, name = SCHED_TIMEHIST, bin_name = "rprof sched timehist", override_usage = "rprof sched timehist [OPTIONS] [FILE]")]
    SchedTimehist(TimehistArgs),
    /// Show what the end of a program waited for, and which functions are worth making faster
    Critical(CriticalArgs),
    /// Trace system calls: print each as it happens, or count them by thread
    Trace(Box<TraceArgs>),
    /// Show which locks threads waited for, how long, and who held them
    Lock(LockArgs),
    /// Print every record of a recording in file order
    Dump(DumpArgs),
    /// Show where each binary's symbols come from, or why they are missing; embed them in the file
    Symbols(SymbolsArgs),
    /// Show a summary of a recording: events, machine, number of records of each type
    Info(DumpArgs),
    /// List the events available on this machine
    List(ListArgs),
    /// Check whether profiling works here, and how to fix it
    Doctor(DoctorArgs),
    /// Print shell completions
    Completions(CompletionsArgs),
    /// Show the help of a command, or write man pages
    Help(HelpArgs),
}

impl Command {
    /// Whether the command waits for other processes until a signal ends it.
    pub(crate) fn is_waiting(&self) -> bool {
        #[cfg(feature = "push")]
        if matches!(self, Self::Push(_)) {
            return true;
        }
        matches!(
            self,
            Self::Record(_) | Self::Stat(_) | Self::StatRecord(_) | Self::Top(_) | Self::Trace(_)
        )
    }
}

#[derive(Debug, clap::Args)]
pub(crate) struct DumpArgs {
    #[command(flatten)]
    pub(crate) recording: Recording,

    #[command(flatten)]
    pub(crate) limits: LimitArgs,

    /// Print JSON (docs: crates/JSON.md)
    #[arg(long)]
    pub(crate) json: bool,

    #[command(flatten)]
    pub(crate) paging: PagerArgs,
}

#[cfg(test)]
mod tests;
