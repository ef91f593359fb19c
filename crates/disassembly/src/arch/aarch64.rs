//! 64-bit ARM, little-endian.

use yaxpeax_arch::{Decoder as _, U8Reader};
use yaxpeax_arm::armv8::a64::{InstDecoder, Opcode, Operand};

use crate::{Flow, Instruction, Reference};

/// The instructions of `bytes`.
pub(crate) fn decode(address: u64, bytes: &[u8]) -> Vec<Instruction> {
    let mut at = address;
    let mut instructions = Vec::with_capacity(bytes.len() / 4 + 1);
    for word in bytes.chunks(4) {
        instructions.push(instruction(at, word));
        at = at.wrapping_add(word.len() as u64);
    }
    instructions
}

/// The instruction of a word, which is shorter at the end of the code only.
fn instruction(address: u64, word: &[u8]) -> Instruction {
    let decoded = InstDecoder::default().decode(&mut U8Reader::new(word));
    let (text, flow, reference) = match &decoded {
        Ok(decoded) => {
            let target = decoded.operands.iter().find_map(|operand| match operand {
                Operand::PCOffset(offset) => Some(address.wrapping_add_signed(*offset)),
                _ => None,
            });
            let flow = match decoded.opcode {
                Opcode::B => Flow::Jump(target),
                Opcode::BL | Opcode::BLR => Flow::Call(target),
                Opcode::BR => Flow::Jump(None),
                Opcode::RET => Flow::Return,
                Opcode::Bcc(_) | Opcode::CBZ | Opcode::CBNZ | Opcode::TBZ | Opcode::TBNZ => {
                    Flow::Branch(target)
                }
                _ => Flow::Next,
            };
            let reference = target.map(|address| Reference {
                address,
                is_pointer: false,
            });
            (decoded.to_string(), flow, reference)
        }
        Err(_) => (invalid(word), Flow::Stop, None),
    };
    Instruction {
        address,
        len: u8::try_from(word.len()).unwrap_or(u8::MAX),
        text,
        flow,
        reference,
        is_valid: decoded.is_ok(),
    }
}

/// A word that is no instruction.
fn invalid(word: &[u8]) -> String {
    match <[u8; 4]>::try_from(word) {
        Ok(word) => format!(".inst  0x{:08x} ; undefined", u32::from_le_bytes(word)),
        Err(_) => {
            let bytes: Vec<String> = word.iter().map(|byte| format!("0x{byte:02x}")).collect();
            format!(".byte  {}", bytes.join(", "))
        }
    }
}
