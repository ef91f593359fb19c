//! Stacks that go on after the end of their dump. What is missing is read from the process after the
//! sample.
//!
//! The kernel copies at most 64 KiB of a stack. The rest is still in the process, but it is read some
//! milliseconds after the sample ([`read_remote`]). By then the program may have returned, and called
//! something else. So what is read must be proved to be what was there at the sample:
//!
//! 1. A call writes its return address to the stack. As long as nobody writes to that word, the function
//!    that was called has not returned. So all frames further out are suspended, and stay as they are.
//! 2. The CPU watches one such word: a watchpoint is set on a frame's return address ([`aim`]). Only then
//!    is the memory outside of the frame read ([`stability`]).
//! 3. A later sample of the thread may have the same frame in its stack. If the watchpoint was not hit
//!    until now, the word was untouched from before the reading until after the sample. So at the sample
//!    the memory outside of the frame was what was read, whatever the program did in between.
//!
//! If the watched word is in the sample's dump, the walk goes on with what was read, and the stack is
//! complete. If the watched word is further out, only the frames outside of it are known. Between
//! them and the dump is a gap. The walk through the gap still has to lead from the dump to the watched
//! word, over memory that may have changed: each of its return addresses must follow a call to the
//! callee that was found ([`verify_calls`]). Otherwise the stack stays truncated.
//!
//! Watchpoints take debug registers, of which an x86 CPU has four. A thread lends one, only while nobody
//! traces it and its process has no events of its own, and for as long as that holds ([`loan`],
//! [`claims`]). Hits take time of the thread: they have a budget ([`hit_budget`]). Both cost proofs, and
//! nothing else: without a watchpoint a stack stays truncated.
//!
//! What is read at one sample never completes that sample. Looking at a stack before and after a sample
//! proves nothing, either: a program that goes deep from two places by turns, in step with the looks, has
//! the same frames at both looks, and others at the sample.
//!
//! A stack may move between threads while it is deep, as coroutines' do. It is watched in one of them, so
//! a hit in another is not seen. Goroutines do this as a rule: their stacks are not completed.

mod aim;
mod claims;
mod hit_budget;
mod loan;
mod read_remote;
mod stability;
mod time_budget;
mod truncated_stack;
mod verify_calls;

pub(crate) use truncated_stack::TruncatedStack;

use crate::live::address_space::LiveSpace;
use crate::live::goroutine;
use crate::live::walk::WalkContext;
use crate::settings::WatchpointUse;
use read_remote::RemoteStackReader;
use rprof_abi::Machine;
use rprof_ringbuf::sys::Clock;
use rprof_unwind::{Call, Outcome, Stack, StackFrame};
use stability::FrameStability;
use time_budget::TimeBudget;
use verify_calls::{CallVerifier, CodeOf};

/// Completes stacks.
#[derive(Debug, Default)]
pub(super) struct DeepStackRecovery {
    budget: TimeBudget,
    reader: RemoteStackReader,
    calls: CallVerifier,
    stability: FrameStability,
    frames: Vec<StackFrame>,
}

/// What became of a stack that goes on after its dump.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Recovered {
    /// Its frames are all there now.
    Complete,
    /// Its innermost and its outermost frames are there; those in between are not known.
    Gap {
        /// How many frames come before the gap.
        n_inner: usize,
    },
    /// It is as it was.
    Truncated,
    /// It is as it was, and whether it goes on is not known: nothing could be read after its dump.
    Unknown,
}

impl DeepStackRecovery {
    /// Walks a stack again, with what is known to be after its dump, and adds to its frames.
    pub(super) fn recover(
        &mut self,
        context: &mut WalkContext<'_>,
        stack: TruncatedStack<'_>,
        frames: &mut Vec<StackFrame>,
    ) -> Recovered {
        let begin_ns = Clock::Monotonic.now_ns();
        if !self.budget.has_some(begin_ns) {
            return Recovered::Unknown;
        }
        let recovered = match self.complete(context, stack, frames) {
            Recovered::Complete => Recovered::Complete,
            _ => self.add_outermost(context, stack, frames),
        };
        let spent_ns = Clock::Monotonic.now_ns().saturating_sub(begin_ns);
        self.budget.spend(spent_ns);
        recovered
    }

    /// Goes on with what was read before the sample, from a watched frame in its dump.
    fn complete(
        &mut self,
        context: &mut WalkContext<'_>,
        truncated: TruncatedStack<'_>,
        frames: &mut Vec<StackFrame>,
    ) -> Recovered {
        let found = &mut self.frames;
        let stack = Stack::truncated(truncated.start, truncated.dump);
        let is_complete = self.stability.is_complete(truncated, |outside, slot| {
            let outcome = context.walk(stack.with(outside), found);
            outcome.is_complete() && found.iter().any(|frame| frame.slot == slot)
        });
        if !is_complete {
            return Recovered::Truncated;
        }
        std::mem::swap(frames, found);
        Recovered::Complete
    }

    /// Reads the stack as it is now, for later samples, and adds the frames outside of a watched one.
    fn add_outermost(
        &mut self,
        context: &mut WalkContext<'_>,
        truncated: TruncatedStack<'_>,
        frames: &mut Vec<StackFrame>,
    ) -> Recovered {
        let Self {
            reader,
            calls,
            stability,
            frames: found,
            ..
        } = self;
        reader.begin(truncated);
        let stack = Stack::truncated(truncated.start, truncated.dump);
        match context.walk(stack.with(&*reader), found) {
            Outcome::Complete => {}
            Outcome::Truncated => return Recovered::Truncated,
            _ => return Recovered::Unknown,
        }
        let space = context.space;
        // Goroutines go on in other threads, which are not watched.
        if found
            .last()
            .is_some_and(|last| goroutine::is_outermost(space, last.avma))
        {
            return Recovered::Truncated;
        }
        // From the outermost frame that the dump has.
        let n_dumped = frames.len();
        let outside = found.get(n_dumped.saturating_sub(1)..).unwrap_or_default();
        let n_outermost = stability
            .n_outermost(truncated, outside)
            .filter(|_| calls.are_calls(reader, truncated, outside, CodeOf::new(context)));
        stability.watch(truncated, found, reader);
        let Some(n_outermost) = n_outermost else {
            return Recovered::Truncated;
        };
        frames.extend_from_slice(&found[found.len() - n_outermost..]);
        Recovered::Gap { n_inner: n_dumped }
    }

    /// The call before a return address.
    pub(super) fn call_before(
        &mut self,
        machine: Machine,
        space: &LiveSpace<'_>,
        avma: u64,
    ) -> Call {
        let code = CodeOf { machine, space };
        self.calls.call_before(self.reader.memory(), code, avma)
    }

    /// How watchpoints were used until now.
    pub(super) fn watchpoints(&self) -> WatchpointUse {
        self.stability.watchpoints()
    }

    /// A thread has ended.
    pub(super) fn forget_thread(&mut self, tid: i32) {
        self.stability.forget(tid);
    }

    /// Forgets what was found out by numbers of address spaces.
    pub(super) fn forget_spaces(&mut self) {
        self.calls.forget();
    }
}
