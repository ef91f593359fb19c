//! The arguments of `rprof annotate`.

use super::{FdeArgs, ListingArgs, SampleArgs, examples};
use crate::screen::PagerArgs;
use clap::ValueEnum;
use rprof_annotate::PercentType;
use rprof_disassembly::Syntax;
use rprof_profile::{FilterError, NameList};
use std::path::{Path, PathBuf};

#[derive(Debug, clap::Args)]
#[command(after_help = examples::of_annotate())]
pub(crate) struct AnnotateArgs {
    /// Function to show: its name, mangled or not, a pattern such as 'std::*', or NAME@0xSTART of several with one name
    /// [default: the hottest functions, one after the other]
    #[arg(value_name = "SYMBOL")]
    plain: Option<String>,

    /// The same (perf's flag)
    #[arg(short = 's', long, value_name = "SYMBOL", conflicts_with = "plain")]
    symbol: Option<String>,

    /// Recording to read: a file, a directory, or - for standard input
    #[arg(short = 'i', long, value_name = "FILE", default_value = "perf.data")]
    input: PathBuf,

    #[command(flatten)]
    pub(crate) samples: SampleArgs,

    #[command(flatten)]
    pub(crate) fde: FdeArgs,

    /// Only samples whose recorded stack has one of these functions further out (stacks by frame pointers miss callers
    /// of functions that make no frame)
    #[arg(help_heading = "Filters", long, value_name = "NAMES", value_parser = parse_callers)]
    pub(crate) caller: Vec<NameList>,

    /// Without a function: as many of the hottest ones as have this share of the samples
    #[arg(long, value_name = "PERCENT", default_value_t = 80.0, value_parser = super::report::parse_percent)]
    pub(crate) share: f64,

    /// Without a function: none below this percentage of all samples
    #[arg(long, value_name = "PERCENT", default_value_t = 1.0, value_parser = super::report::parse_percent)]
    pub(crate) percent_limit: f64,

    /// What percentages are of: the function's or all samples (local, global), by weight or number (period, hits)
    #[arg(long, value_enum, value_name = "TYPE", default_value = "local-period")]
    pub(crate) percent_type: PercentOf,

    /// Events side by side (always; for compatibility with perf)
    #[arg(long)]
    pub(crate) group: bool,

    #[command(flatten)]
    pub(crate) listing: ListingArgs,

    /// How instructions of x86 are written: att or intel
    #[arg(
        short = 'M',
        long,
        value_enum,
        value_name = "STYLE",
        default_value = "att"
    )]
    pub(crate) disassembler_style: Style,

    /// Only the code: no warnings
    #[arg(help_heading = "Output", short = 'q', long)]
    pub(crate) quiet: bool,

    /// Plain text to stdout (always; for compatibility with perf)
    #[arg(long, alias = "stdio2")]
    pub(crate) stdio: bool,

    /// For compatibility with perf: whose file it is does not matter
    #[arg(short = 'f', long, hide = true)]
    pub(crate) force: bool,

    #[command(flatten)]
    pub(crate) paging: PagerArgs,
}

impl AnnotateArgs {
    /// The function that is asked for.
    pub(crate) fn function(&self) -> Option<&str> {
        self.plain.as_deref().or(self.symbol.as_deref())
    }

    pub(crate) fn recording(&self) -> &Path {
        &self.input
    }

    /// Whose callees count; all if there are none.
    pub(crate) fn callers(&self) -> NameList {
        NameList::of_all(&self.caller)
    }
}

/// perf's words of what percentages are of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum PercentOf {
    LocalPeriod,
    LocalHits,
    GlobalPeriod,
    GlobalHits,
}

impl From<PercentOf> for PercentType {
    fn from(percent: PercentOf) -> Self {
        match percent {
            PercentOf::LocalPeriod => Self::LocalPeriod,
            PercentOf::LocalHits => Self::LocalHits,
            PercentOf::GlobalPeriod => Self::GlobalPeriod,
            PercentOf::GlobalHits => Self::GlobalHits,
        }
    }
}

/// The styles of `objdump -M`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Style {
    /// Sources first, registers with %
    Att,
    /// The destination first
    Intel,
}

impl From<Style> for Syntax {
    fn from(style: Style) -> Self {
        match style {
            Style::Att => Self::Att,
            Style::Intel => Self::Intel,
        }
    }
}

fn parse_callers(text: &str) -> Result<NameList, FilterError> {
    super::filters::parse_names(text)
}
