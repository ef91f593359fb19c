//! The arguments of `rprof flame`.

use super::choice::{Choice, one_of};
use super::{AgainstArgs, CommandArgs, FoldArgs, InputArgs, KeepArgs, StrictArgs};
use rprof_base::Share;
use rprof_profile::NodeKey;
use rprof_report::{FlameOptions, FlamePalette};
use std::path::PathBuf;

/// Shown at the end of `--help`.
const EXAMPLES: &str = "\
Examples:
  rprof flame > flame.svg                   draw perf.data
  rprof flame --open -- COMMAND             record COMMAND, draw it, open it
  rprof flame --reverse -c cc1 > cc1.svg    innermost functions of cc1 threads
  rprof flame --folded | sort -k2 -n        stacks as text
  rprof flame --against old.data > new.svg  what changed";

#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct FlameArgs {
    #[command(flatten)]
    pub(crate) input: InputArgs,

    #[command(flatten)]
    pub(crate) keep: KeepArgs,

    #[command(flatten)]
    pub(crate) fold: FoldArgs,

    #[command(flatten)]
    pub(crate) strict: StrictArgs,

    /// Output file, or - for stdout [default: stdout; flame.svg if stdout is a terminal, or if a command is recorded]
    #[arg(short = 'o', long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,

    /// Open the flame graph with $BROWSER or xdg-open
    #[arg(long, conflicts_with = "folded")]
    pub(crate) open: bool,

    /// Print folded stacks for FlameGraph tools instead; thread names are unchanged
    #[arg(
        long,
        conflicts_with_all = ["title", "subtitle", "width", "min_width", "palette", "reverse", "inverted"]
    )]
    pub(crate) folded: bool,

    /// Do not merge threads whose names differ only in digits (by default, <N> replaces the digits)
    #[arg(long)]
    pub(crate) threads: bool,

    /// Use functions, addresses or source lines as frames; addresses and lines separate the calls of one function
    #[arg(long, value_name = "KEY", value_parser = one_of(FRAME_KEYS), default_value = "function")]
    pub(crate) frames: NodeKey,

    /// Title of the flame graph
    #[arg(long)]
    pub(crate) title: Option<String>,

    /// Line below the title
    #[arg(long)]
    pub(crate) subtitle: Option<String>,

    /// Width of the flame graph [default: the browser window's]
    #[arg(long, value_name = "PIXELS", value_parser = clap::value_parser!(u32).range(100..=100_000))]
    pub(crate) width: Option<u32>,

    /// Omit frames narrower than this: percent of the width, or pixels such as 0.5px; 0 draws all [default: 0.01, or
    /// more to draw at most 20000 frames]
    #[arg(long, value_name = "PERCENT", value_parser = MinWidth::parse)]
    pub(crate) min_width: Option<MinWidth>,

    #[arg(
        long,
        value_name = "NAME",
        default_value = "java",
        value_parser = parse_palette,
        help = palette_help()
    )]
    pub(crate) palette: FlamePalette,

    /// Start with the innermost functions, with their callers above
    #[arg(long)]
    pub(crate) reverse: bool,

    /// Grow from top to bottom (icicle graph)
    #[arg(long)]
    pub(crate) inverted: bool,

    /// Draw a flame chart: each thread's samples in time order, consecutive equal frames merged
    #[arg(long, conflicts_with_all = ["folded", "reverse", "threads", "fold", "ignore_callees", "keep_stacks", "against"])]
    pub(crate) flamechart: bool,

    /// Event to draw, if the recording has several [default: the first]; with a command, event to record
    #[arg(short = 'e', long, value_name = "EVENT")]
    pub(crate) event: Option<String>,

    #[command(flatten)]
    pub(crate) against: AgainstArgs,

    // Its heading would be that of all that follows.
    #[command(flatten)]
    pub(crate) command: CommandArgs,
}

/// The keys by which frames are merged, in perf's words.
const FRAME_KEYS: &[Choice<NodeKey>] = &[
    ("function", "", NodeKey::Function),
    ("address", "", NodeKey::Address),
    ("srcline", "", NodeKey::Srcline),
];

/// The narrowest frame that is drawn.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum MinWidth {
    Percent(f64),
    Pixels(f64),
}

impl MinWidth {
    fn parse(text: &str) -> Result<Self, String> {
        let (number, make): (_, fn(f64) -> Self) = match text.strip_suffix("px") {
            Some(pixels) => (pixels, Self::Pixels),
            None => (text.strip_suffix('%').unwrap_or(text), Self::Percent),
        };
        match number.parse() {
            Ok(number) if (0.0..=100.0).contains(&number) => Ok(make(number)),
            _ => Err("expected percent, or pixels with px, from 0 to 100".to_owned()),
        }
    }

    /// The share of a picture's width.
    pub(crate) fn of(self, width: Option<u32>) -> Share {
        let usual = u32::try_from(FlameOptions::USUAL_WIDTH).unwrap_or(u32::MAX);
        Share::from_percent(match self {
            Self::Percent(percent) => percent,
            Self::Pixels(pixels) => 100.0 * pixels / f64::from(width.unwrap_or(usual)),
        })
    }
}

fn parse_palette(name: &str) -> Result<FlamePalette, String> {
    let all = || format!("expected one of {}", FlamePalette::NAMES.join(", "));
    FlamePalette::named(name).ok_or_else(all)
}

fn palette_help() -> String {
    format!(
        "Colours: {} (java distinguishes kernel, inlined and JIT code)",
        FlamePalette::NAMES.join(", ")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn widths_are_percent_or_pixels() {
        for (text, width, percent) in [
            ("0", None, 0.0),
            ("0.5", None, 0.5),
            ("2%", Some(600), 2.0),
            ("12px", None, 1.0),
            ("12px", Some(600), 2.0),
        ] {
            let share = MinWidth::parse(text).unwrap().of(width);
            assert_eq!(share, Share::from_percent(percent), "{text}");
        }
        for bad in ["", "x", "-1", "101", "NaN", "inf", "1 px", "px"] {
            assert!(MinWidth::parse(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn palettes_are_infernos() {
        assert_eq!(parse_palette("java"), Ok(FlamePalette::default()));
        assert!(parse_palette("pink").unwrap_err().contains("orange, perl"));
    }
}
