//! DWARF evaluation: leaving a frame with all that its description says: all registers, expressions, signal frames.

use crate::RegisterSet;
use crate::arch::Arch;
use crate::gimli_types::Bytes;
use crate::gimli_types::Scratch;
use crate::stack::{Stack, Unread};
use gimli::{
    BaseAddresses, CfaRule, Encoding, EvaluationResult, Format, RegisterRule, UnwindExpression,
    UnwindSection, Value,
};
use rprof_base::Svma;
use rprof_images::cie_of;

/// The frame that is left.
pub(crate) struct Frame<'f> {
    /// The section that describes it.
    pub(crate) bytes: Bytes<'f>,
    /// Where to look up its description.
    pub(crate) address: Svma,
    pub(crate) registers: &'f RegisterSet,
    pub(crate) stack: &'f Stack<'f>,
}

/// The frame above it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Caller {
    pub(crate) registers: RegisterSet,
    /// Where its program counter was read (AVMA); 0 if a signal put it there, or it was not read.
    pub(crate) slot: u64,
    /// Whether it was interrupted (the frame left is a signal's), and did not call.
    pub(crate) is_interrupted: bool,
}

/// Why a frame cannot be left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StepError {
    /// The thread began here.
    Outermost,
    /// The description is damaged or says nothing about this address.
    Bad,
    /// It asks for a register that was not recorded, or not kept.
    Unknown,
    /// It asks for memory that is not at hand.
    Unread(Unread),
}

/// Operations of one expression; those that compilers make have a dozen.
const MAX_OPERATIONS: u32 = 1000;

/// Bytes of a description; that of the largest functions takes some thousand.
const MAX_LEN: usize = 1 << 17;

const ENCODING: Encoding = Encoding {
    address_size: 8,
    format: Format::Dwarf32,
    version: 4,
};

impl From<gimli::Error> for StepError {
    fn from(_: gimli::Error) -> Self {
        Self::Bad
    }
}

impl From<Unread> for StepError {
    fn from(unread: Unread) -> Self {
        Self::Unread(unread)
    }
}

impl<'f> Frame<'f> {
    /// Finds the caller's registers by the description at an offset of a section.
    pub(crate) fn step<A, S>(
        &self,
        section: &'f S,
        bases: &BaseAddresses,
        at: S::Offset,
        scratch: &mut Scratch,
    ) -> Result<Caller, StepError>
    where
        A: Arch,
        S: UnwindSection<Bytes<'f>>,
    {
        let fde = section.fde_from_offset(bases, at, cie_of(self.bytes))?;
        // Read from its start for every frame.
        if fde.entry_len() > MAX_LEN {
            return Err(StepError::Bad);
        }
        let row = fde.unwind_info_for_address(section, bases, scratch, self.address.0)?;
        let cfa = match row.cfa() {
            &CfaRule::RegisterAndOffset { register, offset } => {
                self.register::<A>(register)?.wrapping_add_signed(offset)
            }
            CfaRule::Expression(expression) => self.evaluate::<A, S>(section, expression, None)?,
        };
        let is_interrupted = fde.is_signal_trampoline();
        let mut caller = *self.registers;
        if !is_interrupted {
            caller.keep(A::CALLEE_SAVED);
        }
        caller.set(A::SP, cfa);
        let column = fde.cie().return_address_register();
        let (mut pc, mut slot) = (None, 0);
        for &(register, ref rule) in row.registers() {
            let value = match self.value::<A, S>(section, cfa, register, rule) {
                // On its way out the function has taken it back already.
                Err(StepError::Unread(Unread::Below))
                    if A::HAS_LINK_REGISTER || register != column =>
                {
                    self.registers.get(register.0)
                }
                value => value?,
            };
            if register == column {
                // An undefined return address ends the stack.
                pc = Some(value.ok_or(StepError::Outermost)?);
                if let (&RegisterRule::Offset(offset), false) = (rule, is_interrupted) {
                    slot = cfa.wrapping_add_signed(offset);
                }
            }
            match value {
                Some(value) => caller.set(register.0, value),
                None => caller.forget(register.0),
            }
        }
        let pc = match pc {
            Some(pc) => pc,
            None if A::HAS_LINK_REGISTER => self.register::<A>(column)?,
            None => return Err(StepError::Outermost),
        };
        caller.set_pc(A::strip(pc));
        Ok(Caller {
            registers: caller,
            slot,
            is_interrupted,
        })
    }

    /// A register's value in the caller; `None` if it has none.
    fn value<'s, A, S>(
        &self,
        section: &'s S,
        cfa: u64,
        register: gimli::Register,
        rule: &RegisterRule<usize>,
    ) -> Result<Option<u64>, StepError>
    where
        A: Arch,
        S: UnwindSection<Bytes<'s>>,
    {
        Ok(match rule {
            RegisterRule::Undefined => None,
            RegisterRule::SameValue => self.register::<A>(register).ok(),
            &RegisterRule::Offset(offset) => {
                Some(self.stack.word(cfa.wrapping_add_signed(offset))?)
            }
            &RegisterRule::ValOffset(offset) => Some(cfa.wrapping_add_signed(offset)),
            &RegisterRule::Register(other) => self.register::<A>(other).ok(),
            RegisterRule::Expression(expression) => {
                let at = self.evaluate::<A, S>(section, expression, Some(cfa))?;
                Some(self.stack.word(at)?)
            }
            RegisterRule::ValExpression(expression) => {
                Some(self.evaluate::<A, S>(section, expression, Some(cfa))?)
            }
            // The state of signed return addresses, and the like.
            _ => None,
        })
    }

    fn register<A: Arch>(&self, register: gimli::Register) -> Result<u64, StepError> {
        if register.0 == A::RETURN && !A::HAS_LINK_REGISTER {
            return Ok(self.registers.pc());
        }
        self.registers.get(register.0).ok_or(StepError::Unknown)
    }

    fn evaluate<'s, A, S>(
        &self,
        section: &'s S,
        expression: &UnwindExpression<usize>,
        initial: Option<u64>,
    ) -> Result<u64, StepError>
    where
        A: Arch,
        S: UnwindSection<Bytes<'s>>,
    {
        let expression = expression.get(section)?;
        let mut evaluation = expression.evaluation(ENCODING);
        evaluation.set_max_iterations(MAX_OPERATIONS);
        if let Some(initial) = initial {
            evaluation.set_initial_value(initial);
        }
        let mut result = evaluation.evaluate()?;
        loop {
            result = match result {
                EvaluationResult::Complete => break,
                EvaluationResult::RequiresMemory { address, size, .. } => {
                    let word = self.stack.small(address, size)?;
                    evaluation.resume_with_memory(Value::Generic(word))?
                }
                EvaluationResult::RequiresRegister { register, .. } => {
                    let value = self.register::<A>(register)?;
                    evaluation.resume_with_register(Value::Generic(value))?
                }
                _ => return Err(StepError::Bad),
            };
        }
        // Rules want a value, not where one is.
        let value = match evaluation.as_result().last() {
            Some(piece) => match piece.location {
                gimli::Location::Address { address } => Some(address),
                gimli::Location::Value { value } => value.to_u64(u64::MAX).ok(),
                gimli::Location::Register { register } => Some(self.register::<A>(register)?),
                _ => None,
            },
            None => None,
        };
        value.ok_or(StepError::Bad)
    }
}
