//! Arguments of `rprof doctor`.

/// The output format of `rprof doctor`.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Exit status: 0 if your own programs can be profiled completely, including the kernel; 1 if a \
                  profile would lack something; 3 if profiling is not possible."
)]
pub(crate) struct DoctorArgs {
    /// Print JSON (docs: crates/JSON.md)
    #[arg(long)]
    pub(crate) json: bool,
}
