//! How code without names is told apart.

/// The same for all that count by function.
#[derive(Clone, Copy, Debug, clap::Args)]
pub(crate) struct FdeArgs {
    /// Code without symbols as perf shows it: by address, in stacks [unknown]; not by function,
    /// whose starts .eh_frame tells
    #[arg(long)]
    pub(crate) no_fde: bool,
}
