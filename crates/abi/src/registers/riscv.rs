//! riscv's registers: `enum perf_event_riscv_regs`.
//!
//! Source: `arch/riscv/include/uapi/asm/perf_regs.h` (v6.12).

use super::RegisterTable;

/// Program counter. The others have the numbers that instructions and DWARF give them: `x1` to `x31`.
pub const PC: u32 = 0;
/// Link register, `x1`: the return address until it is saved.
pub const RA: u32 = 1;
/// Stack pointer, `x2`.
pub const SP: u32 = 2;
/// Frame pointer, `x8`.
pub const S0: u32 = 8;

/// All of them.
pub const USER_MASK: u64 = 0xffff_ffff;

/// Names and numbers.
pub const TABLE: RegisterTable = RegisterTable {
    user_mask: USER_MASK,
    instruction_pointer: PC,
    stack_pointer: SP,
    frame_pointer: S0,
    link: Some(RA),
    prstatus: &[],
    architectures: &["riscv"],
    names: NAMES,
};

#[rustfmt::skip]
const NAMES: &[&str] = &[
    "pc", "ra", "sp", "gp", "tp", "t0", "t1", "t2",
    "s0", "s1", "a0", "a1", "a2", "a3", "a4", "a5",
    "a6", "a7", "s2", "s3", "s4", "s5", "s6", "s7",
    "s8", "s9", "s10", "s11", "t3", "t4", "t5", "t6",
];
