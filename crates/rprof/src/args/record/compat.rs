//! Flags of perf's that rprof takes, but that change little or nothing.

use clap::ArgAction;

/// perf's flags for what is always so, or that leave something out.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "For compatibility with perf")]
pub(crate) struct CompatArgs {
    /// Samples have their time (always)
    #[arg(short = 'T', long)]
    timestamp: bool,

    /// Samples have their CPU (always)
    #[arg(long)]
    sample_cpu: bool,

    /// Samples begin with the id of their event (always)
    #[arg(long)]
    sample_identifier: bool,

    /// The file has the times of the first and the last sample (always)
    #[arg(long)]
    timestamp_boundary: bool,

    /// Mappings have build ids (always); with -a, from the kernel: perf may fail meanwhile
    #[arg(long)]
    pub(crate) buildid_mmap: bool,

    /// Build ids of all that is mapped, hit or not (always)
    #[arg(long)]
    buildid_all: bool,

    /// Copy no binaries into ~/.debug (never done)
    #[arg(short = 'N', long)]
    no_buildid_cache: bool,

    /// Leave out rprof's own samples (always, unless --include-self); of tracepoints of the -e before it, the
    /// kernel does it
    // Each has its place.
    #[arg(
        long,
        action = ArgAction::Append,
        num_args = 0,
        default_missing_value = "",
        conflicts_with = "include_self"
    )]
    exclude_perf: Vec<String>,

    /// Record no loading of BPF programs
    #[arg(long)]
    pub(crate) no_bpf_event: bool,
}
