//! 64-bit ARM, little-endian.

mod pages;
mod registers;
mod text;
mod word;

use yaxpeax_arch::{Decoder as _, U8Reader};
use yaxpeax_arm::armv8::a64::{DecodeError, InstDecoder, Instruction as Decoded, Opcode, Operand};

use self::pages::Pages;
use self::word::Word;
use crate::{Flow, Instruction, Reference};

/// The instructions of `bytes`.
pub(crate) fn decode(address: u64, bytes: &[u8]) -> Vec<Instruction> {
    let (mut instructions, mut all) = (Vec::new(), Vec::new());
    let mut at = address;
    for four in bytes.chunks(4) {
        let decoded = <[u8; 4]>::try_from(four).ok().map(|four| {
            let bits = u32::from_le_bytes(four);
            Word { address: at, bits }
        });
        let (instruction, decoded) = match decoded {
            Some(word) => instruction(word),
            None => (rest(at, four), None),
        };
        instructions.push(instruction);
        all.push(decoded);
        at = at.wrapping_add(four.len() as u64);
    }
    Pages::of(&instructions).complete(&mut instructions, &all);
    instructions
}

/// The instruction of a word.
fn instruction(word: Word) -> (Instruction, Option<Decoded>) {
    let decoded = decoded(word);
    let target = decoded
        .as_ref()
        .ok()
        .and_then(|decoded| target(word, decoded));
    let (text, flow) = match &decoded {
        Ok(decoded) => (text::text(word, decoded), flow(decoded, target)),
        // It is an instruction, which is not known here.
        Err(DecodeError::IncompleteDecoder) => (
            format!(".inst  0x{:08x} ; not decoded", word.bits),
            Flow::Next,
        ),
        Err(_) => (
            format!(".inst  0x{:08x} ; undefined", word.bits),
            Flow::Stop,
        ),
    };
    let instruction = Instruction {
        address: word.address,
        len: 4,
        text,
        flow,
        reference: target.map(|address| Reference {
            address,
            is_pointer: false,
        }),
        is_valid: decoded.is_ok(),
    };
    (instruction, decoded.ok())
}

/// What the library makes of a word, where that can be true.
fn decoded(word: Word) -> Result<Decoded, DecodeError> {
    if word.is_scalable() {
        return Err(DecodeError::IncompleteDecoder);
    }
    if word.is_unallocated() {
        return Err(DecodeError::InvalidOpcode);
    }
    let bytes = word.bits.to_le_bytes();
    let mut decoded = InstDecoder::default()
        .decode(&mut U8Reader::new(&bytes))
        .map_err(|error| {
            // Without the newest instructions, the library takes them for undefined.
            if word.may_be_newer() {
                DecodeError::IncompleteDecoder
            } else {
                error
            }
        })?;
    if decoded.opcode == Opcode::Invalid {
        return Err(DecodeError::IncompleteDecoder);
    }
    // Pages are counted from that of the instruction.
    if decoded.opcode == Opcode::ADRP
        && let Operand::PCOffset(offset) = &mut decoded.operands[1]
    {
        *offset -= (word.address & 0xfff).cast_signed();
    }
    Ok(decoded)
}

/// The address that is part of the instruction.
fn target(word: Word, decoded: &Decoded) -> Option<u64> {
    decoded.operands.iter().find_map(|operand| match operand {
        Operand::PCOffset(offset) => Some(word.address.wrapping_add_signed(*offset)),
        _ => None,
    })
}

/// Where execution goes on.
fn flow(decoded: &Decoded, target: Option<u64>) -> Flow {
    match decoded.opcode {
        Opcode::B => Flow::Jump(target),
        Opcode::BR | Opcode::BRAA | Opcode::BRAAZ | Opcode::BRAB | Opcode::BRABZ => {
            Flow::Jump(None)
        }
        Opcode::BL => Flow::Call(target),
        Opcode::BLR | Opcode::BLRAA | Opcode::BLRAAZ | Opcode::BLRAB | Opcode::BLRABZ => {
            Flow::Call(None)
        }
        Opcode::Bcc(_)
        | Opcode::BCcc(_)
        | Opcode::CBZ
        | Opcode::CBNZ
        | Opcode::TBZ
        | Opcode::TBNZ => Flow::Branch(target),
        Opcode::RET
        | Opcode::RETAA
        | Opcode::RETAB
        | Opcode::ERET
        | Opcode::ERETAA
        | Opcode::ERETAB => Flow::Return,
        Opcode::UDF | Opcode::BRK | Opcode::HLT => Flow::Stop,
        _ => Flow::Next,
    }
}

/// What is left at the end, shorter than an instruction.
fn rest(address: u64, bytes: &[u8]) -> Instruction {
    let written: Vec<String> = bytes.iter().map(|byte| format!("0x{byte:02x}")).collect();
    Instruction {
        address,
        len: u8::try_from(bytes.len()).unwrap_or(u8::MAX),
        text: format!(".byte  {}", written.join(", ")),
        flow: Flow::Stop,
        reference: None,
        is_valid: false,
    }
}
