//! `--against`: the recording to compare with.

use super::choice::{Choice, one_of};
use clap::builder::{PossibleValuesParser, TypedValueParser};
use rprof_diff::Per;
use rprof_report::WidthBy;
use std::path::PathBuf;

#[derive(Clone, Debug, clap::Args)]
pub(crate) struct AgainstArgs {
    /// Draw what changed since the recording BEFORE: orange for more, blue for less; with --folded, print each stack
    /// with its samples before and after
    #[arg(long, value_name = "BEFORE", conflicts_with = "palette")]
    pub(crate) against: Option<PathBuf>,

    /// With --against, set frame widths by the count after (removed frames keep their width from before), the count
    /// before (new frames keep their width from after), or the size of the change
    #[arg(
        long,
        value_name = "SIDE",
        default_value = "after",
        requires = "against",
        conflicts_with = "folded",
        value_parser = one_of(WIDTHS)
    )]
    pub(crate) width_by: WidthBy,

    /// With --against, compare amounts per run, amounts per second recorded, or shares of each side's event [default:
    /// as rprof diff: run for commands that ran to completion, else time]
    #[arg(long, value_name = "MEASURE", requires = "against", value_parser = measures())]
    pub(crate) per: Option<Per>,
}

/// The words of `--width-by`.
const WIDTHS: &[Choice<WidthBy>] = &[
    ("after", "", WidthBy::After),
    ("before", "", WidthBy::Before),
    ("change", "", WidthBy::Change),
];

/// The words of `--per`.
fn measures() -> impl TypedValueParser<Value = Per> {
    PossibleValuesParser::new(["run", "time", "event"]).map(|word| Per::parse(&word))
}
