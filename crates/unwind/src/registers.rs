//! A thread's registers on its way up the stack: some are known, others are not any more.

use crate::Outcome;
use crate::arch::Arch;
use rprof_abi::registers::{Registers as Sampled, abi};
use rprof_abi::{Machine, for_machine};

/// The numbers of general registers are below this, in DWARF's numbering of any machine.
pub(crate) const N_REGISTERS: usize = 33;

/// User registers of one thread, by DWARF's numbers of its machine.
#[derive(Clone, Copy, Debug)]
pub struct RegisterSet {
    machine: Machine,
    pc: u64,
    values: [u64; N_REGISTERS],
    /// One bit for each register whose value is known.
    known: u64,
}

impl RegisterSet {
    /// No register but the program counter is known.
    pub fn new(machine: Machine, pc_avma: u64) -> Self {
        Self {
            machine,
            pc: pc_avma,
            values: [0; N_REGISTERS],
            known: 0,
        }
    }

    /// The user registers of a sample (`PERF_SAMPLE_REGS_USER`).
    ///
    /// # Errors
    /// The [`Outcome`] of such a sample, if there are none that a walk can begin with.
    pub fn of_sample(machine: Machine, sampled: &Sampled<'_>) -> Result<Self, Outcome> {
        match sampled.abi {
            abi::BITS_64 => {}
            abi::BITS_32 => return Err(Outcome::ThirtyTwoBit),
            _ => return Err(Outcome::NoRegisters),
        }
        let numbers = for_machine!(machine, A => A::SAMPLED);
        let pc = sampled.value(numbers.pc).ok_or(Outcome::NoRegisters)?;
        let mut registers = Self::new(machine, pc);
        for &(perf, dwarf) in numbers.others {
            if let Some(value) = sampled.value(perf) {
                registers.set(dwarf, value);
            }
        }
        match registers.get(registers.sp_number()) {
            Some(_) => Ok(registers),
            None => Err(Outcome::NoRegisters),
        }
    }

    pub(crate) fn sp_number(&self) -> u16 {
        for_machine!(self.machine, A => A::SP)
    }

    /// The machine that they are of.
    pub fn machine(&self) -> Machine {
        self.machine
    }

    /// The program counter (AVMA).
    pub fn pc(&self) -> u64 {
        self.pc
    }

    /// The stack pointer (AVMA).
    pub fn sp(&self) -> Option<u64> {
        self.get(self.sp_number())
    }

    /// Sets the stack pointer (AVMA).
    pub fn set_sp(&mut self, avma: u64) {
        self.set(self.sp_number(), avma);
    }

    /// Sets the frame pointer (AVMA).
    pub fn set_frame_pointer(&mut self, avma: u64) {
        self.set(for_machine!(self.machine, A => A::FP), avma);
    }

    /// Forgets all but the program counter and the stack pointer.
    pub fn keep_stack_pointer(&mut self) {
        self.keep(1 << self.sp_number());
    }

    /// Sets a register, by DWARF's number; all but general ones are ignored.
    #[inline]
    pub fn set(&mut self, number: u16, value: u64) {
        if let Some(slot) = self.values.get_mut(usize::from(number)) {
            *slot = value;
            self.known |= 1 << number;
        }
    }

    /// A register's value, if it is known.
    #[inline]
    pub(crate) fn get(&self, number: u16) -> Option<u64> {
        let is_known = usize::from(number) < N_REGISTERS && self.known >> number & 1 != 0;
        is_known.then(|| self.values[usize::from(number)])
    }

    #[inline]
    pub(crate) fn set_pc(&mut self, pc: u64) {
        self.pc = pc;
    }

    /// Forgets a register's value.
    pub(crate) fn forget(&mut self, number: u16) {
        if usize::from(number) < N_REGISTERS {
            self.known &= !(1 << number);
        }
    }

    /// Forgets all but some.
    #[inline]
    pub(crate) fn keep(&mut self, numbers: u64) {
        self.known &= numbers;
    }
}
