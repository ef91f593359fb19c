//! Signal frames that nothing describes: C libraries other than glibc, and Go, return from signal
//! handlers by two instructions of their own without a word about them.

use crate::Registers;
use crate::stack::{Stack, Unread};
use rprof_images::{Elf, Svma};

/// `mov $15, %rax; syscall`: `rt_sigreturn`.
const RETURN: [u8; 9] = [0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05];

/// More code is not looked through.
const MAX_CODE: usize = 16 << 20;

/// Registers in a `struct sigcontext_64`, by DWARF's numbers, in order; the program counter
/// follows (arch/x86/include/uapi/asm/sigcontext.h, v6.12).
const SAVED: [u16; 16] = [8, 9, 10, 11, 12, 13, 14, 15, 5, 4, 6, 3, 1, 0, 2, 7];

/// Where that is in a `struct ucontext` (include/uapi/asm-generic/ucontext.h): behind flags, a
/// link, and the signal stack's description.
const CONTEXT: u64 = 40;

/// Where an image returns from signal handlers; only those with an entry point do (programs, and
/// C libraries that are linkers as well).
pub(crate) fn returns_in(elf: &Elf) -> Option<Svma> {
    elf.entry()?;
    let range = elf.section_range(".text")?;
    if range.end.0 - range.start.0 > MAX_CODE as u64 {
        return None;
    }
    let code = elf.section(".text")?;
    let at = code
        .windows(RETURN.len())
        .position(|bytes| bytes == RETURN)?;
    Some(Svma(range.start.0 + at as u64))
}

/// Whether an address is in such a return, or the last one before it: handlers return to its
/// beginning, and return addresses are looked up one byte before.
pub(crate) fn holds(start: u32, at: u32) -> bool {
    (start.saturating_sub(1)..start.saturating_add(9)).contains(&at)
}

/// The registers of what the signal interrupted, x86-64.
pub(crate) fn interrupted(registers: &Registers, stack: &Stack<'_>) -> Result<Registers, Unread> {
    let context = registers
        .sp()
        .ok_or(Unread::Elsewhere)?
        .wrapping_add(CONTEXT);
    let word = |number: u64| stack.word(context.wrapping_add(8 * number));
    let mut caller = Registers::new(registers.machine(), word(SAVED.len() as u64)?);
    for (&register, number) in SAVED.iter().zip(0..) {
        caller.set(register, word(number)?);
    }
    Ok(caller)
}
