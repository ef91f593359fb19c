//! The walk: frame after frame, until the stack or what is known of it ends.

mod by_code;
mod by_rule;

use crate::arch::Arch;
use crate::cache::Cache;
use crate::dwarf_evaluation::StepError;
use crate::frame_pointer::{self, FramePointerResult};
use crate::gimli_types::Scratch;
use crate::last_walk::{LastWalks, Shared, ThreadWalks, WalkEnd};
use crate::rule::{Kind, Rule};
use crate::signal;
use crate::stack::{Stack, Unread};
use crate::{AddressSpace, Mapped, Outcome, RegisterSet};
use by_rule::Saved;
use rprof_abi::for_machine;
use rprof_base::{Avma, CodeAddress, Svma};

/// A frame of a stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StackFrame {
    /// Its program counter (AVMA).
    pub avma: u64,
    /// Its stack pointer (AVMA): where it ends and its callee's frame begins.
    pub sp: u64,
    /// Where its program counter was read (AVMA): that word of the stack is written when it calls.
    /// 0 if it was not on the stack, or a signal put it there.
    pub slot: u64,
    /// Whether that is a return address: the call is before it.
    pub is_return: bool,
}

impl StackFrame {
    /// Its program counter, by what it is.
    #[inline]
    pub fn code(&self) -> CodeAddress {
        CodeAddress::new(Avma(self.avma), self.is_return)
    }
}

/// Walks stacks. One for each thread: it remembers what it found out.
#[derive(Debug)]
pub struct Unwinder {
    cache: Cache,
    scratch: Scratch,
    /// For walks: kept for its memory.
    unrestored: Vec<Saved>,
    last_walks: LastWalks,
    walked: Vec<StackFrame>,
    reach: u64,
    guessed: Option<u32>,
}

impl Default for Unwinder {
    fn default() -> Self {
        Self::new()
    }
}

impl Unwinder {
    /// Knows nothing yet.
    pub fn new() -> Self {
        Self {
            cache: Cache::new(),
            scratch: Scratch::new(),
            unrestored: Vec::new(),
            last_walks: LastWalks::default(),
            walked: Vec::new(),
            reach: 0,
            guessed: None,
        }
    }

    /// Bytes from the start of the stack walked last to its outermost frame.
    pub fn reach(&self) -> u64 {
        self.reach
    }

    /// The first image of the stack walked last, by the caller's number, that frame pointers led through
    /// although single functions may keep none: their callers are missing.
    pub fn guessed(&self) -> Option<u32> {
        self.guessed
    }

    /// How many frames of the stack walked last were not taken from walks before.
    #[cfg(test)]
    pub(crate) fn n_walked(&self) -> usize {
        self.walked.len()
    }

    /// Visits the frames of a stack, innermost first, at most `max_frames`.
    pub fn walk(
        &mut self,
        space: &impl AddressSpace,
        registers: &RegisterSet,
        stack: Stack<'_>,
        max_frames: usize,
        visit: impl FnMut(StackFrame),
    ) -> Outcome {
        let mut unrestored = std::mem::take(&mut self.unrestored);
        unrestored.clear();
        let mut walked = std::mem::take(&mut self.walked);
        walked.clear();
        let number = space.number();
        let last = stack.thread().map(|tid| self.last_walks.take(tid));
        let shared = last.as_ref().map(|last| last.candidates(number));
        let walk = Walk {
            space,
            number,
            registers: *registers,
            unrestored,
            stack,
            slot: 0,
            is_return: false,
            guessed: None,
            last,
            shared: shared.unwrap_or_default(),
            walked,
            n_bound: 0,
        };
        for_machine!(registers.machine(), A => walk.run::<A>(self, max_frames, visit))
    }
}

/// Where a walk is.
struct Walk<'w, S> {
    space: &'w S,
    number: u32,
    /// The stack pointer and the program counter, always. The others once they are restored.
    registers: RegisterSet,
    /// Frames that were left, innermost first, whose callers' registers nobody has needed yet.
    unrestored: Vec<Saved>,
    stack: Stack<'w>,
    /// Where the program counter was read.
    slot: u64,
    /// Whether the program counter is a return address.
    is_return: bool,
    /// The first image that frame pointers led through, of those whose files are missing; or in which
    /// they ended the stack.
    guessed: Option<u32>,
    /// The thread's last walks, if it is known whose stack this is.
    last: Option<ThreadWalks>,
    /// What is the same as in these.
    shared: Shared,
    /// The other frames, innermost first.
    walked: Vec<StackFrame>,
    /// How many of these are needed to find some frame's registers.
    n_bound: usize,
}

impl<S: AddressSpace> Walk<'_, S> {
    fn run<A: Arch>(
        mut self,
        unwinder: &mut Unwinder,
        max_frames: usize,
        visit: impl FnMut(StackFrame),
    ) -> Outcome {
        let start = self.registers.get(A::SP).unwrap_or(0);
        let outcome = self.frames::<A>(unwinder, max_frames, visit);
        let end = self.registers.get(A::SP).unwrap_or(start);
        unwinder.reach = end.saturating_sub(start);
        unwinder.guessed = self.guessed;
        if let (Some(mut last), Some(tid)) = (self.last, self.stack.thread()) {
            if outcome == Outcome::Complete && self.guessed.is_none() {
                let zero_slot = match self.walked.last() {
                    Some(last) if last.slot != self.slot => self.slot,
                    _ => 0,
                };
                let end = WalkEnd { sp: end, zero_slot };
                last.remember(self.number, self.shared, &self.walked, self.n_bound, end);
            }
            unwinder.last_walks.put(tid, last);
        }
        unwinder.unrestored = self.unrestored;
        unwinder.walked = self.walked;
        match (outcome, self.guessed) {
            (Outcome::Complete, Some(image)) => Outcome::Guessed { image },
            _ => outcome,
        }
    }

    fn frames<A: Arch>(
        &mut self,
        unwinder: &mut Unwinder,
        max_frames: usize,
        mut visit: impl FnMut(StackFrame),
    ) -> Outcome {
        let Unwinder { cache, scratch, .. } = unwinder;
        for _ in 0..max_frames {
            let pc = self.registers.pc();
            if let Some(outcome) = self.rest_as_before::<A>(pc, max_frames, &mut visit) {
                return outcome;
            }
            let at = CodeAddress::new(Avma(pc), self.is_return).lookup().0;
            let (space, number) = (self.space, self.number);
            let rule = cache.rule(number, at, || rule_at::<A>(space, at, scratch));
            let stepped = match rule.kind {
                Kind::Plain => {
                    visit(self.frame::<A>(pc));
                    self.plain::<A>(rule)
                }
                Kind::Outermost => {
                    visit(self.frame::<A>(pc));
                    Err(Outcome::Complete)
                }
                Kind::Gap => {
                    visit(self.frame::<A>(pc));
                    self.gap::<A>(rule)
                }
                Kind::Switch => {
                    visit(self.frame::<A>(pc));
                    Err(Outcome::OffStack { avma: pc })
                }
                Kind::None | Kind::Bad | Kind::Dwarf | Kind::Signal => {
                    let kind = rule.kind;
                    self.unusual::<A>(kind, at, scratch, &mut visit)
                }
            };
            match stepped {
                Ok(()) => {}
                Err(outcome) => return outcome,
            }
        }
        Outcome::Full
    }

    /// Takes the frames from this one on from a remembered walk, if they are the same.
    #[inline]
    fn rest_as_before<A: Arch>(
        &mut self,
        pc: u64,
        max_frames: usize,
        visit: &mut impl FnMut(StackFrame),
    ) -> Option<Outcome> {
        let frame = self.here::<A>(pc);
        let last = self.last.as_ref()?;
        let rest = last.rest(&mut self.shared, &frame, &self.stack)?;
        if self.walked.len() + 1 + rest.callers.len() > max_frames {
            return None;
        }
        visit(frame);
        rest.callers.iter().rev().copied().for_each(visit);
        self.shared.take(&rest);
        self.registers.set(A::SP, rest.end.sp);
        self.walked.push(frame);
        Some(Outcome::Complete)
    }

    /// The frame where the walk is, which is given out.
    #[inline]
    fn frame<A: Arch>(&mut self, avma: u64) -> StackFrame {
        let frame = self.here::<A>(avma);
        if self.last.is_some() {
            self.walked.push(frame);
        }
        frame
    }

    #[inline]
    fn here<A: Arch>(&self, avma: u64) -> StackFrame {
        StackFrame {
            avma,
            sp: self.registers.get(A::SP).unwrap_or(0),
            slot: self.slot,
            is_return: self.is_return,
        }
    }

    /// Leaves a frame that ends a function, or begins a thread: what lies on the new stack is the function
    /// to call, and its argument, and nobody returns to those.
    #[cold]
    fn gap<A: Arch>(&mut self, rule: &Rule) -> Result<(), Outcome> {
        let may_begin = self.may_be_empty();
        self.plain::<A>(rule)?;
        if !may_begin {
            return Ok(());
        }
        let pc = self.registers.pc();
        match self.space.find(pc) {
            Mapped::Image { table, bias, .. } => {
                let pc = Svma(pc.wrapping_sub(bias));
                let is_return = table.function(pc) != Some(pc);
                is_return.then_some(()).ok_or(Outcome::Complete)
            }
            Mapped::Code { .. } => Ok(()),
            Mapped::Nothing => Err(Outcome::Complete),
        }
    }

    /// Only the innermost frame may have no size: its return address is in a register.
    fn may_be_empty(&self) -> bool {
        !self.is_return
    }

    fn go_to(&mut self, code: CodeAddress) -> Result<(), Outcome> {
        let (pc, is_return) = match code {
            CodeAddress::Pc(Avma(pc)) => (pc, false),
            CodeAddress::Return(Avma(pc)) => (pc, true),
        };
        if pc == 0 {
            return Err(Outcome::Complete);
        }
        self.registers.set_pc(pc);
        self.is_return = is_return;
        Ok(())
    }

    /// Frames without a compact rule: what is there has to be looked up again.
    #[cold]
    fn unusual<A: Arch>(
        &mut self,
        kind: Kind,
        at: u64,
        scratch: &mut Scratch,
        visit: &mut impl FnMut(StackFrame),
    ) -> Result<(), Outcome> {
        let restored = self.restore::<A>();
        // This frame, too.
        self.n_bound = self.walked.len() + 1;
        let pc = self.registers.pc();
        let mapped = self.space.find(at);
        if matches!(mapped, Mapped::Nothing) && self.is_return {
            return Err(Outcome::Unmapped { avma: pc });
        }
        visit(self.frame::<A>(pc));
        restored?;
        match (kind, mapped) {
            (_, Mapped::Nothing) => Err(Outcome::Unmapped { avma: pc }),
            (Kind::Dwarf, Mapped::Image { table, bias, .. }) => {
                let address = Svma(at.wrapping_sub(bias));
                let before = self.registers.get(A::SP);
                let caller = table.step::<A>(address, &self.registers, &self.stack, scratch);
                let caller = caller.map_err(|why| self.stuck(why))?;
                self.registers = caller.registers;
                self.slot = caller.slot;
                // A signal may have come on another stack, a call never does.
                let has_gone_up = self.registers.get(A::SP) > before;
                if caller.is_interrupted {
                    self.go_to_interrupted_stack::<A>();
                } else if !has_gone_up && !self.may_be_empty() {
                    return Err(Outcome::Loop);
                }
                self.go_to(CodeAddress::new(
                    Avma(caller.registers.pc()),
                    !caller.is_interrupted,
                ))
            }
            (Kind::Signal, _) => {
                let interrupted = signal::interrupted::<A>(&self.registers, &self.stack);
                self.registers = interrupted.map_err(|unread| self.unread(unread))?;
                self.slot = 0;
                self.go_to_interrupted_stack::<A>();
                self.go_to(CodeAddress::Pc(Avma(self.registers.pc())))
            }
            (Kind::Bad, _) => Err(self.bad_info()),
            (_, Mapped::Code { image, .. } | Mapped::Image { image, .. }) => {
                if self.leave_by_code::<A>(pc)? || self.leave_before_frame::<A>(pc)? {
                    return Ok(());
                }
                let is_jit = matches!(mapped, Mapped::Code { is_file: false, .. });
                match frame_pointer::follow::<A>(self.space, &mut self.registers, &self.stack) {
                    FramePointerResult::Caller { slot } => {
                        (self.is_return, self.slot) = (true, slot);
                        // What a described image does not describe (V8's builtins) keeps them.
                        let is_lacking = matches!(mapped, Mapped::Code { .. }) && !is_jit;
                        self.guessed = self.guessed.or(is_lacking.then_some(image));
                        Ok(())
                    }
                    FramePointerResult::Outermost => {
                        // A register in other use may point to zeros, too.
                        self.guessed = self.guessed.or((!is_jit).then_some(image));
                        Err(Outcome::Complete)
                    }
                    FramePointerResult::Truncated => Err(Outcome::Truncated),
                    FramePointerResult::Nowhere => Err(Outcome::NoInfo { image, avma: pc }),
                }
            }
        }
    }

    fn go_to_interrupted_stack<A: Arch>(&mut self) {
        if let Some(sp) = self.registers.get(A::SP) {
            self.stack = self.stack.interrupted_at(sp);
        }
    }

    fn stuck(&self, why: StepError) -> Outcome {
        match why {
            StepError::Outermost => Outcome::Complete,
            StepError::Unread(unread) => self.unread(unread),
            StepError::Bad | StepError::Unknown => self.bad_info(),
        }
    }

    #[cold]
    fn unread(&self, unread: Unread) -> Outcome {
        match unread {
            Unread::Truncated => Outcome::Truncated,
            Unread::Below | Unread::Elsewhere => Outcome::OffStack {
                avma: self.registers.pc(),
            },
        }
    }

    #[cold]
    fn bad_info(&self) -> Outcome {
        let avma = self.registers.pc();
        match self
            .space
            .find(CodeAddress::new(Avma(avma), self.is_return).lookup().0)
        {
            Mapped::Nothing => Outcome::Unmapped { avma },
            Mapped::Code { image, .. } | Mapped::Image { image, .. } => {
                Outcome::BadInfo { image, avma }
            }
        }
    }
}

/// The rule at an address that was not asked for before, or is forgotten.
#[cold]
fn rule_at<A: Arch>(space: &impl AddressSpace, avma: u64, scratch: &mut Scratch) -> Rule {
    match space.find(avma) {
        Mapped::Image { table, bias, .. } if table.machine() == A::MACHINE => {
            table.rule::<A>(Svma(avma.wrapping_sub(bias)), scratch)
        }
        // Emulators map code of other machines.
        Mapped::Image { .. } | Mapped::Nothing | Mapped::Code { .. } => Rule::default(),
    }
}
