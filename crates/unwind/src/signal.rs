//! Signal frames that nothing describes: Linux on 64-bit ARM, C libraries other than glibc, and Go
//! return from signal handlers by two instructions of their own without a word about them.

use crate::Registers;
use crate::arch::Machine;
use crate::stack::{Stack, Unread};
use rprof_base::Svma;
use rprof_images::Elf;

/// What returning from handlers looks like on a machine.
struct Layout {
    /// The system call `rt_sigreturn`.
    code: &'static [u8],
    /// Where in the signal's frame the registers are; the program counter follows them.
    at: u64,
    /// They, by DWARF's numbers.
    registers: &'static [u16],
}

/// `mov $15, %rax; syscall`. Before the registers: flags, a link and the signal stack's description
/// (`struct ucontext`, include/uapi/asm-generic/ucontext.h; `struct sigcontext_64`,
/// arch/x86/include/uapi/asm/sigcontext.h, v6.12).
const X86_64: Layout = Layout {
    code: &[0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05],
    at: 40,
    registers: &[8, 9, 10, 11, 12, 13, 14, 15, 5, 4, 6, 3, 1, 0, 2, 7],
};

/// `mov x8, #139; svc #0`. Before the registers: what is known of the signal (128 bytes), the same
/// as above, a signal mask of 128 bytes, padding, and the address of a fault (`struct rt_sigframe`,
/// arch/arm64/kernel/signal.c; `struct sigcontext`, arch/arm64/include/uapi/asm/sigcontext.h, v6.12).
const AARCH64: Layout = Layout {
    code: &[0x68, 0x11, 0x80, 0xd2, 0x01, 0, 0, 0xd4],
    at: 128 + 176 + 8,
    registers: &[
        0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24,
        25, 26, 27, 28, 29, 30, 31,
    ],
};

/// More code is not looked through in programs and C libraries, which have an entry point,
const MAX_CODE: u64 = 16 << 20;
/// and in what has none: the vdso.
const MAX_VDSO: u64 = 64 << 10;

fn layout(machine: Machine) -> Layout {
    match machine {
        Machine::X86_64 => X86_64,
        Machine::Aarch64 => AARCH64,
    }
}

/// Where an image returns from signal handlers.
pub(crate) fn returns_in(elf: &Elf, machine: Machine) -> Option<Svma> {
    // A program that needs an interpreter leaves signals to its C library, unless it is Go.
    if elf.has_section(".interp") && !elf.has_section(".gopclntab") {
        return None;
    }
    let range = elf.section_range(".text")?;
    let most = elf.entry().map_or(MAX_VDSO, |_| MAX_CODE);
    if range.end.0 - range.start.0 > most {
        return None;
    }
    let (code, wanted) = (
        elf.raw_section(".text")?.decompress()?,
        layout(machine).code,
    );
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
pub(crate) fn interrupted(registers: &Registers, stack: &Stack<'_>) -> Result<Registers, Unread> {
    let layout = layout(registers.machine());
    let frame = registers.sp().ok_or(Unread::Elsewhere)?;
    let word = |number: u64| stack.word(frame.wrapping_add(layout.at + 8 * number));
    let pc = word(layout.registers.len() as u64)?;
    let mut caller = Registers::new(registers.machine(), pc);
    for (&register, number) in layout.registers.iter().zip(0..) {
        caller.set(register, word(number)?);
    }
    Ok(caller)
}
