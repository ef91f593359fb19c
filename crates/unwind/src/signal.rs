//! Signal frames that nothing describes: Linux on 64-bit ARM and RISC-V, C libraries other than glibc, and Go
//! return from signal handlers by two instructions of their own without a word about them.

use crate::RegisterSet;
use crate::arch::Arch;
use crate::stack::{Stack, Unread};
use rprof_base::Svma;
use rprof_images::Elf;

/// More code is not looked through in programs and C libraries, which have an entry point,
const MAX_CODE: u64 = 16 << 20;
/// and in what has none: the vdso.
const MAX_VDSO: u64 = 64 << 10;

/// Where an image returns from signal handlers.
pub(crate) fn returns_in<A: Arch>(elf: &Elf) -> Option<Svma> {
    // A program that needs an interpreter leaves signals to its C library, unless it is Go.
    if elf.has_section(".interp") && !elf.has_section(".gopclntab") {
        return None;
    }
    let range = elf.section_range(".text")?;
    let most = elf.entry().map_or(MAX_VDSO, |_| MAX_CODE);
    if range.end.0 - range.start.0 > most {
        return None;
    }
    let (code, wanted) = (elf.raw_section(".text")?.decompress()?, A::SIGNAL.code);
    let at = code
        .windows(wanted.len())
        .position(|bytes| bytes == wanted)?;
    Some(Svma(range.start.0 + at as u64))
}

/// Whether an address is in such a return, or the last one before it: handlers return to its
/// beginning, and return addresses are looked up one byte before.
pub(crate) fn holds(start: u32, at: u32) -> bool {
    (start.saturating_sub(1)..start.saturating_add(8)).contains(&at)
}

/// The registers of what the signal interrupted.
pub(crate) fn interrupted<A: Arch>(
    registers: &RegisterSet,
    stack: &Stack<'_>,
) -> Result<RegisterSet, Unread> {
    let layout = A::SIGNAL;
    let frame = registers.sp().ok_or(Unread::Elsewhere)?;
    let word = |at: u64| stack.word(frame.wrapping_add(at));
    let pc = word(layout.pc)?;
    let mut caller = RegisterSet::new(registers.machine(), pc);
    for (&register, number) in layout.registers.iter().zip(0..) {
        caller.set(register, word(layout.at + 8 * number)?);
    }
    Ok(caller)
}
