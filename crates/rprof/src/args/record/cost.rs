//! What a recording may cost.

use super::numbers;

#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Cost")]
pub(crate) struct CostArgs {
    /// Limit rprof's own CPU time, in percent of one CPU
    #[arg(
        long,
        value_name = "N",
        value_parser = numbers::percent,
        allow_negative_numbers = true,
        long_help = "Limit rprof's own CPU time, in percent of one CPU: 100 is one whole CPU. It is measured \
            four times a second. While it is over the limit, rprof gives up more and more: first large stack \
            dumps, then unwinding (callers come from frame pointers), then half of the samples, repeatedly. \
            What was given up is reported at the end, and recorded in the file"
    )]
    pub(crate) cpu_percent: Option<u32>,
}
