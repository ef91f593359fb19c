//! arm64's registers: `enum perf_event_arm64_regs`.
//!
//! Source: `arch/arm64/include/uapi/asm/perf_regs.h` (v6.12).

use super::RegisterTable;

/// `x0`, the first of 30 with numbers of their own.
pub const X0: u32 = 0;
/// Frame pointer, `x29`.
pub const FP: u32 = 29;
/// Link register, `x30`: the return address until it is saved.
pub const LR: u32 = 30;
/// Stack pointer.
pub const SP: u32 = 31;
/// Program counter.
pub const PC: u32 = 32;
/// Length of SVE vectors in units of 64 bits: not a general register.
pub const VG: u32 = 46;

/// The general registers: `x0` to `pc`.
pub const USER_MASK: u64 = 0x1_ffff_ffff;

/// Names and numbers.
pub const TABLE: RegisterTable = RegisterTable {
    user_mask: USER_MASK,
    instruction_pointer: PC,
    stack_pointer: SP,
    frame_pointer: FP,
    link: Some(LR),
    prstatus: &[],
    architectures: &["aarch64", "arm64"],
    names: NAMES,
};

#[rustfmt::skip]
const NAMES: &[&str] = &[
    "x0", "x1", "x2", "x3", "x4", "x5", "x6", "x7",
    "x8", "x9", "x10", "x11", "x12", "x13", "x14", "x15",
    "x16", "x17", "x18", "x19", "x20", "x21", "x22", "x23",
    "x24", "x25", "x26", "x27", "x28", "x29", "lr", "sp",
    "pc", "", "", "", "", "", "", "",
    "", "", "", "", "", "", "vg",
];
