//! The last walk along each thread's stack. Where a frame is as it was then, its callers are likely to be so, too: it is
//! enough to look whether their return addresses are still there.
//!
//! That holds where callers are found by the stack pointer alone, as in nearly all code that keeps no frame pointers. A
//! walk depends on mappings, registers and memory only: a thread's id just says which of the last walks may be alike.

use crate::StackFrame;
use crate::stack::Stack;

/// Walks that are remembered.
const SLOTS: usize = 64;

/// The deepest stack that is remembered, frames: all of them take 2 MiB at most.
const MAX_FRAMES: usize = 1 << 10;

/// The last walks.
#[derive(Debug, Default)]
pub(crate) struct LastWalks {
    slots: Vec<LastWalk>,
}

impl LastWalks {
    /// Takes out the walk that may be like the next one of a thread.
    pub(crate) fn take(&mut self, tid: i32) -> LastWalk {
        std::mem::take(self.slot(tid))
    }

    /// Puts a thread's last walk there.
    pub(crate) fn put(&mut self, tid: i32, walk: LastWalk) {
        *self.slot(tid) = walk;
    }

    fn slot(&mut self, tid: i32) -> &mut LastWalk {
        if self.slots.is_empty() {
            self.slots.resize_with(SLOTS, LastWalk::default);
        }
        &mut self.slots[tid.unsigned_abs() as usize % SLOTS]
    }
}

/// A complete walk.
#[derive(Debug, Default)]
pub(crate) struct LastWalk {
    /// The address space's number.
    space: u32,
    /// Outermost first.
    frames: Vec<StackFrame>,
    /// How many of them, from the outermost on, are found by the stack pointer alone.
    n_free: usize,
    end: WalkEnd,
}

/// Where a walk ended.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct WalkEnd {
    /// The stack pointer.
    pub(crate) sp: u64,
    /// Where there was a zero in place of a return address; 0 if it ended otherwise.
    pub(crate) zero_slot: u64,
}

impl LastWalk {
    /// How many frames may be the same, from the outermost on.
    pub(crate) fn n_candidates(&self, space: u32) -> usize {
        if self.space == space { self.n_free } else { 0 }
    }

    /// The callers of a frame, outermost first, if it is among the first `n_left` of the last walk, and they are
    /// still there. `n_left` becomes how many may be the same as a later one.
    #[inline]
    pub(crate) fn callers(
        &self,
        n_left: &mut usize,
        frame: &StackFrame,
        stack: &Stack<'_>,
    ) -> Option<&[StackFrame]> {
        loop {
            let (last, callers) = self.frames.get(..*n_left)?.split_last()?;
            if last.sp > frame.sp {
                return None;
            }
            *n_left -= 1;
            if last.sp == frame.sp {
                let is_same = last.code() == frame.code();
                return is_same.then(|| self.still(callers, n_left, stack))?;
            }
        }
    }

    /// These frames, if all of them are still there.
    fn still<'l>(
        &self,
        callers: &'l [StackFrame],
        n_left: &mut usize,
        stack: &Stack<'_>,
    ) -> Option<&'l [StackFrame]> {
        let is_at = |avma, slot| stack.word(slot) == Ok(avma);
        let changed = callers
            .iter()
            .rposition(|frame| !is_at(frame.avma, frame.slot));
        if let Some(changed) = changed {
            *n_left = changed;
            return None;
        }
        (self.end.zero_slot == 0 || is_at(0, self.end.zero_slot)).then_some(callers)
    }

    /// Where the last walk ended.
    pub(crate) fn end(&self) -> WalkEnd {
        self.end
    }

    /// Remembers a walk in place of this one, if that is worth it: `n_kept` frames were taken from this one, then
    /// those of `walked`, innermost first, `n_bound` of which were needed for registers.
    pub(crate) fn remember(
        &mut self,
        space: u32,
        n_kept: usize,
        walked: &[StackFrame],
        n_bound: usize,
        end: WalkEnd,
    ) {
        let n_frames = n_kept + walked.len();
        let n_free = n_frames.saturating_sub(n_bound);
        if n_free < 2 || n_frames > MAX_FRAMES {
            return;
        }
        self.frames.truncate(n_kept);
        self.frames.extend(walked.iter().rev());
        (self.space, self.n_free, self.end) = (space, n_free, end);
    }
}
