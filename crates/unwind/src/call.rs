//! Calls, by their instructions.

use crate::arch::{Arch, Call, LONGEST_CALL};
use rprof_abi::{Machine, for_machine};

/// The call at the end of code, before an address.
pub fn call_before(machine: Machine, avma: u64, code: &[u8; LONGEST_CALL]) -> Call {
    for_machine!(machine, A => A::call_before(avma, code))
}

/// Whether code is a jump through a table: what it leads to cannot be told from it.
pub fn is_jump_stub(machine: Machine, code: &[u8]) -> bool {
    for_machine!(machine, A => A::is_jump_stub(code))
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
