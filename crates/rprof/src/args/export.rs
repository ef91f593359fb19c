//! The arguments of `rprof export`.

use super::{FoldArgs, InputArgs, PageCodeArgs, StrictArgs};
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use rprof_export::{ExportFormat, FORMATS};
use std::path::PathBuf;

/// Shown at the end of `--help`.
const EXAMPLES: &str = "\
Examples:
  rprof export -o profile.html             open it in a browser, offline
  rprof export --no-source -o page.html    without the text of source files
  rprof export --against old -o new.html   what changed
  rprof export -o profile.json.gz          open it in profiler.firefox.com
  rprof export -o work.speedscope.json     www.speedscope.app, npx speedscope
  rprof export -o work.pftrace             ui.perfetto.dev
  rprof export -o work.pb.gz               go tool pprof -http=: work.pb.gz
  rprof export -o work.callgrind           kcachegrind, callgrind_annotate
  rprof export -o work.folded              flamegraph.pl, inferno-flamegraph
  rprof export --format json | jq .events  JSON (docs: crates/JSON.md)";

/// With those of formats that not every build has.
fn examples() -> String {
    let tables = if cfg!(feature = "parquet") {
        "\n  rprof export --format parquet -o dir     DuckDB, Spark, ClickHouse (crates/export/PARQUET.md)"
    } else {
        ""
    };
    format!("{EXAMPLES}{tables}")
}

#[derive(Debug, clap::Args)]
#[command(after_help = examples())]
pub(crate) struct ExportArgs {
    #[command(flatten)]
    pub(crate) input: InputArgs,

    #[command(flatten)]
    pub(crate) fold: FoldArgs,

    #[command(flatten)]
    pub(crate) strict: StrictArgs,

    #[arg(long, value_name = "FORMAT", value_parser = formats(), help = format_help())]
    pub(crate) format: Option<&'static ExportFormat>,

    /// Output file, or - for stdout [default: -]
    #[arg(short = 'o', long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,

    /// Event to write as folded stacks, if the recording has several [default: the first]; other formats contain all
    /// events, pages without those that record --off-cpu adds
    #[arg(short = 'e', long, value_name = "EVENT")]
    pub(crate) event: Option<String>,

    /// Write a page of what changed since the recording BEFORE: orange for more, blue for less
    #[arg(long, value_name = "BEFORE")]
    pub(crate) against: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) code: PageCodeArgs,
}

/// Reads the name of a format.
fn formats() -> impl TypedValueParser<Value = &'static ExportFormat> {
    let names = FORMATS
        .iter()
        .map(|format| PossibleValue::new(format.name).help(format.about));
    // Elsewhere it is a format, so that it is not a typing error here.
    let left_out = (!cfg!(feature = "parquet")).then(|| PossibleValue::new("parquet").hide(true));
    PossibleValuesParser::new(names.chain(left_out)).try_map(|name| {
        let named = FORMATS.iter().find(|format| format.name == name);
        named.ok_or(
            "this build has no Parquet: use a release of rprof, or cargo install with --features parquet",
        )
    })
}

fn format_help() -> String {
    let endings = FORMATS.iter().filter_map(|format| format.endings.first());
    let endings: Vec<&str> = endings.copied().collect();
    format!(
        "Output format [default: from the file name of -o: {}]",
        endings.join(", ")
    )
}
