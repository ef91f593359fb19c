//! Completes stacks that go on behind their copies, from what is read there afterwards.

use super::frozen::Frozen;
use super::goroutine;
use super::rest::{CutStack, Rest};
use super::space::LiveSpace;
use super::walk;
use rprof_ringbuf::sys::Clock;
use rprof_unwind::{AddressSpace, Machine, Outcome, Registers, Stack, StackFrame, Unwinder};

/// Completes stacks.
#[derive(Debug, Default)]
pub(crate) struct Completion {
    budget: Budget,
    rest: Rest,
    frozen: Frozen,
    frames: Vec<StackFrame>,
}

/// What became of a stack that goes on behind its copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Completed {
    /// Its frames are all there now.
    Whole,
    /// Its innermost frames, so many, and its outermost ones are there; those in between are not known.
    Hole(usize),
    /// It is as it was.
    Cut,
    /// It is as it was, and whether it goes on is not known: nothing could be read behind its copy.
    Unknown,
}

impl Completion {
    /// Walks a stack again, with what is known to be behind its copy, and adds to its frames.
    pub(crate) fn complete(
        &mut self,
        (unwinder, space): (&mut Unwinder, &LiveSpace<'_>),
        registers: &Registers,
        cut: CutStack<'_>,
        frames: &mut Vec<StackFrame>,
    ) -> Completed {
        let begin_ns = Clock::Monotonic.now_ns();
        if !self.budget.has_some(begin_ns) {
            return Completed::Unknown;
        }
        let completed = self.try_to((unwinder, space), registers, cut, frames);
        self.budget
            .spend(Clock::Monotonic.now_ns().saturating_sub(begin_ns));
        completed
    }

    fn try_to(
        &mut self,
        (unwinder, space): (&mut Unwinder, &LiveSpace<'_>),
        registers: &Registers,
        cut: CutStack<'_>,
        frames: &mut Vec<StackFrame>,
    ) -> Completed {
        let Self {
            rest,
            frozen,
            frames: found,
            ..
        } = self;
        let stack = Stack::new(cut.start, cut.copy, true);
        let is_whole = frozen.is_whole(cut, |outside, slot| {
            let outcome = walk(unwinder, space, registers, stack.with(outside), found);
            outcome.is_rooted() && found.iter().any(|frame| frame.slot == slot)
        });
        if is_whole {
            std::mem::swap(frames, found);
            return Completed::Whole;
        }
        rest.begin(cut);
        let outcome = walk(unwinder, space, registers, stack.with(&*rest), found);
        match outcome {
            Outcome::Rooted => {}
            Outcome::Cut => return Completed::Cut,
            _ => return Completed::Unknown,
        }
        // Goroutines go on in other threads, where nobody watches.
        if found
            .last()
            .is_some_and(|last| goroutine::is_root(space, last.avma))
        {
            return Completed::Cut;
        }
        // From the outermost frame that the copy has.
        let n_copied = frames.len();
        let behind = found.get(n_copied.saturating_sub(1)..).unwrap_or_default();
        let whose = (registers.machine(), space.number());
        let outermost = frozen.outermost(cut, behind);
        let outermost =
            outermost.filter(|_| rest.are_calls(whose, cut, behind, |frame| space.function(frame)));
        frozen.watch(cut, found, rest);
        let Some(n_outermost) = outermost else {
            return Completed::Cut;
        };
        frames.extend_from_slice(&found[found.len() - n_outermost..]);
        Completed::Hole(n_copied)
    }

    /// Adds a goroutine's frames to those of the stack that it went to.
    pub(crate) fn add_goroutine(
        &mut self,
        (machine, space): (Machine, &LiveSpace<'_>),
        by_frame_pointers: &[u64],
        frames: &mut Vec<StackFrame>,
    ) -> Option<Completed> {
        let n_inner = frames.len();
        let whose = (machine, space, &mut self.rest);
        let has_all = goroutine::append(whose, by_frame_pointers, frames)?;
        Some(match has_all {
            true => Completed::Whole,
            false => Completed::Hole(n_inner),
        })
    }

    /// A thread has ended.
    pub(crate) fn forget_thread(&mut self, tid: i32) {
        self.frozen.forget(tid);
    }

    /// Forgets what was found out by numbers of address spaces.
    pub(crate) fn forget_spaces(&mut self) {
        self.rest.forget_spaces();
    }
}

/// Time that completion may take: the recorder must not take it from what is recorded.
#[derive(Debug, Default)]
struct Budget {
    since_ns: u64,
    spent_ns: u64,
}

/// So much of so much time.
const MOST_NS: u64 = 10_000_000;
const OF_NS: u64 = 100_000_000;

impl Budget {
    fn has_some(&mut self, now_ns: u64) -> bool {
        if now_ns >= self.since_ns + OF_NS {
            (self.since_ns, self.spent_ns) = (now_ns, 0);
        }
        self.spent_ns < MOST_NS
    }

    fn spend(&mut self, time_ns: u64) {
        self.spent_ns += time_ns;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_budget_is_spent_and_renewed() {
        let mut budget = Budget::default();
        assert!(budget.has_some(OF_NS));
        budget.spend(MOST_NS - 1);
        assert!(budget.has_some(OF_NS + 1));
        budget.spend(1);
        assert!(!budget.has_some(2 * OF_NS - 1));
        assert!(budget.has_some(2 * OF_NS));
    }
}
