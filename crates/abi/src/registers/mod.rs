//! Registers in samples: which they are, what they are called, and their values.
//!
//! Each architecture numbers them in its own order; masks and values follow that order.

pub mod arm;
pub mod arm64;
pub mod riscv;
pub mod x86;

use crate::{Cursor, Encoder, Endian, Machine, WireError};

/// What [`Registers::abi`] says of a task (`enum perf_sample_regs_abi`).
pub mod abi {
    /// No registers: the task has none in user space.
    pub const NONE: u64 = 0;
    /// A 32-bit task.
    pub const BITS_32: u64 = 1;
    /// A 64-bit task.
    pub const BITS_64: u64 = 2;
}

/// One architecture's registers in the kernel's numbering.
///
/// Source: `arch/*/include/uapi/asm/perf_regs.h` (v6.12); names as
/// `tools/perf/util/perf_regs.c` (v6.1) writes them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RegisterTable {
    /// The registers to record of user space, one bit each.
    pub user_mask: u64,
    /// The instruction pointer's number.
    pub instruction_pointer: u32,
    /// The stack pointer's number.
    pub stack_pointer: u32,
    /// The frame pointer's number.
    pub frame_pointer: u32,
    /// The number of the register that holds a return address, where calls do not push it.
    pub link: Option<u32>,
    /// For each number, which word of `user_regs_struct` it is; empty where they are in the same order.
    pub prstatus: &'static [u8],
    /// What names of architectures begin with that have these registers.
    architectures: &'static [&'static str],
    /// By number; empty where there is none.
    names: &'static [&'static str],
}

impl RegisterTable {
    /// The table for an architecture's name, as `uname -m` and a recording's ARCH feature have it.
    pub fn of(architecture: &str) -> Option<&'static Self> {
        let begins_with = |name: &&str| architecture.starts_with(name);
        // `arm` is last: `arm64` begins with its name.
        Machine::ALL
            .iter()
            .map(|machine| machine.registers())
            .chain([&arm::TABLE])
            .find(|table| table.architectures.iter().any(begins_with))
    }

    /// A register's name.
    pub fn name(&self, register: u32) -> Option<&'static str> {
        let name = self.names.get(usize::try_from(register).ok()?)?;
        (!name.is_empty()).then_some(name)
    }

    /// All that have this name, in capitals or not, one bit each: a wide register has several numbers.
    pub fn named(&self, name: &str) -> u64 {
        let is_it = |number: &u32| {
            let own = self.name(*number);
            own.is_some_and(|own| own.eq_ignore_ascii_case(name))
        };
        (0..u64::BITS)
            .filter(is_it)
            .fold(0, |mask, number| mask | 1 << number)
    }
}

/// Registers: which, and their values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Registers<'a> {
    /// What kind of task: see [`abi`].
    pub abi: u64,
    /// Which registers, one bit each, in the architecture's numbering.
    pub mask: u64,
    values: &'a [u8],
    endian: Endian,
}

impl<'a> Registers<'a> {
    /// Of a task that has none in user space.
    pub const NONE: Self = Self {
        abi: abi::NONE,
        mask: 0,
        values: &[],
        endian: Endian::NATIVE,
    };

    /// Registers of a 64-bit task over values that are already encoded, as many as `mask` has bits.
    pub fn from_encoded(mask: u64, values: &'a [u8], endian: Endian) -> Self {
        Self {
            abi: abi::BITS_64,
            mask,
            values,
            endian,
        }
    }

    pub(crate) fn parse(cursor: &mut Cursor<'a>, mask: u64) -> Result<Self, WireError> {
        let task = cursor.u64("registers")?;
        // No registers follow an abi of none: a kernel thread has no user registers.
        let n = if task == abi::NONE {
            0
        } else {
            mask.count_ones()
        };
        Ok(Self {
            abi: task,
            mask: if task == abi::NONE { 0 } else { mask },
            values: cursor.bytes(u64::from(n) * 8, "registers")?,
            endian: cursor.endian(),
        })
    }

    /// The value of the register with this number; `None` if it was not recorded.
    pub fn value(&self, register: u32) -> Option<u64> {
        let bit = 1u64.checked_shl(register)?;
        if self.mask & bit == 0 {
            return None;
        }
        let at = (self.mask & (bit - 1)).count_ones() as usize;
        let (values, _) = self.values.as_chunks::<8>();
        values.get(at).map(|value| self.endian.u64(*value))
    }

    /// Appends those that are in `mask`, too.
    pub(crate) fn encode(&self, mask: u64, encoder: &mut Encoder<'_>) {
        encoder.u64(self.abi);
        let ours = (0..u64::BITS).filter(|number| self.mask >> number & 1 == 1);
        for (number, value) in ours.zip(self.values.as_chunks::<8>().0) {
            if mask >> number & 1 == 1 {
                encoder.u64(self.endian.u64(*value));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn architectures_have_their_own_tables() {
        for (name, table) in [
            ("x86_64", Some(&x86::TABLE)),
            ("i686", Some(&x86::TABLE)),
            ("aarch64", Some(&arm64::TABLE)),
            ("armv7l", Some(&arm::TABLE)),
            ("riscv64", Some(&riscv::TABLE)),
            ("s390x", None),
            ("", None),
        ] {
            assert_eq!(RegisterTable::of(name), table, "{name}");
        }
    }

    #[test]
    fn what_unwinding_needs_has_the_expected_names() {
        for (table, names) in [
            (x86::TABLE, ["IP", "SP", "BP"]),
            (arm64::TABLE, ["pc", "sp", "x29"]),
            (arm::TABLE, ["pc", "sp", "fp"]),
            (riscv::TABLE, ["pc", "sp", "s0"]),
        ] {
            let numbers = [
                table.instruction_pointer,
                table.stack_pointer,
                table.frame_pointer,
            ];
            let found = numbers.map(|number| table.name(number).unwrap());
            assert_eq!(found, names);
            let is_recorded = |number| table.user_mask >> number & 1 == 1;
            assert!(numbers.into_iter().chain(table.link).all(is_recorded));
            assert!((0..64).all(|number| !is_recorded(number) || table.name(number).is_some()));
        }
        assert_eq!(x86::TABLE.name(24), None);
        assert_eq!(x86::TABLE.name(63), Some("XMM15"));
        assert_eq!(arm64::TABLE.name(arm64::VG), Some("vg"));
        assert_eq!(arm64::TABLE.name(64), None);
    }
}
