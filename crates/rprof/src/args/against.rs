//! `--against`: the recording to compare with.

use clap::ValueEnum;
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
        conflicts_with = "folded"
    )]
    width_by: WidthByName,

    /// With --against, compare amounts per run, amounts per second recorded, or shares of each side's event [default:
    /// as rprof diff: run for commands that ran to completion, else time]
    #[arg(long, value_name = "MEASURE", requires = "against")]
    per: Option<Measure>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum WidthByName {
    After,
    Before,
    Change,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Measure {
    Run,
    Time,
    Event,
}

impl AgainstArgs {
    pub(crate) fn width_by(&self) -> WidthBy {
        match self.width_by {
            WidthByName::After => WidthBy::After,
            WidthByName::Before => WidthBy::Before,
            WidthByName::Change => WidthBy::Change,
        }
    }

    /// The requested comparison.
    pub(crate) fn per(&self) -> Option<Per> {
        self.per.map(|measure| match measure {
            Measure::Run => Per::Run,
            Measure::Time => Per::Time,
            Measure::Event => Per::Event,
        })
    }
}
