//! Standard output as somebody looks at it: colours, the pager.

mod pager;

pub(crate) use pager::{PagerArgs, is_broken_pipe};

use std::env;
use std::io::IsTerminal;

/// When there are colours; perf's words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Colors {
    Always,
    Never,
    /// On a terminal that has them, unless NO_COLOR is set.
    Auto,
}

impl Colors {
    /// Whether to write them.
    pub(crate) fn is_on(self) -> bool {
        match self {
            Self::Always => true,
            Self::Never => false,
            Self::Auto => {
                let is_off = env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
                std::io::stdout().is_terminal() && !is_off && !is_dumb()
            }
        }
    }
}

/// A terminal that only prints.
fn is_dumb() -> bool {
    env::var_os("TERM").is_some_and(|term| term == "dumb")
}
