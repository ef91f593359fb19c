//! The arguments of `rprof flame`.

use super::{FdeArgs, InputArgs};

#[derive(Debug, clap::Args)]
pub(crate) struct FlameArgs {
    #[command(flatten)]
    pub(crate) input: InputArgs,

    #[command(flatten)]
    pub(crate) fde: FdeArgs,

    /// Print folded stacks instead, as FlameGraph tools read them
    #[arg(long)]
    pub(crate) folded: bool,

    /// Title of the picture
    #[arg(long)]
    pub(crate) title: Option<String>,

    /// Start from the innermost functions, with their callers above
    #[arg(long)]
    pub(crate) reverse: bool,

    /// Hang from the top (icicle graph)
    #[arg(long)]
    pub(crate) inverted: bool,

    /// Event to draw, of a recording with several [default: the first]
    #[arg(short = 'e', long, value_name = "EVENT")]
    pub(crate) event: Option<String>,
}
