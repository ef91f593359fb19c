//! Which return address of a stack is watched.

use super::truncated_stack::TruncatedStack;
use rprof_unwind::StackFrame;
use std::ops::Range;

/// Where the return address is that is watched: a thread has one watchpoint.
///
/// In the dump it completes stacks, as long as they have the frame. Where frames do not last that long, one
/// after the dump is watched, further out each time: frames outside of it are known then.
#[derive(Clone, Copy, Debug)]
pub(super) struct Aim {
    place: WatchedPart,
    /// Watchpoints in a row that were hit before they had proved anything.
    n_fruitless: u32,
    /// After the dump, frames up to here do not last (AVMA).
    within: u64,
    /// After so many samples with a gap the dump is tried again.
    most_gaps: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum WatchedPart {
    InDump,
    AfterDump,
}

/// So many fruitless watchpoints in a row are too many.
const MOST_FRUITLESS: u32 = 2;

/// At first, and at most.
const MOST_GAPS: u32 = 64;
const MOST_GAPS_EVER: u32 = 4096;

impl Default for Aim {
    fn default() -> Self {
        Self {
            place: WatchedPart::InDump,
            n_fruitless: 0,
            within: 0,
            most_gaps: MOST_GAPS,
        }
    }
}

impl Aim {
    /// The return address that is best watched: the outermost of those in the dump, or the middle one of
    /// those after it that may last. Where there is none, one of the others.
    pub(super) fn best_slot(
        &self,
        truncated: TruncatedStack<'_>,
        frames: &[StackFrame],
    ) -> Option<u64> {
        let in_dump = || outermost_slot(truncated.addresses(), frames);
        let end = truncated.dump_end();
        let after_dump = |from: u64| middle_slot(from.max(end)..u64::MAX, frames);
        match self.place {
            WatchedPart::InDump => in_dump().or_else(|| after_dump(end)),
            WatchedPart::AfterDump => after_dump(self.within).or_else(in_dump),
        }
    }

    /// A watchpoint was hit after it had proved frames of some samples.
    pub(super) fn hit(&mut self, slot: u64, n_proved: u32) {
        if n_proved > 0 {
            self.n_fruitless = 0;
            return;
        }
        self.n_fruitless += 1;
        match self.place {
            WatchedPart::InDump if self.n_fruitless >= MOST_FRUITLESS => {
                (self.place, self.n_fruitless) = (WatchedPart::AfterDump, 0);
                self.most_gaps = self.most_gaps.saturating_mul(2).min(MOST_GAPS_EVER);
            }
            WatchedPart::InDump => {}
            // Further out; where nothing lasts, from the beginning.
            WatchedPart::AfterDump if self.n_fruitless < u64::BITS => self.within = slot + 1,
            WatchedPart::AfterDump => {
                *self = Self {
                    most_gaps: self.most_gaps,
                    ..Self::default()
                }
            }
        }
    }

    /// A watchpoint after the dump has left so many samples with a gap.
    pub(super) fn left_gaps(&mut self, n_gaps: u32) {
        if n_gaps >= self.most_gaps {
            (self.place, self.n_fruitless) = (WatchedPart::InDump, 0);
        }
    }
}

/// Return addresses that can be watched, in a part of a stack.
fn slots(range: Range<u64>, frames: &[StackFrame]) -> impl Iterator<Item = u64> {
    let callers = frames.iter().skip(1).map(Some).chain([None]);
    // What a handler returns to was written by the kernel: a watchpoint does not see that.
    let by_calls = frames
        .iter()
        .zip(callers)
        .filter(|(_, caller)| caller.is_none_or(|caller| caller.is_return));
    let slots = by_calls.map(|(frame, _)| frame.slot);
    slots.filter(move |slot| range.contains(slot) && slot % 8 == 0)
}

fn outermost_slot(range: Range<u64>, frames: &[StackFrame]) -> Option<u64> {
    slots(range, frames).max()
}

fn middle_slot(range: Range<u64>, frames: &[StackFrame]) -> Option<u64> {
    let all = || slots(range.clone(), frames);
    let middle = all().min()?.midpoint(all().max()?);
    all().filter(|&slot| slot >= middle).min()
}

#[cfg(test)]
mod tests {
    use super::*;
    use rprof_ringbuf::sys::Clock;

    #[test]
    fn the_outermost_return_address_of_the_dump_or_a_middle_one_after_it_is_watched() {
        let frame = |slot, is_return| StackFrame {
            avma: 1,
            sp: 0,
            slot,
            is_return,
        };
        let dump = [0; 0x100];
        let truncated = TruncatedStack {
            pid: 1,
            tid: 1,
            time_ns: 0,
            clock: Clock::Monotonic,
            start: 0x1000,
            dump: &dump,
        };
        let slots = [0, 0x1010, 0x1070, 0x1090, 0x10f4, 0x1200, 0x1300, 0x1500];
        let mut frames: Vec<_> = slots.map(|slot| frame(slot, true)).into();
        let after_dump = Aim {
            place: WatchedPart::AfterDump,
            ..Aim::default()
        };
        let best = |frames: &[StackFrame]| {
            [Aim::default(), after_dump].map(|aim| aim.best_slot(truncated, frames))
        };
        // One that is not aligned cannot be watched. The middle of those after the dump is at 0x1380.
        assert_eq!(best(&frames), [Some(0x1090), Some(0x1500)]);
        // The frame at 0x10f4 was interrupted by a signal: the kernel wrote where its handler returns to.
        frames[4].is_return = false;
        assert_eq!(best(&frames)[0], Some(0x1070));
        assert_eq!(best(&frames[..2]), [Some(0x1010); 2]);
        assert_eq!(best(&frames[6..]), [Some(0x1500); 2]);
    }

    #[test]
    fn where_frames_do_not_last_one_further_out_is_watched_and_the_dump_now_and_then() {
        let mut aim = Aim::default();
        aim.hit(0x1090, 0);
        assert_eq!(aim.place, WatchedPart::InDump, "once is no habit");
        aim.hit(0x1090, 3);
        aim.hit(0x1090, 0);
        assert_eq!(
            aim.place,
            WatchedPart::InDump,
            "it has proved something since"
        );
        aim.hit(0x1090, 0);
        assert_eq!(aim.place, WatchedPart::AfterDump);
        aim.hit(0x1300, 0);
        assert_eq!((aim.place, aim.within), (WatchedPart::AfterDump, 0x1301));
        aim.left_gaps(aim.most_gaps - 1);
        assert_eq!(aim.place, WatchedPart::AfterDump);
        aim.left_gaps(aim.most_gaps);
        assert_eq!(aim.place, WatchedPart::InDump);
        // What is known of frames after the dump is kept.
        (0..MOST_FRUITLESS).for_each(|_| aim.hit(0x1090, 0));
        assert_eq!((aim.place, aim.within), (WatchedPart::AfterDump, 0x1301));
        (0..u64::BITS).for_each(|_| aim.hit(0x1400, 0));
        assert_eq!((aim.place, aim.within), (WatchedPart::InDump, 0));
    }
}
