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

/// Where the address is that code (at an AVMA) calls or jumps to through a table, if that is what it does and the code
/// says where: a stub from its begin, a call up to its end.
pub fn jump_slot(machine: Machine, avma: u64, code: &[u8]) -> Option<u64> {
    for_machine!(machine, A => A::jump_slot(avma, code))
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

    #[test]
    fn tables_of_stubs_and_calls_are_found() {
        let slot = |code: &[u8]| jump_slot(Machine::X86_64, 0x1000, code);
        assert_eq!(slot(&[0xff, 0x25, 0x10, 0, 0, 0, 0x90]), Some(0x1016));
        let with_mark = [0xf3, 0x0f, 0x1e, 0xfa, 0xff, 0x25, 0x10, 0, 0, 0];
        assert_eq!(slot(&with_mark), Some(0x101a));
        let with_bnd = [
            0xf3, 0x0f, 0x1e, 0xfa, 0xf2, 0xff, 0x25, 0xf0, 0xff, 0xff, 0xff,
        ];
        assert_eq!(slot(&with_bnd), Some(0xffb));
        // A call, behind other code.
        assert_eq!(slot(&[0x90, 0x90, 0xff, 0x15, 0x10, 0, 0, 0]), Some(0x1018));
        assert_eq!(slot(&[0xff, 0xd0]), None);
        assert_eq!(slot(&[0xff, 0x25]), None);
        assert_eq!(slot(&[]), None);
        assert_eq!(jump_slot(Machine::Aarch64, 0x1000, &with_mark), None);
    }

    #[test]
    fn calls_of_riscv_are_known_by_their_bytes() {
        let call = |first: u32, last: u32| {
            let code = [first, last].map(u32::to_le_bytes).concat();
            call_before(Machine::Riscv64, 0x1000, code.first_chunk().unwrap())
        };
        const NOP: u32 = 0x13;
        // jal ra, 0x40; jal ra, -4; jal ra, 0x12ab6; jal ra, -0x100000
        assert_eq!(call(NOP, 0x0400_00ef), Call::To(0xffc + 0x40));
        assert_eq!(call(NOP, 0xffdf_f0ef), Call::To(0xff8));
        assert_eq!(call(NOP, 0x2b71_20ef), Call::To(0xffc + 0x12ab6));
        let far_back = 0xffc_u64.wrapping_sub(0x10_0000);
        assert_eq!(call(NOP, 0x8000_00ef), Call::To(far_back));
        // auipc ra, 0x2; jalr ra, -8(ra)
        assert_eq!(call(0x2097, 0xff80_80e7), Call::To(0xff8 + 0x2000 - 8));
        // jalr ra, 8(a5); c.jalr a5, behind a half of something
        for indirect in [0x0087_80e7, 0x9782_0001] {
            assert_eq!(call(NOP, indirect), Call::Somewhere);
        }
        // j 0x40; ret; c.ebreak; c.jr a5; jal t0, 0x40
        for other in [0x0400_006f, 0x8067, 0x9002_0001, 0x8782_0001, 0x0400_02ef] {
            assert_eq!(call(NOP, other), Call::None);
        }
        assert!(is_jump_stub(Machine::Riscv64, &[0x17, 0x2e, 0, 0]));
        assert!(!is_jump_stub(Machine::Riscv64, &[0x97, 0x23, 0, 0]));
    }
}
