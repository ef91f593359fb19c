//! What sideband says, as changes of names and mappings: small, for a recording has many.

use crate::ImageId;
use crate::history::CommId;
use crate::ranges::Range;

/// An address space.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Space {
    /// A process.
    User(i32),
    /// The kernel.
    Kernel,
    /// The kernel of a guest, by the process that runs the guest.
    GuestKernel(i32),
    /// A process of a guest.
    GuestUser(i32),
}

/// The guest of mappings that name no process.
///
/// Source: `DEFAULT_GUEST_KERNEL_ID`, tools/perf/util/machine.h (v6.1).
pub(crate) const DEFAULT_GUEST: i32 = 0;

impl Space {
    /// That of the guest that a process runs; -1 and 0 mean the default guest.
    pub(crate) fn guest_kernel(pid: i32) -> Self {
        Self::GuestKernel(if pid == -1 { DEFAULT_GUEST } else { pid })
    }
}

/// One change.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Change {
    /// A mapping.
    Map { space: Space, range: Range },
    /// Code that lies over what the kernel and its modules map there.
    Symbol(Range),
    /// Such code went away.
    SymbolGone(Range),
    /// A thread's name.
    Comm {
        pid: i32,
        tid: i32,
        comm: CommId,
        exec: bool,
    },
    /// A new task.
    Fork {
        pid: i32,
        ppid: i32,
        tid: i32,
        ptid: i32,
        inherits: bool,
    },
}

impl Change {
    /// The image that is mapped.
    pub(crate) fn image_mut(&mut self) -> Option<&mut ImageId> {
        match self {
            Self::Map { range, .. } | Self::Symbol(range) | Self::SymbolGone(range) => {
                Some(&mut range.image)
            }
            Self::Comm { .. } | Self::Fork { .. } => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Change;

    #[test]
    fn a_change_is_small() {
        assert!(size_of::<Change>() <= 40);
    }
}
