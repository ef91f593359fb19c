//! The last walks along each thread's stack. Where a frame is as it was then, its callers are likely to be so, too: it is
//! enough to look whether their return addresses are still there. Two walks are remembered of a thread: if it goes deep
//! and returns again and again, one of them stays deep.
//!
//! That holds where callers are found by the stack pointer alone, as in nearly all code that keeps no frame pointers. A
//! walk depends on mappings, registers and memory only: a thread's id just says which of the last walks may be alike.

use crate::StackFrame;
use crate::stack::Stack;

/// Threads whose walks are remembered.
const SLOTS: usize = 64;

/// The deepest stack that is remembered, frames: all of them take 4 MiB at most.
const MAX_FRAMES: usize = 1 << 10;

/// The last walks of all threads.
#[derive(Debug, Default)]
pub(crate) struct LastWalks {
    slots: Vec<ThreadWalks>,
}

impl LastWalks {
    /// Takes out the walks that may be like the next one of a thread.
    pub(crate) fn take(&mut self, tid: i32) -> ThreadWalks {
        std::mem::take(self.slot(tid))
    }

    /// Puts a thread's last walks there.
    pub(crate) fn put(&mut self, tid: i32, walks: ThreadWalks) {
        *self.slot(tid) = walks;
    }

    fn slot(&mut self, tid: i32) -> &mut ThreadWalks {
        if self.slots.is_empty() {
            self.slots.resize_with(SLOTS, ThreadWalks::default);
        }
        &mut self.slots[tid.unsigned_abs() as usize % SLOTS]
    }
}

/// Two walks of a thread: the last one, and another that had few frames in common with it.
#[derive(Debug, Default)]
pub(crate) struct ThreadWalks {
    last: LastWalk,
    other: LastWalk,
}

/// What a walk has in common with remembered ones.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Shared {
    /// How many frames of each may be the same as those to come, from the outermost on: first of the last walk.
    n_left: [usize; 2],
    /// Which walk frames were taken from, and how many, if any frame was the same.
    kept: Option<(Which, usize)>,
}

impl Shared {
    /// These frames are taken.
    #[inline]
    pub(crate) fn take(&mut self, rest: &Rest<'_>) {
        self.kept = Some((rest.of, rest.callers.len()));
    }
}

/// The rest of a walk.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rest<'w> {
    /// Outermost first.
    pub(crate) callers: &'w [StackFrame],
    pub(crate) end: WalkEnd,
    of: Which,
}

/// One of the walks of a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Which {
    Last,
    Other,
}

impl ThreadWalks {
    /// How many frames may be the same in an address space with this number.
    pub(crate) fn candidates(&self, space: u32) -> Shared {
        Shared {
            n_left: [&self.last, &self.other].map(|walk| walk.n_candidates(space)),
            kept: None,
        }
    }

    /// What comes after a frame, if it is in a remembered walk and its callers are still there.
    #[inline]
    pub(crate) fn rest(
        &self,
        shared: &mut Shared,
        frame: &StackFrame,
        stack: &Stack<'_>,
    ) -> Option<Rest<'_>> {
        let [of_last, of_other] = &mut shared.n_left;
        let (of, walk, callers) = match self.last.callers(of_last, frame, stack) {
            Some(callers) => (Which::Last, &self.last, callers),
            None => {
                let callers = self.other.callers(of_other, frame, stack)?;
                (Which::Other, &self.other, callers)
            }
        };
        let end = walk.end;
        Some(Rest { callers, end, of })
    }

    /// Remembers a complete walk, if that is worth it: what it shares, then the frames of `walked`, innermost first,
    /// `n_bound` of which were needed for registers. `end` is where it ended, unless its outermost frames are shared.
    pub(crate) fn remember(
        &mut self,
        space: u32,
        shared: Shared,
        walked: &[StackFrame],
        n_bound: usize,
        end: WalkEnd,
    ) {
        let (n_kept, end) = match shared.kept {
            None => (0, end),
            Some((which, n_kept)) => {
                if which == Which::Other {
                    std::mem::swap(&mut self.last, &mut self.other);
                }
                (n_kept, self.last.end)
            }
        };
        let n_frames = n_kept + walked.len();
        let n_free = n_frames.saturating_sub(n_bound);
        if n_free < 2 || n_frames > MAX_FRAMES {
            return;
        }
        if self.last.frames.len() - n_kept > walked.len() {
            // Too much would be forgotten.
            std::mem::swap(&mut self.last, &mut self.other);
            let (last, other) = (&mut self.last.frames, &self.other.frames);
            last.clear();
            last.extend_from_slice(&other[..n_kept]);
        }
        let last = &mut self.last;
        last.frames.truncate(n_kept);
        last.frames.extend(walked.iter().rev());
        (last.space, last.n_free, last.end) = (space, n_free, end);
    }
}

/// A complete walk.
#[derive(Debug, Default)]
struct LastWalk {
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
    fn n_candidates(&self, space: u32) -> usize {
        if self.space == space { self.n_free } else { 0 }
    }

    /// The callers of a frame, outermost first, if it is among the first `n_left` of this walk, and they are
    /// still there. `n_left` becomes how many may be the same as a later one.
    #[inline]
    fn callers(
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
}
