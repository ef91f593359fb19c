//! One walk through a stack.

use super::address_space::LiveSpace;
use rprof_unwind::{Outcome, RegisterSet, Stack, StackFrame, Unwinder};

/// Frames that are walked at most: more than fit into the largest dump.
const MAX_FRAMES: usize = 1 << 16;

/// What walks through one sample's stack have in common.
pub(super) struct WalkContext<'w> {
    pub(super) unwinder: &'w mut Unwinder,
    pub(super) space: &'w LiveSpace<'w>,
    pub(super) registers: &'w RegisterSet,
}

impl WalkContext<'_> {
    /// Walks a stack into a list of frames.
    pub(super) fn walk(&mut self, stack: Stack<'_>, frames: &mut Vec<StackFrame>) -> Outcome {
        let (space, registers) = (self.space, self.registers);
        frames.clear();
        self.unwinder
            .walk(space, registers, stack, MAX_FRAMES, |frame| {
                frames.push(frame);
            })
    }
}
