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

    /// Keep about N samples an hour, whose periods stand for all
    #[arg(
        long,
        value_name = "N",
        value_parser = numbers::samples,
        allow_negative_numbers = true,
        conflicts_with_all = ["overwrite", "flight", "branch_any", "branch_filter"],
        long_help = "Keep about N samples an hour, of all events and CPUs together. They are chosen at random, in \
            proportion to their periods, and the period of each is raised to stand for those that were dropped. So \
            sums of periods are unbiased, in perf, too, and numbers of samples are not. Dropped samples are neither \
            unwound nor written. The recording says how many were taken and kept"
    )]
    pub(crate) samples_per_hour: Option<u64>,
}
