//! Code that nothing describes: its frames are followed if it keeps frame pointers.

use crate::arch::Arch;
use crate::space::is_code;
use crate::stack::{Stack, Unread};
use crate::{AddressSpace, RegisterSet};
use rprof_abi::{Machine, for_machine};

/// Bytes from the stack pointer up to the frame pointer in a function that keeps one, wherever it calls others; `None` if
/// the code that it begins with does not say so.
pub fn frame_bytes(machine: Machine, code: &[u8]) -> Option<u64> {
    for_machine!(machine, A => A::frame_bytes(code))
}

/// Where frame pointers led.
pub(crate) enum FramePointerResult {
    /// To a caller, whose program counter was at an address.
    Caller { slot: u64 },
    /// To the frame where the thread began.
    Outermost,
    /// Nowhere that could be a frame.
    Nowhere,
    /// Beyond the end of the stack dump.
    Truncated,
}

/// Goes to the caller. The frame pointer must point to a frame further up this stack, whose return
/// address points to code: anything else is a register in other use.
pub(crate) fn follow<A: Arch>(
    space: &impl AddressSpace,
    registers: &mut RegisterSet,
    stack: &Stack<'_>,
) -> FramePointerResult {
    let (Some(sp), Some(fp)) = (registers.get(A::SP), registers.get(A::FP)) else {
        return FramePointerResult::Nowhere;
    };
    let record = fp.wrapping_add_signed(A::FRAME_RECORD);
    if record < sp || record % 8 != 0 {
        return FramePointerResult::Nowhere;
    }
    let slot = record.wrapping_add(8);
    let (outer, pc) = match (stack.word(record), stack.word(slot)) {
        (Ok(outer), Ok(pc)) => (outer, A::strip(pc)),
        (Err(Unread::Truncated), _) | (_, Err(Unread::Truncated)) => {
            return FramePointerResult::Truncated;
        }
        _ => return FramePointerResult::Nowhere,
    };
    if (outer, pc) == (0, 0) {
        return FramePointerResult::Outermost;
    }
    if !is_code(space, pc) {
        return FramePointerResult::Nowhere;
    }
    registers.keep(0);
    registers.set(A::SP, record.wrapping_add(16));
    registers.set(A::FP, outer);
    registers.set_pc(pc);
    FramePointerResult::Caller { slot }
}
