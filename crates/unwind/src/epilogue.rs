//! Code that nothing describes, left by its own instructions: what stands between a return address and the
//! function's return takes its frame away. Stubs that were made at run time, such as those that Python
//! calls its functions through for profilers, have nothing else there.

use crate::RegisterSet;
use crate::arch::{Arch, Does};
use crate::stack::{Stack, Unread};

/// The caller: its registers and where its program counter was.
#[derive(Debug)]
pub(crate) struct Caller {
    pub(crate) registers: RegisterSet,
    pub(crate) slot: u64,
}

/// Goes to the caller by the code that begins at a return address. `None` where that is no plain
/// epilogue: no jump, nothing but what is known here.
pub(crate) fn follow<A: Arch>(
    mut code: &[u8],
    registers: &RegisterSet,
    stack: &Stack<'_>,
) -> Result<Option<Caller>, Unread> {
    let mut registers = *registers;
    let Some(start) = registers.get(A::SP) else {
        return Ok(None);
    };
    let mut sp = start;
    while let Some((len, does)) = A::epilogue(code) {
        code = code.get(len..).unwrap_or_default();
        match does {
            Does::Add(bytes) => sp = sp.wrapping_add_signed(bytes.into()),
            Does::Pop(register) => {
                registers.set(register, stack.word(sp)?);
                sp = sp.wrapping_add(8);
            }
            Does::FromFramePointer | Does::Leave => {
                let Some(frame) = registers.get(A::FP) else {
                    return Ok(None);
                };
                sp = frame;
                if does == Does::Leave {
                    registers.set(A::FP, stack.word(sp)?);
                    sp = sp.wrapping_add(8);
                }
            }
            Does::Writes(register) => registers.forget(register),
            Does::Nothing => {}
            Does::Return(bytes) => {
                let pc = stack.word(sp)?;
                registers.keep(A::CALLEE_SAVED);
                registers.set(A::SP, sp.wrapping_add(8 + u64::from(bytes)));
                registers.set_pc(pc);
                let caller = Caller {
                    registers,
                    slot: sp,
                };
                return Ok((sp >= start).then_some(caller));
            }
        }
        if sp < start {
            return Ok(None);
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arch::x86_64::X86_64;
    use rprof_abi::Machine;

    const RBP: u16 = X86_64::FP;
    const RSP: u16 = X86_64::SP;

    /// A stack of words that are the numbers of their places, from 0x1000 on.
    fn caller(code: &[u8]) -> Option<(u64, u64, Option<u64>)> {
        let bytes: Vec<u8> = (0..64u64).flat_map(u64::to_le_bytes).collect();
        let stack = Stack::truncated(0x1000, &bytes);
        let mut registers = RegisterSet::new(Machine::X86_64, 1);
        registers.set(RSP, 0x1000);
        registers.set(RBP, 0x1050);
        let caller = follow::<X86_64>(code, &registers, &stack).unwrap()?;
        let registers = caller.registers;
        Some((registers.pc(), registers.get(RSP)?, registers.get(RBP)))
    }

    #[test]
    fn epilogues_lead_to_the_caller() {
        assert_eq!(caller(&[0xc3]), Some((0, 0x1008, Some(0x1050))));
        assert_eq!(caller(&[0xc2, 0x18, 0]), Some((0, 0x1020, Some(0x1050))));
        let python = [0x48, 0x83, 0xc4, 8, 0xc3];
        assert_eq!(caller(&python), Some((1, 0x1010, Some(0x1050))));
        let pops = [0x48, 0x81, 0xc4, 16, 0, 0, 0, 0x5b, 0x41, 0x5c, 0x5d, 0xc3];
        assert_eq!(caller(&pops), Some((5, 0x1030, Some(4))));
        assert_eq!(caller(&[0xc9, 0xc3]), Some((11, 0x1060, Some(10))));
        let moves = [0x48, 0x89, 0xc3, 0x89, 0xd0, 0x48, 0x89, 0xec, 0x5d, 0xc3];
        assert_eq!(caller(&moves), Some((11, 0x1060, Some(10))));
    }

    #[test]
    fn what_else_code_does_is_not_known() {
        for code in [
            &[][..],
            &[0x48, 0x83, 0xc4],
            &[0xeb, 0, 0xc3],
            &[0xff, 0xd0, 0xc3],
            &[0x5c, 0xc3],
            &[0x48, 0x89, 0xc4, 0xc3],
            &[0x49, 0x8b, 0xe0, 0xc3],
            &[0x48, 0x83, 0xc4, 0xf8, 0xc3],
            &[0x90; 64],
            // Padding after a call that does not return.
            &[0x90, 0xc3],
            // A function begins: what came before does not return.
            &[0xf3, 0x0f, 0x1e, 0xfa, 0xc3],
        ] {
            assert_eq!(caller(code), None, "{code:x?}");
        }
    }
}
