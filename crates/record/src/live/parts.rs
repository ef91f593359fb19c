//! Parts of a sample that is unwound: what is known without walking.

use rprof_abi::Sample;
use rprof_abi::registers::{self, RegisterTable};
use rprof_unwind::StackFrame;
use std::env::consts::ARCH;

/// Bytes of a sample's other fields than its chain and its stack.
pub(super) fn others_bytes(body: &[u8], sample: &Sample<'_>) -> usize {
    let chain = sample.callchain.map_or(0, |chain| 8 * chain.len());
    let stack = sample.stack_user.map_or(0, |stack| stack.data.len());
    body.len().saturating_sub(chain + stack)
}

/// The frame that is known without walking: the instruction pointer's.
pub(super) fn innermost_frame(registers: &registers::Registers<'_>) -> Option<StackFrame> {
    let table = RegisterTable::of(ARCH)?;
    Some(StackFrame {
        avma: registers.value(table.instruction_pointer)?,
        sp: 0,
        slot: 0,
        is_return: false,
    })
}
