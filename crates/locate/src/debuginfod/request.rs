//! What is asked of servers.

use rprof_base::BuildId;

/// Which file of a build id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// Symbols and DWARF.
    Debuginfo,
    /// The program or library itself.
    Executable,
}

impl Kind {
    /// As servers and the folder of fetched files call it.
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Debuginfo => "debuginfo",
            Self::Executable => "executable",
        }
    }
}

/// A file that is asked for.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Request {
    pub(super) id: BuildId,
    pub(super) kind: Kind,
}
