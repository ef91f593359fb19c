//! What boxes stand for.

use rprof_profile::{FrameId, StrId};

/// What a box stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FlameLabel {
    /// Threads of one name.
    Comm(StrId),
    /// A function, or code without a name.
    Frame(FrameId),
    /// What threads wait for, by the name of its cause: always innermost.
    Wait(StrId),
}
