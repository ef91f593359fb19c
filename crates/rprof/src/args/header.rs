//! The header of a recording, printed before or instead of its samples.

/// Whether and how much of the header is shown.
#[derive(Debug, clap::Args)]
#[group(id = "header/header")]
pub(crate) struct HeaderArgs {
    /// Also print the header first, as comments: machine, command line and events
    #[arg(long)]
    header: bool,

    /// Print only the header
    #[arg(long)]
    pub(crate) header_only: bool,

    /// Print the full header, including topologies and caches
    #[arg(short = 'I', long)]
    pub(crate) show_info: bool,
}

impl HeaderArgs {
    pub(crate) fn is_shown(&self) -> bool {
        self.header || self.header_only || self.show_info
    }
}
