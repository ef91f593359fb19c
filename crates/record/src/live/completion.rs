//! Completes stacks that go on behind their copies, from what is read there afterwards.

use super::known::Known;
use super::rest::{CutStack, Rest};
use super::space::LiveSpace;
use super::walk;
use rprof_ringbuf::sys::Clock;
use rprof_unwind::{AddressSpace, Outcome, Registers, Stack, StackFrame, Unwinder};

/// Completes stacks.
#[derive(Debug, Default)]
pub(crate) struct Completion {
    budget: Budget,
    rest: Rest,
    known: Known,
    frames: Vec<StackFrame>,
}

impl Completion {
    /// Notes the whole stack of a sample.
    pub(crate) fn see_whole(&mut self, tid: i32, frames: &[StackFrame], sampled_ns: u64) {
        self.known.see_whole(tid, frames, sampled_ns);
    }

    /// Walks a stack again, with what is behind its copy. Its frames are replaced if they turn out
    /// to be called by others up to the root; `None` if that cannot be told.
    pub(crate) fn complete(
        &mut self,
        (unwinder, space): (&mut Unwinder, &LiveSpace<'_>),
        registers: &Registers,
        cut: CutStack<'_>,
        frames: &mut Vec<StackFrame>,
    ) -> Option<Outcome> {
        let begin_ns = Clock::Monotonic.now_ns();
        if !self.budget.has_some(begin_ns) {
            return Some(Outcome::Cut);
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
    ) -> Option<Outcome> {
        self.rest.begin(cut);
        let stack = Stack::new(cut.start, cut.copy, true).with(&self.rest);
        let outcome = walk(unwinder, space, registers, stack, &mut self.frames);
        // From the outermost frame that the copy has.
        let found = self.frames.get(frames.len().saturating_sub(1)..);
        let found = found.unwrap_or_default();
        let whose = (registers.machine(), space.number());
        let is_whole = outcome.is_rooted()
            && self
                .rest
                .are_calls(whose, cut, found, |frame| space.function(frame));
        if !is_whole {
            self.known.lose(cut.tid);
            // What is behind the copy cannot be read: the kernel stopped there for that.
            return (outcome == Outcome::Cut).then_some(outcome);
        }
        let n_read = found.len().saturating_sub(1);
        let now_ns = Clock::Monotonic.now_ns();
        self.known.see(cut.tid, &self.frames, n_read, now_ns);
        if !self.known.lasted(cut.tid, n_read, cut.time_ns) {
            return Some(Outcome::Cut);
        }
        std::mem::swap(frames, &mut self.frames);
        Some(outcome)
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
