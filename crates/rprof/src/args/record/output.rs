//! Where samples go.

use std::path::PathBuf;

#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Output")]
pub(crate) struct OutputArgs {
    /// Output file (an existing one is renamed to NAME.old), or - to write to a pipe on stdout; the command's stdout
    /// then goes to stderr
    #[arg(short = 'o', long, value_name = "FILE", default_value = "perf.data")]
    pub(crate) output: PathBuf,

    /// Size of each CPU's ring buffer: pages (a power of two), or a size with a unit, such as 512K
    #[arg(short = 'm', long, value_name = "PAGES", allow_negative_numbers = true)]
    pub(crate) mmap_pages: Option<String>,

    /// Embed the symbols of all sampled code in the file, so that it can be read on any machine
    #[arg(long)]
    pub(crate) embed_symbols: bool,
}
