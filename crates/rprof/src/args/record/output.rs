//! Where samples go.

use std::path::PathBuf;

#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Output")]
pub(crate) struct OutputArgs {
    /// File to write (an older one is kept as NAME.old), or - for a pipe on standard output: the
    /// command then prints to standard error
    #[arg(short = 'o', long, value_name = "FILE", default_value = "perf.data")]
    pub(crate) output: PathBuf,

    /// Size of each CPU's ring: pages (a power of two), or with a unit such as 512K
    #[arg(short = 'm', long, value_name = "PAGES", allow_negative_numbers = true)]
    pub(crate) mmap_pages: Option<String>,

    /// Put the names of all sampled code into the file: it opens anywhere with its names
    #[arg(long)]
    pub(crate) embed_symbols: bool,
}
