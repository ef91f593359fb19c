//! Which function gets the self time of inlined code.

use rprof_profile::SelfTime;

/// Shared by all commands that print rows.
#[derive(Clone, Copy, Debug, clap::Args)]
#[group(id = "samples/self_time")]
pub(crate) struct SelfTimeArgs {
    /// Count samples in inlined code as self time of the symbol it was inlined into, as perf does, not of the inlined
    /// function
    #[arg(long)]
    self_by_symbol: bool,
}

impl SelfTimeArgs {
    pub(crate) fn self_time(self) -> SelfTime {
        if self.self_by_symbol {
            SelfTime::Symbol
        } else {
            SelfTime::Innermost
        }
    }
}
