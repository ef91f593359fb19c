//! The walk: frame after frame, until the stack or what is known of it ends.

mod by_rule;

use crate::arch::{Arch, Call, LONGEST_CALL};
use crate::cache::Cache;
use crate::dwarf_evaluation::StepError;
use crate::epilogue;
use crate::frame_pointer::{self, FramePointerResult};
use crate::index::Scratch;
use crate::rule::{Kind, Rule};
use crate::signal;
use crate::space::is_code;
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
    reach: u64,
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
            reach: 0,
        }
    }

    /// Bytes from the start of the stack walked last to its outermost frame.
    pub fn reach(&self) -> u64 {
        self.reach
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
        let walk = Walk {
            space,
            number: space.number(),
            registers: *registers,
            unrestored,
            stack,
            slot: 0,
            is_return: false,
            guessed: None,
        };
        for_machine!(registers.machine(), A => walk.run::<A>(self, max_frames, visit))
    }
}

/// Bytes of code that are looked at.
const MAX_CODE: usize = 64;

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
    /// The first image that frame pointers led through, of those whose files are missing.
    guessed: Option<u32>,
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
        unwinder.unrestored = self.unrestored;
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

    fn frame<A: Arch>(&self, avma: u64) -> StackFrame {
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
                match frame_pointer::follow::<A>(self.space, &mut self.registers, &self.stack) {
                    FramePointerResult::Caller { slot } => {
                        (self.is_return, self.slot) = (true, slot);
                        // What a described image does not describe (V8's builtins) keeps them.
                        let is_lacking = matches!(mapped, Mapped::Code { is_file: true, .. });
                        self.guessed = self.guessed.or(is_lacking.then_some(image));
                        Ok(())
                    }
                    FramePointerResult::Outermost => Err(Outcome::Complete),
                    FramePointerResult::Truncated => Err(Outcome::Truncated),
                    FramePointerResult::Nowhere => Err(Outcome::NoInfo { image, avma: pc }),
                }
            }
        }
    }

    /// Leaves a frame by what its code does from here to its return; whether it could be.
    fn leave_by_code<A: Arch>(&mut self, pc: u64) -> Result<bool, Outcome> {
        if !A::DECODES_FRAMES {
            return Ok(false);
        }
        let mut code = [0; MAX_CODE];
        let len = self.space.code(pc, &mut code);
        let caller = epilogue::follow::<A>(&code[..len], &self.registers, &self.stack);
        let Some(caller) = caller.map_err(|unread| self.unread(unread))? else {
            return Ok(false);
        };
        let pc = caller.registers.pc();
        if !is_code(self.space, pc) {
            return Ok(false);
        }
        (self.registers, self.slot) = (caller.registers, caller.slot);
        self.go_to(CodeAddress::Return(Avma(pc)))?;
        Ok(true)
    }

    /// Leaves code that has not made its frame yet; whether it is such code.
    fn leave_before_frame<A: Arch>(&mut self, pc: u64) -> Result<bool, Outcome> {
        if !A::DECODES_FRAMES || self.is_return {
            return Ok(false);
        }
        let (Some(sp), Some(fp)) = (self.registers.get(A::SP), self.registers.get(A::FP)) else {
            return Ok(false);
        };
        let mut code = [0; MAX_CODE];
        let len = self.space.code(pc, &mut code);
        let code = code.get(..len).unwrap_or_default();
        let word = |at| self.stack.word(at).ok();
        let slot = if A::is_before_frame(code) {
            sp
        } else if A::makes_frame(code) && word(sp) == Some(fp) && self.has_pushed::<A>(pc) {
            sp.wrapping_add(8)
        } else {
            return Ok(false);
        };
        let Some(caller) = word(slot) else {
            return Ok(false);
        };
        if !self.is_called::<A>(caller, pc) {
            return Ok(false);
        }
        self.registers.keep(0);
        self.registers.set(A::SP, slot.wrapping_add(8));
        self.registers.set(A::FP, fp);
        self.slot = slot;
        self.go_to(CodeAddress::Return(Avma(caller)))?;
        Ok(true)
    }

    /// Whether the instruction before a program counter pushes the frame pointer.
    fn has_pushed<A: Arch>(&self, pc: u64) -> bool {
        let mut push = [0];
        self.read_code(pc.wrapping_sub(1), &mut push) && A::pushes_frame_pointer(push[0])
    }

    /// Whether a word may be the return address of the function that has come to a program counter and has
    /// not made its frame yet: it comes after a call, and where that says what it calls, that is this.
    fn is_called<A: Arch>(&self, word: u64, pc: u64) -> bool {
        let mut call = [0; LONGEST_CALL];
        if !self.read_code(word.wrapping_sub(LONGEST_CALL as u64), &mut call) {
            return false;
        }
        match A::call_before(word, &call) {
            Call::None => false,
            Call::Somewhere => is_code(self.space, word),
            Call::To(start) => {
                let mut code = [0; MAX_CODE];
                let len = usize::try_from(pc.wrapping_sub(start)).ok();
                let code = len.and_then(|len| code.get_mut(..len));
                code.is_some_and(|code| self.read_code(start, code) && A::is_start(code))
            }
        }
    }

    /// Reads code; whether all of it could be read.
    fn read_code(&self, avma: u64, into: &mut [u8]) -> bool {
        let mut done = 0;
        while done < into.len() {
            match self
                .space
                .code(avma.wrapping_add(done as u64), &mut into[done..])
            {
                0 => return false,
                n => done += n,
            }
        }
        true
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
