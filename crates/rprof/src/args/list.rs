//! Arguments of `rprof list`.

use crate::screen::PagerArgs;
use std::path::PathBuf;

/// The arguments of `rprof list`.
#[derive(Debug, clap::Args)]
pub(crate) struct ListArgs {
    /// Event types (hw, sw, cache, pmu, raw, breakpoint, probe, tracepoint; with --path uprobe, usdt), parts of names,
    /// or patterns with * and ?
    #[arg(value_name = "WORD")]
    pub(crate) words: Vec<String>,

    /// Instead of events, list the functions and USDT markers of this file that can be probed
    #[arg(long, value_name = "FILE")]
    pub(crate) path: Option<PathBuf>,

    /// Show tracepoint fields
    #[arg(short = 'v', long, visible_alias = "long-desc")]
    pub(crate) fields: bool,

    /// Print JSON (docs: crates/JSON.md)
    #[arg(long, visible_short_alias = 'j')]
    pub(crate) json: bool,

    #[command(flatten)]
    pub(crate) paging: PagerArgs,
}
