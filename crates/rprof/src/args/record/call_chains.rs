//! Whether and how callers are recorded.

use super::CallGraph;

#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Call chains")]
pub(crate) struct CallChainArgs {
    /// Record callers (on by default)
    #[arg(short = 'g', overrides_with = "call_graph")]
    pub(crate) callers: bool,

    /// Record callers in this way: auto, dwarf[,BYTES], fp, lbr or none
    #[arg(
        long,
        value_name = "HOW",
        default_value = "auto",
        value_parser = CallGraph::parse,
        long_help = CallGraph::HELP
    )]
    pub(crate) call_graph: CallGraph,

    /// Do not use hardware watchpoints: stacks deeper than their dumps stay truncated
    #[arg(
        long,
        long_help = "Do not use hardware watchpoints: stacks deeper than their dumps stay truncated. \
                     Without this flag, rprof uses one of the four watchpoints of each thread whose stack is deeper \
                     than 64 KiB, to verify the rest of the stack, unless a debugger traces the thread or its \
                     process has perf events open"
    )]
    pub(crate) no_watchpoints: bool,

    /// Write stack dumps, and unwind them when the recording is read, not while recording
    #[arg(long)]
    pub(crate) post_unwind: bool,
}
