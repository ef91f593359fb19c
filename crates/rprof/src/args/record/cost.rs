//! What a recording may cost.

#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Cost")]
pub(crate) struct CostArgs {
    /// The most CPU time that rprof itself may take, percent of one CPU
    #[arg(
        long,
        value_name = "N",
        value_parser = clap::value_parser!(u32).range(1..),
        long_help = "The most CPU time that rprof itself may take, percent of one CPU: 100 is one whole \
            CPU. It is measured four times a second. As long as it is too much, something more is given \
            up: large stack dumps, then unwinding (callers are found by frame pointers), then half of the \
            samples, again and again. It is said at the end, and in the file"
    )]
    pub(crate) cpu_percent: Option<u32>,
}
