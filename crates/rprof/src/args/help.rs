//! Arguments of `rprof help`.

use std::path::PathBuf;

/// The command to explain, and the form of the help.
#[derive(Debug, clap::Args)]
pub(crate) struct HelpArgs {
    /// Command, such as record or stat report [default: rprof itself]
    #[arg(value_name = "COMMAND")]
    pub(crate) command: Vec<String>,

    /// Print the man page; with =DIR, write all man pages to that directory, such as ~/.local/share/man/man1
    #[arg(
        long,
        value_name = "DIR",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "-"
    )]
    pub(crate) man: Option<PathBuf>,
}
