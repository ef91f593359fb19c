//! A stopped thread's registers, in the order of samples.

use rprof_abi::Machine;
use rprof_ringbuf::sys::ptrace;

/// More than any `user_regs_struct` has.
const MOST_BYTES: usize = 1024;

/// The registers of a stopped thread.
#[derive(Debug)]
pub(super) struct Registers {
    /// Instruction and stack pointer.
    pub(super) ip: u64,
    pub(super) sp: u64,
    /// Those of the machine's `user_mask`, encoded; `None` of a 32-bit task.
    pub(super) values: Option<Vec<u8>>,
}

/// Where a 32-bit task of x86 has its instruction pointer (`eip` in `user_regs_struct32`), bytes.
const EIP: usize = 12 * 4;

impl Registers {
    /// Reads them; `None` if the thread is gone, or nothing is known of its registers.
    pub(super) fn read(tid: i32, machine: Machine) -> Option<Self> {
        let mut bytes = [0; MOST_BYTES];
        let len = ptrace::registers(tid, &mut bytes).ok()?;
        Self::from_bytes(bytes.get(..len)?, machine)
    }

    fn from_bytes(bytes: &[u8], machine: Machine) -> Option<Self> {
        let table = machine.registers();
        let (words, _) = bytes.as_chunks::<8>();
        let word = |number: u32| {
            let number = usize::try_from(number).ok()?;
            let place = table.prstatus.get(number).copied();
            let place = place.map_or(number, usize::from);
            Some(u64::from_ne_bytes(*words.get(place)?))
        };
        let mut values = Vec::new();
        for number in (0..u64::BITS).filter(|number| table.user_mask >> number & 1 == 1) {
            match word(number) {
                Some(value) => values.extend(value.to_ne_bytes()),
                None => return Self::of_32_bits(bytes, machine),
            }
        }
        Some(Self {
            ip: word(table.instruction_pointer)?,
            sp: word(table.stack_pointer)?,
            values: Some(values),
        })
    }

    /// Where it is, at least.
    fn of_32_bits(bytes: &[u8], machine: Machine) -> Option<Self> {
        if machine != Machine::X86_64 {
            return None;
        }
        let ip = u32::from_ne_bytes(*bytes.get(EIP..)?.first_chunk()?);
        Some(Self {
            ip: ip.into(),
            sp: 0,
            values: None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Words whose values are their places.
    fn words(n: u64) -> Vec<u8> {
        (0..n).flat_map(u64::to_ne_bytes).collect()
    }

    #[test]
    fn registers_come_in_the_order_of_samples() {
        let x86 = Registers::from_bytes(&words(27), Machine::X86_64).unwrap();
        assert_eq!((x86.ip, x86.sp), (16, 19));
        let values = x86.values.unwrap();
        let (values, _) = values.as_chunks::<8>();
        let values: Vec<u64> = values.iter().map(|one| u64::from_ne_bytes(*one)).collect();
        // AX, BX, and at last R15.
        assert_eq!((values[0], values[1], values.last()), (10, 5, Some(&0)));
        let arm = Registers::from_bytes(&words(34), Machine::Aarch64).unwrap();
        assert_eq!((arm.ip, arm.sp), (32, 31));
        let riscv = Registers::from_bytes(&words(32), Machine::Riscv64).unwrap();
        assert_eq!((riscv.ip, riscv.sp), (0, 2));
    }

    #[test]
    fn of_a_32_bit_task_it_is_known_where_it_is() {
        let bytes: Vec<u8> = (0..17u32).flat_map(u32::to_ne_bytes).collect();
        let task = Registers::from_bytes(&bytes, Machine::X86_64).unwrap();
        assert_eq!((task.ip, task.values), (12, None));
        assert!(Registers::from_bytes(&bytes, Machine::Aarch64).is_none());
        assert!(Registers::from_bytes(&[], Machine::X86_64).is_none());
    }
}
