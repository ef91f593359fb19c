//! Flags of perf's that rprof takes, but that change little or nothing.

use clap::ArgAction;

/// perf's flags for what is always so, or that leave something out.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "For compatibility with perf")]
pub(crate) struct CompatArgs {
    /// Record the time of each sample (always on)
    #[arg(short = 'T', long)]
    timestamp: bool,

    /// Record the CPU of each sample (always on)
    #[arg(long)]
    sample_cpu: bool,

    /// Begin samples with their event's id (always on)
    #[arg(long)]
    sample_identifier: bool,

    /// Record the times of the first and last sample (always on)
    #[arg(long)]
    timestamp_boundary: bool,

    /// Record build ids in mmap records (always on); with -a the kernel adds them, and a perf that runs at the same
    /// time may fail
    #[arg(long)]
    pub(crate) buildid_mmap: bool,

    /// Record build ids of all mapped files, with or without samples (always on)
    #[arg(long)]
    buildid_all: bool,

    /// Do not copy binaries into ~/.debug (never done)
    #[arg(short = 'N', long)]
    no_buildid_cache: bool,

    /// Leave out rprof's own samples (always on, unless --include-self); for tracepoints of the preceding -e, the
    /// kernel filters them
    // Each has its place.
    #[arg(
        long,
        action = ArgAction::Append,
        num_args = 0,
        default_missing_value = "",
        conflicts_with = "include_self"
    )]
    exclude_perf: Vec<String>,

    /// Do not record BPF program events
    #[arg(long)]
    pub(crate) no_bpf_event: bool,
}
