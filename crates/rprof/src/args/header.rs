//! What a recording says of itself, before or instead of what is in it.

/// Whether and how much of the header is shown.
#[derive(Debug, clap::Args)]
pub(crate) struct HeaderArgs {
    /// Also show machine, command line and events, as comments at the beginning
    #[arg(long)]
    header: bool,

    /// Show only those
    #[arg(long)]
    pub(crate) header_only: bool,

    /// Show all of them: topologies and caches, too
    #[arg(short = 'I', long)]
    pub(crate) show_info: bool,
}

impl HeaderArgs {
    pub(crate) fn is_shown(&self) -> bool {
        self.header || self.header_only || self.show_info
    }
}
