//! Arguments of `rprof list`.

use crate::screen::PagerArgs;
use std::path::PathBuf;

/// What to list.
#[derive(Debug, clap::Args)]
pub(crate) struct ListArgs {
    /// Kinds (hw, sw, cache, pmu, raw, breakpoint, probe, tracepoint; of a file uprobe, usdt), and names:
    /// parts of them, or patterns with * and ?
    #[arg(value_name = "WORD")]
    pub(crate) words: Vec<String>,

    /// Show the functions and markers (USDT) of this file instead, as places of probes
    #[arg(long, value_name = "FILE")]
    pub(crate) path: Option<PathBuf>,

    /// Show the fields of tracepoints
    #[arg(short = 'v', long, visible_alias = "long-desc")]
    pub(crate) fields: bool,

    /// Print JSON (docs: crates/inspect/JSON.md)
    #[arg(long, visible_short_alias = 'j')]
    pub(crate) json: bool,

    #[command(flatten)]
    pub(crate) paging: PagerArgs,
}
