//! Addresses in two steps: `adrp` names a page, and an instruction after it the place in the page.

use std::collections::HashSet;

use yaxpeax_arm::armv8::a64::{Instruction as Decoded, Opcode, Operand, SizeCode};

use crate::{Flow, Instruction, Reference};

/// How many instructions after `adrp` its page is still looked for.
const REACH: usize = 16;

/// The same where code jumps through a table: where its cases begin is not known.
const REACH_AMONG_CASES: usize = 4;

/// What a register holds.
#[derive(Clone, Copy)]
enum Held {
    /// This address.
    Address(u64),
    /// What was read at this address.
    ReadAt(u64),
}

/// What registers hold at a place of the code.
pub(super) struct Pages {
    /// By number; and since which instruction.
    registers: [Option<(Held, usize)>; 31],
    /// Where others jump to: what registers hold there is not known.
    targets: HashSet<u64>,
    /// Whether there are jumps that nothing is known of.
    has_tables: bool,
}

impl Pages {
    /// For code whose jumps are known.
    pub(super) fn of(instructions: &[Instruction]) -> Self {
        let targets = instructions
            .iter()
            .filter_map(|instruction| match instruction.flow {
                Flow::Jump(target) | Flow::Branch(target) => target,
                _ => None,
            });
        Self {
            registers: [None; 31],
            targets: targets.collect(),
            has_tables: instructions
                .iter()
                .any(|instruction| instruction.flow == Flow::Jump(None)),
        }
    }

    /// Says to which addresses instructions refer in two steps.
    pub(super) fn complete(mut self, instructions: &mut [Instruction], all: &[Option<Decoded>]) {
        for (position, (instruction, decoded)) in instructions.iter_mut().zip(all).enumerate() {
            if self.targets.contains(&instruction.address) {
                self.registers = [None; 31];
            }
            let Some(decoded) = decoded else {
                self.registers = [None; 31];
                continue;
            };
            let held = self.step(position, instruction, decoded);
            match instruction.flow {
                Flow::Next => {}
                // What is next may be a case, too.
                Flow::Branch(_) if !self.has_tables => {}
                _ => self.registers = [None; 31],
            }
            self.forget_written(decoded);
            if let (
                Some(held),
                Some(Operand::Register(SizeCode::X, to) | Operand::RegisterOrSP(SizeCode::X, to)),
            ) = (held, decoded.operands.first())
                && let Some(register) = self.registers.get_mut(usize::from(*to))
            {
                *register = Some((held, position));
            }
        }
    }

    /// Completes an instruction; what its first operand holds after it.
    fn step(
        &self,
        position: usize,
        instruction: &mut Instruction,
        decoded: &Decoded,
    ) -> Option<Held> {
        match (decoded.opcode, decoded.operands) {
            (Opcode::ADRP | Opcode::ADR, _) => {
                instruction.reference.map(|to| Held::Address(to.address))
            }
            (
                Opcode::ADD,
                [
                    _,
                    Operand::Register(_, from) | Operand::RegisterOrSP(_, from),
                    by,
                    _,
                ],
            ) => {
                let address = self.address(position, from)?.wrapping_add(number(&by)?);
                instruction.reference = Some(data(address));
                Some(Held::Address(address))
            }
            (Opcode::BR | Opcode::BLR, [Operand::Register(_, from), ..]) => {
                if let Some((Held::ReadAt(address), _)) = self.held(position, from) {
                    instruction.reference = Some(Reference {
                        address,
                        is_pointer: true,
                    });
                }
                None
            }
            (opcode, operands) => {
                let address = operands.iter().find_map(|operand| match operand {
                    Operand::RegPreIndex(from, offset, false) => Some(
                        self.address(position, *from)?
                            .wrapping_add_signed(i64::from(*offset)),
                    ),
                    _ => None,
                })?;
                instruction.reference = Some(data(address));
                (opcode == Opcode::LDR).then_some(Held::ReadAt(address))
            }
        }
    }

    fn held(&self, position: usize, register: u16) -> Option<(Held, usize)> {
        let held = self.registers.get(usize::from(register)).copied().flatten();
        let reach = if self.has_tables {
            REACH_AMONG_CASES
        } else {
            REACH
        };
        held.filter(|(_, since)| position - since <= reach)
    }

    fn address(&self, position: usize, register: u16) -> Option<u64> {
        match self.held(position, register)? {
            (Held::Address(address), _) => Some(address),
            (Held::ReadAt(_), _) => None,
        }
    }

    /// Forgets the registers that an instruction may have written.
    fn forget_written(&mut self, decoded: &Decoded) {
        let mut forget = |register: u16| {
            if let Some(register) = self.registers.get_mut(usize::from(register)) {
                *register = None;
            }
        };
        for operand in decoded.operands {
            match operand {
                Operand::Register(_, register)
                | Operand::RegisterOrSP(_, register)
                | Operand::RegPreIndex(register, _, true)
                | Operand::RegPostIndex(register, _)
                | Operand::RegPostIndexReg(register, _)
                    if may_write(decoded, &operand) =>
                {
                    forget(register);
                }
                Operand::RegisterPair(_, register) => {
                    forget(register);
                    forget(register + 1);
                }
                _ => {}
            }
        }
    }
}

/// Whether a register among the operands may be written: the first, both of a pair that is loaded, and
/// bases that move. Which others are does not matter: they are forgotten, too.
fn may_write(decoded: &Decoded, operand: &Operand) -> bool {
    let is_first = decoded.operands.first() == Some(operand);
    match operand {
        // Sums and moves write the first only.
        Operand::Register(..) | Operand::RegisterOrSP(..) => {
            is_first
                || !matches!(
                    decoded.opcode,
                    Opcode::ADD | Opcode::ORR | Opcode::MOVZ | Opcode::SUB | Opcode::SUBS
                )
        }
        _ => true,
    }
}

/// The number of an addition.
fn number(operand: &Operand) -> Option<u64> {
    match operand {
        Operand::Immediate(value) => Some(u64::from(*value)),
        Operand::Imm16(value) => Some(u64::from(*value)),
        Operand::ImmShift(value, shift) => Some(u64::from(*value) << shift),
        _ => None,
    }
}

fn data(address: u64) -> Reference {
    Reference {
        address,
        is_pointer: false,
    }
}
