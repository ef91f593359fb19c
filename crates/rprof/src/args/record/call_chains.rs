//! Whether and how samples hold their callers.

use super::CallGraph;

#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Call chains")]
pub(crate) struct CallChainArgs {
    /// Record callers (on by default)
    #[arg(short = 'g', overrides_with = "call_graph")]
    pub(crate) callers: bool,

    /// How to record callers: auto, dwarf[,BYTES], fp, lbr or none
    #[arg(
        long,
        value_name = "HOW",
        default_value = "auto",
        value_parser = CallGraph::parse,
        long_help = CallGraph::HELP
    )]
    pub(crate) call_graph: CallGraph,

    /// Leave all debug registers to others: stacks deeper than their dumps stay truncated
    #[arg(
        long,
        long_help = "Leave all debug registers to others: stacks deeper than their dumps stay truncated. \
                     Without this, a thread whose stack is deeper than 64 KiB lends one of its four hardware \
                     watchpoints to prove the rest of its stack, unless a debugger traces it or its process \
                     has perf events open"
    )]
    pub(crate) no_watchpoints: bool,

    /// Write stack dumps instead of unwinding while recording: they are unwound when read
    #[arg(long)]
    pub(crate) post_unwind: bool,
}
