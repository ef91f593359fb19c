//! The arguments of `rprof annotate`.

use super::choice::{Choice, one_of};
use super::{FdeArgs, ListingArgs, Recordings, SampleArgs};
use crate::screen::PagerArgs;
use rprof_analysis::{CodeOptions, WantedFunction};
use rprof_annotate::PercentType;
use rprof_disassembly::Syntax;
use rprof_perfdata::FileHeader;
use rprof_profile::{FilterError, NameList};
use rprof_untrusted::quoted;
use std::ffi::OsStr;
use std::io::Read;
use std::path::{Path, PathBuf};

/// The recording, unless another one is named.
const DEFAULT_INPUT: &str = "perf.data";

/// Shown at the end of `--help`.
const EXAMPLES: &str = "\
Examples:
  rprof annotate                                the hottest functions
  rprof annotate main                           main, with source lines
  rprof annotate -M intel --no-source 'std::*'  a pattern, in Intel syntax
  rprof annotate memcpy --caller parse          only calls from parse
  rprof annotate main --by line                 source lines only
  rprof annotate -i a.data -i b.data main       main, samples of two recordings";

#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct AnnotateArgs {
    /// Function to show: its name (mangled or not), a pattern such as 'std::*', or NAME@0xSTART to choose one of
    /// several with the same name, unless one has nearly all samples [default: the hottest functions]
    #[arg(value_name = "SYMBOL", value_parser = parse_function)]
    plain: Option<WantedFunction>,

    /// Same as SYMBOL (perf's flag)
    #[arg(short = 's', long, value_name = "SYMBOL", conflicts_with = "plain", value_parser = parse_function)]
    symbol: Option<WantedFunction>,

    /// Recording to read: a file, a directory, or - for stdin. May be repeated: samples of all count, in the code that
    /// the first one has or files of the same build IDs
    #[arg(short = 'i', long, value_name = "FILE", default_value = DEFAULT_INPUT)]
    input: Vec<PathBuf>,

    #[command(flatten)]
    pub(crate) samples: SampleArgs,

    #[command(flatten)]
    pub(crate) fde: FdeArgs,

    /// Keep samples with one of these functions among the callers (frame-pointer stacks miss the callers of functions
    /// without a frame)
    #[arg(help_heading = "Filters", long, value_name = "NAMES", value_parser = parse_callers)]
    pub(crate) caller: Vec<NameList>,

    /// Of inlined code, show what is in these functions: names, or patterns such as '*' for all [default: those with 80
    /// % of its samples]
    #[arg(long, value_name = "NAMES", value_parser = parse_callers)]
    pub(crate) into: Option<NameList>,

    /// Without SYMBOL, show the hottest functions that together have this percentage of the samples
    #[arg(long, value_name = "PERCENT", default_value_t = 80.0, value_parser = super::report::parse_percent)]
    pub(crate) share: f64,

    /// Without SYMBOL, show no functions below this percentage of all samples
    #[arg(long, value_name = "PERCENT", default_value_t = 1.0, value_parser = super::report::parse_percent)]
    pub(crate) percent_limit: f64,

    /// Base of percentages: the function's samples (local) or all samples (global), by weight (period) or number
    /// (hits)
    #[arg(long, value_name = "TYPE", default_value = "local-period", value_parser = one_of(PERCENT_TYPES))]
    pub(crate) percent_type: PercentType,

    /// Show events side by side (always on; for compatibility with perf)
    #[arg(long)]
    pub(crate) group: bool,

    #[command(flatten)]
    pub(crate) listing: ListingArgs,

    /// Syntax of x86 instructions
    #[arg(short = 'M', long, value_name = "STYLE", default_value = "att", value_parser = one_of(STYLES))]
    pub(crate) disassembler_style: Syntax,

    /// Print plain text to stdout (always on; for compatibility with perf)
    #[arg(long, alias = "stdio2")]
    pub(crate) stdio: bool,

    /// For compatibility with perf: do not check the owner of the file
    #[arg(short = 'f', long, hide = true)]
    pub(crate) force: bool,

    #[command(flatten)]
    pub(crate) paging: PagerArgs,
}

impl AnnotateArgs {
    /// The arguments for code on a screen: `rprof annotate`'s defaults, with the same files.
    pub(crate) fn of_screen(
        recording: Option<&Path>,
        symfs: Option<&Path>,
    ) -> anyhow::Result<Self> {
        use super::{Args, Command};
        use clap::Parser;
        // Whole lines without colours: they can be moved sideways, and are coloured on the screen.
        let words = ["rprof", "annotate", "--stdio-color=never", "--full-names"];
        let mut words: Vec<std::ffi::OsString> = words.map(Into::into).into();
        for (flag, path) in [("-i", recording), ("--symfs", symfs)] {
            if let Some(path) = path {
                words.extend([flag.into(), path.into()]);
            }
        }
        match Args::try_parse_from(words)?.command {
            Command::Annotate(args) => Ok(*args),
            _ => anyhow::bail!("rprof annotate shows code"),
        }
    }

    /// The requested function.
    pub(crate) fn function(&self) -> Option<&WantedFunction> {
        self.plain.as_ref().or(self.symbol.as_ref())
    }

    /// Which samples count, and how to name functions.
    pub(crate) fn options(&self) -> CodeOptions {
        CodeOptions {
            filter: self.samples.filter(),
            callers: NameList::of_all(&self.caller),
            event: None,
            fde: !self.fde.no_fde,
            demangling: self.samples.demangling(),
        }
    }

    pub(crate) fn recordings(&self) -> Recordings {
        Recordings::new(self.input.clone())
    }
}

/// The words of `--percent-type`.
const PERCENT_TYPES: &[Choice<PercentType>] = &[
    ("local-period", "", PercentType::LocalPeriod),
    ("local-hits", "", PercentType::LocalHits),
    ("global-period", "", PercentType::GlobalPeriod),
    ("global-hits", "", PercentType::GlobalHits),
];

/// The styles of `objdump -M`.
const STYLES: &[Choice<Syntax>] = &[
    (
        "att",
        "Source operands first, registers with %",
        Syntax::Att,
    ),
    ("intel", "Destination operand first", Syntax::Intel),
];

fn parse_callers(text: &str) -> Result<NameList, FilterError> {
    super::filters::parse_names(text)
}

fn parse_function(text: &str) -> Result<WantedFunction, FilterError> {
    // All other readers take a recording as a plain word.
    if is_recording(Path::new(text)) {
        let file = quoted(OsStr::new(text));
        let why = format!(
            "this is a recording: use rprof annotate -i {file} to show its hottest functions"
        );
        return Err(FilterError(why));
    }
    WantedFunction::parse(text, super::filters::read_names)
}

/// Whether a file, or the one with the records in a directory, begins as recordings do.
fn is_recording(path: &Path) -> bool {
    let path = if path.is_dir() {
        path.join("data")
    } else {
        path.to_owned()
    };
    let mut magic = [0; 8];
    let read = rprof_untrusted::open(&path).and_then(|(mut file, _)| file.read_exact(&mut magic));
    read.is_ok() && FileHeader::endian_of(magic).is_some()
}
