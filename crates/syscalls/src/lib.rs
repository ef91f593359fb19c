//! System calls: entries and returns in, calls of threads out, with names of numbers, arguments and errors.

mod arguments;
mod call;
mod flags;
mod follower;
mod futex;
mod names;
mod result;
mod selection;
mod signatures;
mod tasks;
mod totals;

pub use arguments::write_arguments;
pub use call::{Syscall, SyscallEnd, SyscallEntry, SyscallId, Unfinished};
pub use follower::{SyscallFollower, SyscallMoment};
pub use futex::FutexCall;
pub use names::{SyscallAbi, SyscallNames};
pub use result::SyscallResult;
pub use selection::{SelectionError, SyscallSelection};
pub use tasks::SyscallTasks;
pub use totals::SyscallTotals;
