//! The outer frames of threads with deep stacks, and for how long they have been the same.
//!
//! What is read after a sample shows frames as they are then. Only where they have been the same
//! again and again, from some time before the sample to some time after it, are they taken for
//! those of the sample: a program that goes to the same depth from here and from there is seen
//! to do so.

use foldhash::HashMap;
use rprof_unwind::StackFrame;

/// What is known of threads.
#[derive(Debug, Default)]
pub(crate) struct Known {
    threads: HashMap<i32, Thread>,
}

/// A thread's stack as it was seen last.
#[derive(Debug)]
struct Thread {
    /// The outermost first.
    frames: Vec<Lasting>,
    /// Times that it was looked at, and when the last of them was.
    looks: u32,
    looked_ns: u64,
    /// Looks that must have shown the same.
    enough: u32,
}

/// A frame, and when it was first seen there.
#[derive(Debug)]
struct Lasting {
    avma: u64,
    sp: u64,
    look: u32,
    since_ns: u64,
}

/// Looks that follow each other closer count as one.
const APART_NS: u64 = 2_000_000;

/// Frames that were the same in so many looks are believed, 50 milliseconds at least.
const ENOUGH: u32 = 24;

/// Threads that are remembered.
const MAX_THREADS: usize = 64;

impl Known {
    /// Notes the whole stack of a thread, innermost frame first, as it was found at a time. The
    /// outermost `n_read` frames were read then; those further in were there for sure.
    pub(crate) fn see(&mut self, tid: i32, frames: &[StackFrame], n_read: usize, now_ns: u64) {
        if self.threads.len() >= MAX_THREADS && !self.threads.contains_key(&tid) {
            let oldest = self
                .threads
                .iter()
                .min_by_key(|(tid, one)| (one.looked_ns, **tid));
            let oldest = oldest.map(|(&tid, _)| tid);
            oldest.and_then(|tid| self.threads.remove(&tid));
        }
        let thread = self.threads.entry(tid).or_insert_with(|| Thread {
            frames: Vec::new(),
            looks: 0,
            looked_ns: 0,
            enough: ENOUGH,
        });
        thread.see(frames, n_read, now_ns);
    }

    /// Notes the stack of a sample that has all of it, if its thread has been deep before.
    pub(crate) fn see_whole(&mut self, tid: i32, frames: &[StackFrame], sampled_ns: u64) {
        if let Some(thread) = self.threads.get_mut(&tid) {
            thread.see(frames, 0, sampled_ns);
        }
    }

    /// Whether the outermost frames of a thread have been there for long before a sample.
    pub(crate) fn lasted(&self, tid: i32, n_outermost: usize, sampled_ns: u64) -> bool {
        let Some(thread) = self.threads.get(&tid) else {
            return false;
        };
        // Frames further out have been there for longer.
        let innermost = n_outermost.checked_sub(1);
        let frame = innermost.and_then(|idx| thread.frames.get(idx));
        frame.is_some_and(|frame| {
            thread.looks - frame.look >= thread.enough && frame.since_ns <= sampled_ns
        })
    }

    /// A thread's stack could not be followed.
    pub(crate) fn lose(&mut self, tid: i32) {
        if let Some(thread) = self.threads.get_mut(&tid) {
            thread.frames.clear();
        }
    }
}

impl Thread {
    fn see(&mut self, frames: &[StackFrame], n_read: usize, now_ns: u64) {
        if now_ns >= self.looked_ns + APART_NS {
            self.looks += 1;
            self.looked_ns = now_ns;
        }
        let both = || self.frames.iter().zip(frames.iter().rev());
        let is_same = |old: &Lasting, new: &StackFrame| (old.avma, old.sp) == (new.avma, new.sp);
        let n_same = both().take_while(|(old, new)| is_same(old, new)).count();
        // What the frame within looks like does not tell who called it: so others may have called
        // it that were never seen.
        let mut within = both().skip(n_read);
        if n_same < n_read && within.next().is_some_and(|(old, new)| is_same(old, new)) {
            self.enough = self.enough.saturating_mul(2);
        }
        self.frames.truncate(n_same);
        let new = frames.iter().rev().skip(n_same).map(|frame| Lasting {
            avma: frame.avma,
            sp: frame.sp,
            look: self.looks,
            since_ns: now_ns,
        });
        self.frames.extend(new);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Frames, innermost first.
    fn stack(avmas: &[u64]) -> Vec<StackFrame> {
        let frame = |(depth, &avma): (usize, &u64)| StackFrame {
            avma,
            sp: 0x1000 + 16 * depth as u64,
            is_return: depth > 0,
        };
        avmas.iter().enumerate().map(frame).collect()
    }

    #[test]
    fn frames_that_were_there_before_and_after_a_sample_have_lasted() {
        let mut known = Known::default();
        let one = stack(&[1, 2, 3, 4]);
        let mut now = 1_000_000_000;
        assert!(!known.lasted(7, 2, now));
        for _ in 0..=ENOUGH {
            known.see(7, &one, 2, now);
            now += APART_NS;
        }
        let long = now - APART_NS * u64::from(ENOUGH + 1);
        assert!(known.lasted(7, 2, now) && known.lasted(7, 2, long));
        assert!(!known.lasted(7, 2, long - 1), "not before it was seen");
        assert!(!known.lasted(7, 5, now), "there are no more");
        assert!(!known.lasted(8, 2, now), "another thread's");
        known.see_whole(7, &stack(&[9, 2, 3, 4]), now);
        assert!(known.lasted(7, 3, now) && !known.lasted(7, 4, now));
        known.lose(7);
        assert!(!known.lasted(7, 1, now));
    }

    #[test]
    fn frames_that_change_behind_one_that_does_not_have_to_last_longer() {
        let mut known = Known::default();
        let (one, other) = (stack(&[1, 2, 3, 4]), stack(&[1, 2, 5, 4]));
        let mut now = 1_000_000_000;
        let mut look = |known: &mut Known, stack: &[StackFrame], times: u32| {
            for _ in 0..times {
                known.see(7, stack, 2, now);
                now += APART_NS;
            }
            now
        };
        let now = look(&mut known, &one, ENOUGH + 1);
        assert!(known.lasted(7, 2, now));
        let now = look(&mut known, &other, ENOUGH + 1);
        assert!(!known.lasted(7, 2, now) && known.lasted(7, 1, now));
        let now = look(&mut known, &other, ENOUGH);
        assert!(known.lasted(7, 2, now));
    }
}
