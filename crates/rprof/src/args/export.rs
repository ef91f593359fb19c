//! The arguments of `rprof export`.

use super::{FdeArgs, FoldArgs, InputArgs, StrictArgs, examples};
use clap::ValueEnum;
use std::path::PathBuf;

#[derive(Debug, clap::Args)]
#[command(after_help = examples::of_export())]
pub(crate) struct ExportArgs {
    #[command(flatten)]
    pub(crate) input: InputArgs,

    #[command(flatten)]
    pub(crate) fde: FdeArgs,

    #[command(flatten)]
    pub(crate) fold: FoldArgs,

    #[command(flatten)]
    pub(crate) strict: StrictArgs,

    /// What to write [default: by the ending of -o: .html, .json.gz, .speedscope.json, .pb.gz,
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

    /// A page of what changed since the recording BEFORE: more is orange, less is blue
    #[arg(long, value_name = "BEFORE")]
    pub(crate) against: Option<PathBuf>,
}

/// The formats of other viewers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ExportFormat {
    /// A page for any browser, offline: flame graphs, tables, threads, heat map; in one file
    Html,
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
