//! What machines are described with.

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

/// One instruction of an epilogue that takes the return address from the stack.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Does {
    /// The stack pointer goes up.
    Add(i32),
    Pop(u16),
    /// The stack pointer becomes the frame pointer's value.
    FromFramePointer,
    Leave,
    /// Bytes of arguments between the return address and the caller's stack pointer.
    Return(u16),
    /// It writes to a register that a caller's frame may be found by.
    Writes(u16),
    Nothing,
}

/// What returning from signal handlers looks like.
pub(crate) struct SignalReturn {
    /// The system call `rt_sigreturn`.
    pub(crate) code: &'static [u8],
    /// Where in the signal's frame the program counter is,
    pub(crate) pc: u64,
    /// and the registers.
    pub(crate) at: u64,
    /// The registers, by DWARF's numbers.
    pub(crate) registers: &'static [u16],
}

/// Registers as samples have them.
pub(crate) struct Sampled {
    /// The program counter's number.
    pub(crate) pc: u32,
    /// The other registers' numbers in samples, and DWARF's.
    pub(crate) others: &'static [(u32, u16)],
}

/// Numbers that samples and DWARF have in common, from one on.
pub(crate) const fn same_numbers<const N: usize>(first: u16) -> [(u32, u16); N] {
    let mut numbers = [(first as u32, first); N];
    let mut at = 1;
    while at < N {
        let (perf, dwarf) = numbers[at - 1];
        numbers[at] = (perf + 1, dwarf + 1);
        at += 1;
    }
    numbers
}

/// Words that a stub has pushed: `before` an instruction that begins `at` a byte, and `after` it.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Pushes {
    pub(crate) before: u8,
    pub(crate) at: u32,
    pub(crate) after: u8,
}

impl Pushes {
    fn words(self, into: u32) -> u8 {
        if into < self.at {
            self.before
        } else {
            self.after
        }
    }
}

/// The stubs of a procedure linkage table. Those of [`Self::default`] only jump.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct PltStubs {
    /// Bytes of the first stub, which calls the loader.
    pub(crate) first_len: u32,
    pub(crate) first: Pushes,
    /// Bytes of each of the others; 0 if they push nothing.
    pub(crate) len: u32,
    pub(crate) others: Pushes,
}

impl PltStubs {
    /// Words that were pushed since the call, at a byte of the table.
    pub(crate) fn n_pushed(self, into: u32) -> u8 {
        if into < self.first_len {
            self.first.words(into)
        } else {
            let into = into.checked_rem(self.len);
            into.map_or(0, |into| self.others.words(into))
        }
    }
}
