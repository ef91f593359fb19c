//! Leaving frames that nothing describes by what their code does.

use super::Walk;
use crate::arch::{Arch, Call, LONGEST_CALL};
use crate::epilogue;
use crate::space::is_code;
use crate::{AddressSpace, Outcome};
use rprof_base::{Avma, CodeAddress};

/// Bytes of code that are looked at.
const MAX_CODE: usize = 64;

impl<S: AddressSpace> Walk<'_, S> {
    /// Leaves a frame by what its code does from here to its return; whether it could be.
    pub(super) fn leave_by_code<A: Arch>(&mut self, pc: u64) -> Result<bool, Outcome> {
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
    pub(super) fn leave_before_frame<A: Arch>(&mut self, pc: u64) -> Result<bool, Outcome> {
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
}
