//! The user stack of one sample: what the recorder and readers of recordings do alike before and after they walk it.

use crate::{Outcome, RegisterSet, Stack};
use rprof_abi::registers::Registers;
use rprof_abi::{Callchain, Machine, Sample, context};
use rprof_base::StackEnd;

/// The entry of a chain that stands for frames that are missing. No code is at this address.
pub const GAP: u64 = 0;

/// Whether a dump has the whole stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DumpEnd {
    /// The stack ends in it.
    Complete,
    /// It is full: the stack may go on after it.
    Cut,
}

/// The registers of a sample, and what the kernel copied of its stack.
#[derive(Clone, Copy, Debug)]
pub struct SampledStack<'s> {
    sampled: Registers<'s>,
    /// The innermost bytes of the stack, from the stack pointer up.
    pub bytes: &'s [u8],
    /// Whether that is all of it.
    pub end: DumpEnd,
    thread: Option<i32>,
}

impl<'s> SampledStack<'s> {
    /// The stack of a sample; `None` if the sample has no registers or no dump.
    #[inline]
    pub fn from_sample(sample: &Sample<'s>) -> Option<Self> {
        let (sampled, dump) = (sample.regs_user?, sample.stack_user.as_ref()?);
        let bytes = dump.stack();
        let end = if bytes.len() < dump.data.len() {
            DumpEnd::Complete
        } else {
            DumpEnd::Cut
        };
        Some(Self {
            sampled,
            bytes,
            end,
            thread: sample.tid,
        })
    }

    /// The registers that a walk begins with.
    ///
    /// # Errors
    /// The [`Outcome`] of a walk that cannot begin.
    #[inline]
    pub fn registers(&self, machine: Machine) -> Result<RegisterSet, Outcome> {
        RegisterSet::of_sample(machine, &self.sampled)
    }

    /// The stack to walk, as that of its thread. It starts where the stack pointer is (AVMA).
    pub fn stack_from(&self, start: u64) -> Stack<'s> {
        let stack = match self.end {
            DumpEnd::Complete => Stack::complete(start, self.bytes),
            DumpEnd::Cut => Stack::truncated(start, self.bytes),
        };
        stack.of_thread(self.thread)
    }
}

impl Outcome {
    /// How a stack ended of which `dump` was copied: where that is nothing, nothing beyond the registers could be found.
    pub fn end_in_dump(self, dump: &[u8]) -> StackEnd {
        match self {
            Self::Truncated | Self::OffStack { .. } if dump.is_empty() => StackEnd::NotCopied,
            other => other.end(),
        }
    }
}

/// The entries of a chain before its user part: markers, and addresses in the kernel.
pub fn kernel_part<'c>(chain: Option<&'c Callchain<'c>>) -> impl Iterator<Item = u64> {
    let entries = chain.into_iter().flat_map(Callchain::entries);
    entries.take_while(|&entry| entry != context::USER)
}

/// The addresses of a chain's user part, as the kernel found them; `None` if it has no such part.
pub fn user_part<'c>(chain: Option<&'c Callchain<'c>>) -> Option<impl Iterator<Item = u64>> {
    let mut entries = chain?.entries();
    entries.find(|&entry| entry == context::USER)?;
    Some(entries)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rprof_abi::Endian;
    use rprof_abi::sample::StackDump;

    fn with_dump<'s>(data: &'s [u8], dyn_size: u64, values: &'s [u8]) -> Sample<'s> {
        let mask = Machine::X86_64.registers().user_mask;
        Sample {
            regs_user: Some(Registers::from_encoded(mask, values, Endian::NATIVE)),
            stack_user: Some(StackDump { data, dyn_size }),
            tid: Some(7),
            ..Sample::default()
        }
    }

    #[test]
    fn a_full_dump_may_be_cut_and_one_with_room_is_complete() {
        let values: Vec<u8> = (1..=24u64).flat_map(u64::to_ne_bytes).collect();
        let end = |dyn_size| {
            let sample = with_dump(&[0; 16], dyn_size, &values);
            let stack = SampledStack::from_sample(&sample).unwrap();
            (stack.bytes.len(), stack.end)
        };
        assert_eq!(end(8), (8, DumpEnd::Complete));
        assert_eq!(end(16), (16, DumpEnd::Cut));
    }

    #[test]
    fn without_registers_or_dump_there_is_nothing_to_walk() {
        assert!(SampledStack::from_sample(&Sample::default()).is_none());
        let mut sample = with_dump(&[], 0, &[]);
        sample.regs_user = Some(Registers::NONE);
        let stack = SampledStack::from_sample(&sample).unwrap();
        let refused = stack.registers(Machine::X86_64);
        assert_eq!(refused.unwrap_err(), Outcome::NoRegisters);
        sample.stack_user = None;
        assert!(SampledStack::from_sample(&sample).is_none());
    }

    #[test]
    fn of_a_stack_that_was_not_copied_that_is_the_end() {
        let off = Outcome::OffStack { avma: 1 };
        assert_eq!(Outcome::Truncated.end_in_dump(&[]), StackEnd::NotCopied);
        assert_eq!(off.end_in_dump(&[]), StackEnd::NotCopied);
        assert_eq!(off.end_in_dump(&[0]), StackEnd::OffStack);
        assert_eq!(Outcome::Loop.end_in_dump(&[]), StackEnd::Loop);
    }

    #[test]
    fn a_chain_has_a_kernel_part_and_perhaps_a_user_part() {
        let words = |all: &[u64]| -> Vec<u8> { all.iter().flat_map(|w| w.to_ne_bytes()).collect() };
        let kernel_only = words(&[context::KERNEL, 1, 2]);
        let both = words(&[context::KERNEL, 1, context::USER, 3, 4]);
        let chain = |bytes| Callchain::from_encoded(bytes, Endian::NATIVE);
        let (kernel_only, both) = (chain(&kernel_only), chain(&both));
        assert!(user_part(Some(&kernel_only)).is_none());
        assert!(kernel_part(Some(&kernel_only)).eq([context::KERNEL, 1, 2]));
        assert!(user_part(Some(&both)).unwrap().eq([3, 4]));
        assert!(kernel_part(Some(&both)).eq([context::KERNEL, 1]));
        assert!(user_part(None).is_none());
    }
}
