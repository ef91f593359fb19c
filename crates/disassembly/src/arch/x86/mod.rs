//! x86, of 64 and of 32 bits.

mod att;
mod intel;
mod mode;
mod parts;
mod prefixes;
mod sib;
mod text;

use iced_x86::{Code, FlowControl, Mnemonic, OpKind, Register};

pub(crate) use self::mode::Mode;
use self::mode::decoder;
use self::parts::has_memory;
use self::prefixes::Prefixed;
use self::text::Writer;
use crate::{Flow, Instruction, Reference, Syntax};

/// The instructions of `bytes`, with the texts of those that are wanted.
pub(crate) fn decode(
    (mode, syntax): (Mode, Syntax),
    address: u64,
    bytes: &[u8],
    is_wanted: &dyn Fn(u64) -> bool,
) -> Vec<Instruction> {
    let mut decoder = decoder(mode, address, bytes);
    let mut writer = Writer::new(syntax);
    // Four bytes an instruction, as compiled code has them.
    let mut instructions = Vec::with_capacity(bytes.len() / 4);
    let mut decoded = iced_x86::Instruction::default();
    let mut position = 0;
    while position < bytes.len() {
        decoder.decode_out(&mut decoded);
        if decoded.is_invalid() {
            // The byte may be data: the next one may begin an instruction.
            position += 1;
            let next = address.wrapping_add(position as u64);
            if decoder.try_set_position(position).is_err() {
                break;
            }
            decoder.set_ip(next);
            instructions.push(invalid(next.wrapping_sub(1)));
            continue;
        }
        position += decoded.len();
        let written = bytes
            .get(position - decoded.len()..position)
            .unwrap_or_default();
        let has_text = is_filler(&decoded) || is_wanted(decoded.ip());
        let text = has_text.then(|| {
            writer.text(&Prefixed {
                mode,
                syntax,
                decoded: &decoded,
                bytes: written,
            })
        });
        instructions.push(Instruction {
            address: decoded.ip(),
            len: u8::try_from(decoded.len()).unwrap_or(u8::MAX),
            text: text.unwrap_or_default(),
            flow: flow(&decoded),
            reference: reference(&decoded),
            is_valid: true,
        });
    }
    instructions
}

/// Whether an instruction may be what compilers fill gaps with.
fn is_filler(decoded: &iced_x86::Instruction) -> bool {
    matches!(
        decoded.mnemonic(),
        Mnemonic::Nop | Mnemonic::Reservednop | Mnemonic::Xchg | Mnemonic::Int3
    )
}

/// A byte that begins no instruction, in the words of `objdump`.
fn invalid(address: u64) -> Instruction {
    Instruction {
        address,
        len: 1,
        text: "(bad)".to_owned(),
        flow: Flow::Stop,
        reference: None,
        is_valid: false,
    }
}

/// Where execution goes on.
fn flow(decoded: &iced_x86::Instruction) -> Flow {
    match decoded.flow_control() {
        FlowControl::UnconditionalBranch | FlowControl::IndirectBranch => {
            Flow::Jump(target(decoded))
        }
        FlowControl::ConditionalBranch => Flow::Branch(target(decoded)),
        // It goes on at the target where the transaction is given up.
        FlowControl::XbeginXabortXend if decoded.mnemonic() == Mnemonic::Xbegin => {
            Flow::Branch(target(decoded))
        }
        FlowControl::Return => Flow::Return,
        // System calls and the like are no calls of functions.
        FlowControl::Call | FlowControl::IndirectCall if decoded.mnemonic() == Mnemonic::Call => {
            Flow::Call(target(decoded))
        }
        FlowControl::Interrupt if decoded.code() == Code::Int3 => Flow::Stop,
        FlowControl::Exception => Flow::Stop,
        _ => Flow::Next,
    }
}

/// Where a jump or call that says so itself goes to.
fn target(decoded: &iced_x86::Instruction) -> Option<u64> {
    match decoded.op0_kind() {
        OpKind::NearBranch16 | OpKind::NearBranch32 | OpKind::NearBranch64 => {
            Some(decoded.near_branch_target())
        }
        _ => None,
    }
}

/// What is referred to: the target, or memory that is named without a register other than the program
/// counter.
fn reference(decoded: &iced_x86::Instruction) -> Option<Reference> {
    if let Some(address) = target(decoded) {
        return Some(Reference {
            address,
            is_pointer: false,
        });
    }
    if !has_memory(decoded) || !names_an_address(decoded) {
        return None;
    }
    Some(Reference {
        address: decoded.memory_displacement64(),
        is_pointer: matches!(
            decoded.flow_control(),
            FlowControl::IndirectBranch | FlowControl::IndirectCall
        ),
    })
}

/// Whether the memory operand is an address, not one to which registers or a segment are added.
fn names_an_address(decoded: &iced_x86::Instruction) -> bool {
    if decoded.is_ip_rel_memory_operand() {
        return true;
    }
    decoded.memory_base() == Register::None
        && decoded.memory_index() == Register::None
        && !matches!(decoded.memory_segment(), Register::FS | Register::GS)
}
