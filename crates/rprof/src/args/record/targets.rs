//! Whom to record, and for how long.

#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Targets")]
pub(crate) struct TargetArgs {
    /// Everything on all CPUs
    #[arg(short = 'a', long, conflicts_with_all = ["pid", "tid"])]
    pub(crate) all_cpus: bool,

    /// Processes to watch, by id
    #[arg(
        short = 'p',
        long,
        value_name = "PID",
        value_delimiter = ',',
        conflicts_with = "tid"
    )]
    pub(crate) pid: Vec<i32>,

    /// With -p: also the child processes that run already, and their children
    #[arg(long, requires = "pid", conflicts_with = "tid")]
    pub(crate) children: bool,

    /// Threads to watch, by id
    #[arg(short = 't', long, value_name = "TID", value_delimiter = ',')]
    pub(crate) tid: Vec<i32>,

    /// Only on these CPUs, such as 0-3,8; without -p or -t: all that runs there
    #[arg(short = 'C', long, value_name = "CPUS")]
    pub(crate) cpu: Option<String>,

    /// With -a or -C: keep rprof's own samples
    #[arg(long)]
    pub(crate) include_self: bool,

    /// Stop after this many seconds
    #[arg(long, value_name = "SECONDS")]
    pub(crate) duration: Option<f64>,

    /// Wait for everything that the command started, not only for the command
    #[arg(long)]
    pub(crate) wait_all: bool,
}
