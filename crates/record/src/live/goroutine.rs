//! Callers of Go's runtime while it is on the stack of the thread.
//!
//! The runtime goes there for some of its work: `runtime.systemstack` and its like. The dump is of that stack.
//! The goroutine's own stack waits. The kernel has followed it by frame pointers, which Go always keeps. They
//! leave out the function that went to the other stack.

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
/// pointers do not lead from there to where a goroutine begins. `call_before` finds the call before a return
/// address.
pub(super) fn append(
    space: &LiveSpace<'_>,
    by_frame_pointers: &[u64],
    call_before: impl FnOnce(u64) -> Call,
    frames: &mut Vec<StackFrame>,
) -> Option<Goroutine> {
    let innermost = frames.last()?.avma;
    let at = by_frame_pointers.iter().position(|&one| one == innermost)?;
    let callers = by_frame_pointers.get(at + 1..)?;
    let (first, last) = (*callers.first()?, *callers.last()?);
    if !is_outermost(space, last) {
        return None;
    }
    // The innermost of them called the function that went.
    let call = call_before(first);
    let frame = |avma| StackFrame {
        avma,
        sp: 0,
        slot: 0,
        is_return: true,
    };
    let went = match call {
        // A goroutine returns to its outermost function, which did not call it.
        Call::None if callers.len() > 1 => return None,
        Call::None | Call::Somewhere => None,
        // The place in it is not known: any serves. Callers are looked up one byte before.
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
pub(super) fn is_outermost(space: &LiveSpace<'_>, avma: u64) -> bool {
    let call = CodeAddress::Return(Avma(avma)).lookup().0;
    match space.find(call) {
        Mapped::Image { table, bias, .. } => table.is_go_outermost(Svma(call.wrapping_sub(bias))),
        Mapped::Nothing | Mapped::Code { .. } => false,
    }
}
