//! How to show code without symbols.

/// Shared by all commands that count by function.
#[derive(Clone, Copy, Debug, clap::Args)]
#[group(id = "samples/fde")]
pub(crate) struct FdeArgs {
    /// Do not use .eh_frame to find functions without symbols: show them by address, and as [unknown] in stacks, as
    /// perf does
    #[arg(long)]
    pub(crate) no_fde: bool,
}
