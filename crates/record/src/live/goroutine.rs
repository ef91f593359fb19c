//! Go's runtime goes to the stack of the thread for some of its work: `runtime.systemstack` and its like.
//! The dump is of that stack. The goroutine's, which waits, the kernel has followed by frame pointers,
//! which Go always keeps; they lead past the function that went to the other stack.

use super::address_space::LiveSpace;
use rprof_base::{Avma, CodeAddress, Svma};
use rprof_unwind::{AddressSpace, Call, Mapped, StackFrame};

/// Which of a goroutine's frames are known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Goroutine {
    Complete,
    /// All but the function that went to the other stack.
    WithoutInnermost,
}

/// Appends the goroutine's frames to those of a stack that ended at a change of stacks. `None` if frame
/// pointers do not lead from there to a goroutine's root. `call_before` finds the call before a return
/// address.
pub(super) fn append(
    space: &LiveSpace<'_>,
    by_frame_pointers: &[u64],
    call_before: impl FnOnce(u64) -> Call,
    frames: &mut Vec<StackFrame>,
) -> Option<Goroutine> {
    let switch = frames.last()?.avma;
    let at = by_frame_pointers.iter().position(|&one| one == switch)?;
    let callers = by_frame_pointers.get(at + 1..)?;
    let (first, last) = (*callers.first()?, *callers.last()?);
    if !is_root(space, last) {
        return None;
    }
    // Whom the innermost of them called is the one that went.
    let call = call_before(first);
    let frame = |avma| StackFrame {
        avma,
        sp: 0,
        slot: 0,
        is_return: true,
    };
    let went = match call {
        // Goroutines are made to return to their root: nothing there calls them.
        Call::None if callers.len() > 1 => return None,
        Call::None | Call::Somewhere => None,
        // Where in it is not known. Callers are looked up one byte before.
        Call::To(start) => {
            let function = frame(start.wrapping_add(1));
            (space.function(function) == Some(start)).then_some(function)
        }
    };
    frames.extend(went);
    frames.extend(callers.iter().map(|&avma| frame(avma)));
    Some(match went {
        Some(_) => Goroutine::Complete,
        None => Goroutine::WithoutInnermost,
    })
}

/// Whether a return address is where a goroutine begins.
pub(super) fn is_root(space: &LiveSpace<'_>, avma: u64) -> bool {
    let call = CodeAddress::Return(Avma(avma)).lookup().0;
    match space.find(call) {
        Mapped::Image { table, bias, .. } => table.is_named_root(Svma(call.wrapping_sub(bias))),
        Mapped::Nothing | Mapped::Code { .. } => false,
    }
}
