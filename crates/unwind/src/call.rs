//! Calls, by their instructions.

use crate::Machine;

/// Bytes of the longest call instruction, rounded up.
pub const LONGEST_CALL: usize = 8;

/// What code calls just before a return address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Call {
    /// Nothing: it is no return address.
    None,
    /// Code at an address (AVMA).
    To(u64),
    /// What a register or memory says.
    Somewhere,
}

/// The call at the end of code, before an address.
///
/// Source: Intel SDM volume 2, CALL (E8 and FF /2); Arm ARM, BL and BLR.
pub fn call_before(machine: Machine, avma: u64, code: &[u8; LONGEST_CALL]) -> Call {
    let [.., c3, c4, c5, c6, c7] = *code;
    match machine {
        Machine::X86_64 => {
            // FF /2: without or with displacement or index; a prefix may stand before it.
            let is_indirect = |len: usize| {
                let at = LONGEST_CALL - len;
                code[at] == 0xff && code[at + 1] >> 3 & 7 == 2
            };
            if c3 == 0xe8 {
                let to = i32::from_le_bytes([c4, c5, c6, c7]);
                Call::To(avma.wrapping_add_signed(to.into()))
            } else if [2, 3, 4, 6, 7].into_iter().any(is_indirect) {
                Call::Somewhere
            } else {
                Call::None
            }
        }
        Machine::Aarch64 => {
            let word = u32::from_le_bytes([c4, c5, c6, c7]);
            if word >> 26 == 0b10_0101 {
                // 26 bits with their sign, in words.
                let to = i64::from((word << 6).cast_signed() >> 6) * 4;
                Call::To(avma.wrapping_sub(4).wrapping_add_signed(to))
            } else if word & 0xfeff_f000 == 0xd63f_0000 {
                // BLR, and its forms with pointer authentication.
                Call::Somewhere
            } else {
                Call::None
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_are_known_by_their_bytes() {
        let code = |tail: &[u8]| {
            let mut code = [0x90; LONGEST_CALL];
            code[LONGEST_CALL - tail.len()..].copy_from_slice(tail);
            code
        };
        let x86 = |tail: &[u8]| call_before(Machine::X86_64, 0x1000, &code(tail));
        assert_eq!(x86(&[0xe8, 1, 2, 0, 0]), Call::To(0x1201));
        assert_eq!(x86(&[0xe8, 0xf0, 0xff, 0xff, 0xff]), Call::To(0xff0));
        for indirect in [
            &[0xff, 0xd0][..],
            &[0x41, 0xff, 0xd4],
            &[0xff, 0x15, 1, 2, 3, 4],
            &[0xff, 0x14, 0xc8],
            &[0xff, 0x50, 8],
            &[0xff, 0x94, 0x24, 1, 2, 3, 4],
        ] {
            assert_eq!(x86(indirect), Call::Somewhere);
        }
        for other in [&[0x90; 8][..], &[0xff, 0xe0], &[0x0f, 0x05]] {
            assert_eq!(x86(other), Call::None);
        }
        let arm = |word: u32| call_before(Machine::Aarch64, 0x1000, &code(&word.to_le_bytes()));
        assert_eq!(arm(0x9400_0010), Call::To(0xffc + 64));
        assert_eq!(arm(0x97ff_ffff), Call::To(0xff8));
        assert_eq!(
            (arm(0xd63f_0100), arm(0xd73f_0901)),
            (Call::Somewhere, Call::Somewhere)
        );
        for other in [0x1400_0010, 0xd65f_03c0, 0xd503_201f] {
            assert_eq!(arm(other), Call::None);
        }
    }
}
