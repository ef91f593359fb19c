//! The arguments of `rprof symbols`.

use super::limits::LimitArgs;
use super::recording::Recording;
use super::sources::SourceArgs;
use crate::screen::PagerArgs;
use rprof_locate::Locator;
use rprof_perfdata::Reader;
use std::path::PathBuf;

#[derive(Debug, clap::Args)]
pub(crate) struct SymbolsArgs {
    #[command(flatten)]
    pub(crate) recording: Recording,

    #[command(flatten)]
    sources: SourceArgs,

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

    #[command(flatten)]
    pub(crate) paging: PagerArgs,
}

impl SymbolsArgs {
    pub(crate) fn locator(&self, reader: &Reader) -> Locator {
        self.sources.locator(reader.budget())
    }
}
