//! The arguments of `rprof export`.

use super::{FoldArgs, InputArgs, StrictArgs};
use clap::ValueEnum;
use std::path::PathBuf;

/// Shown at the end of `--help`.
const EXAMPLES: &str = "\
Examples:
  rprof export -o profile.html             open it in a browser, offline
  rprof export --against old -o new.html   what changed
  rprof export -o profile.json.gz          open it in profiler.firefox.com
  rprof export -o work.speedscope.json     www.speedscope.app, npx speedscope
  rprof export -o work.pb.gz               go tool pprof -http=: work.pb.gz
  rprof export -o work.callgrind           kcachegrind, callgrind_annotate
  rprof export -o work.folded              flamegraph.pl, inferno-flamegraph
  rprof export --format json | jq .events  JSON (docs: crates/export/JSON.md)";

#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct ExportArgs {
    #[command(flatten)]
    pub(crate) input: InputArgs,

    #[command(flatten)]
    pub(crate) fold: FoldArgs,

    #[command(flatten)]
    pub(crate) strict: StrictArgs,

    /// Output format [default: from the file name of -o: .html, .json.gz, .speedscope.json, .pb.gz, .callgrind,
    /// .folded, .json]
    #[arg(long, value_enum, value_name = "FORMAT")]
    pub(crate) format: Option<ExportFormat>,

    /// Output file, or - for stdout [default: -]
    #[arg(short = 'o', long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,

    /// Event to write as folded stacks, if the recording has several [default: the first]; other formats contain all
    /// events
    #[arg(short = 'e', long, value_name = "EVENT")]
    pub(crate) event: Option<String>,

    /// Write a page of what changed since the recording BEFORE: orange for more, blue for less
    #[arg(long, value_name = "BEFORE")]
    pub(crate) against: Option<PathBuf>,
}

/// The formats of other viewers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ExportFormat {
    /// One HTML file that any browser opens offline: flame graphs, tables, threads, heat map
    Html,
    /// Firefox Profiler: thread tracks, flame graphs, markers; compressed
    Firefox,
    /// speedscope: a flame chart per thread
    Speedscope,
    /// pprof: tables, graphs, flame graphs; compressed
    Pprof,
    /// Callgrind: costs of lines and calls, for KCachegrind
    Callgrind,
    /// One line per stack with its sample count, for flame graph tools
    Folded,
    /// The profile itself: a tree of stacks with counts, and profile quality
    Json,
}
