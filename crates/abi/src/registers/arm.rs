//! 32-bit arm's registers: `enum perf_event_arm_regs`.
//!
//! Source: `arch/arm/include/uapi/asm/perf_regs.h` (v6.12).

use super::RegisterTable;

/// Frame pointer, `r11`.
pub const FP: u32 = 11;
/// Stack pointer.
pub const SP: u32 = 13;
/// Link register: the return address until it is saved.
pub const LR: u32 = 14;
/// Program counter.
pub const PC: u32 = 15;

/// All of them.
pub const USER_MASK: u64 = 0xffff;

/// Names and numbers.
pub const TABLE: RegisterTable = RegisterTable {
    user_mask: USER_MASK,
    instruction_pointer: PC,
    stack_pointer: SP,
    frame_pointer: FP,
    link: Some(LR),
    prstatus: &[],
    architectures: &["arm"],
    names: NAMES,
};

#[rustfmt::skip]
const NAMES: &[&str] = &[
    "r0", "r1", "r2", "r3", "r4", "r5", "r6", "r7",
    "r8", "r9", "r10", "fp", "ip", "sp", "lr", "pc",
];
