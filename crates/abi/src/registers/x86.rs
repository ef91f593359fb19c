//! x86's registers: `enum perf_event_x86_regs`, 32-bit and 64-bit alike.
//!
//! Source: `arch/x86/include/uapi/asm/perf_regs.h` (v6.12).

use super::RegisterTable;

/// `RAX`.
pub const AX: u32 = 0;
/// `RBX`.
pub const BX: u32 = 1;
/// `RCX`.
pub const CX: u32 = 2;
/// `RDX`.
pub const DX: u32 = 3;
/// `RSI`.
pub const SI: u32 = 4;
/// `RDI`.
pub const DI: u32 = 5;
/// Frame pointer.
pub const BP: u32 = 6;
/// Stack pointer.
pub const SP: u32 = 7;
/// Instruction pointer.
pub const IP: u32 = 8;
/// Flags.
pub const FLAGS: u32 = 9;
/// Segment `CS`.
pub const CS: u32 = 10;
/// Segment `SS`.
pub const SS: u32 = 11;
/// Segment `DS`.
pub const DS: u32 = 12;
/// Segment `ES`.
pub const ES: u32 = 13;
/// Segment `FS`.
pub const FS: u32 = 14;
/// Segment `GS`.
pub const GS: u32 = 15;
/// `R8`.
pub const R8: u32 = 16;
/// `R9`.
pub const R9: u32 = 17;
/// `R10`.
pub const R10: u32 = 18;
/// `R11`.
pub const R11: u32 = 19;
/// `R12`.
pub const R12: u32 = 20;
/// `R13`.
pub const R13: u32 = 21;
/// `R14`.
pub const R14: u32 = 22;
/// `R15`.
pub const R15: u32 = 23;

/// The general registers of a 64-bit task but for DS, ES, FS and GS, which the kernel refuses.
pub const USER_MASK: u64 = 0xff_0fff;

/// Names and numbers. SSE registers are two words each, under one name.
pub const TABLE: RegisterTable = RegisterTable {
    user_mask: USER_MASK,
    instruction_pointer: IP,
    stack_pointer: SP,
    frame_pointer: BP,
    link: None,
    prstatus: PRSTATUS,
    architectures: &["x86", "i386", "i486", "i586", "i686"],
    names: NAMES,
};

/// `struct user_regs_struct` begins with `r15` (`arch/x86/include/uapi/asm/ptrace.h`, v6.12). DS, ES, FS and
/// GS are not in the mask.
const PRSTATUS: &[u8] = &[
    10, 5, 11, 12, 13, 14, 4, 19, 16, 18, 17, 20, 23, 24, 25, 26, 9, 8, 7, 6, 3, 2, 1, 0,
];

#[rustfmt::skip]
const NAMES: &[&str] = &[
    "AX", "BX", "CX", "DX", "SI", "DI", "BP", "SP",
    "IP", "FLAGS", "CS", "SS", "DS", "ES", "FS", "GS",
    "R8", "R9", "R10", "R11", "R12", "R13", "R14", "R15",
    "", "", "", "", "", "", "", "",
    "XMM0", "XMM0", "XMM1", "XMM1", "XMM2", "XMM2", "XMM3", "XMM3",
    "XMM4", "XMM4", "XMM5", "XMM5", "XMM6", "XMM6", "XMM7", "XMM7",
    "XMM8", "XMM8", "XMM9", "XMM9", "XMM10", "XMM10", "XMM11", "XMM11",
    "XMM12", "XMM12", "XMM13", "XMM13", "XMM14", "XMM14", "XMM15", "XMM15",
];
