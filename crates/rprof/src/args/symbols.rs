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

    /// Also show binaries without samples
    #[arg(long, conflicts_with = "embed")]
    pub(crate) all: bool,

    /// Print JSON (docs: crates/JSON.md)
    #[arg(long, conflicts_with = "embed")]
    pub(crate) json: bool,

    /// Embed the symbols of all sampled code in the recording, so that it can be read on any machine
    #[arg(long)]
    pub(crate) embed: bool,

    /// Write a new file with the symbols, also for truncated recordings and recordings from pipes
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
