//! The address space of the process whose stack is walked.

use super::code::Code;
use super::jitdumps::JitDumpNow;
use super::tables::Tables;
use rprof_base::{Avma, FileOffset, Svma};
use rprof_machine::{AddressLocation, Epoch, Live, RecordedImage};
use rprof_unwind::{AddressSpace, Mapped, StackFrame, UnwindTable};
use std::cell::RefCell;

/// A process at the moment of a sample.
pub(crate) struct LiveSpace<'l> {
    pub(crate) live: &'l Live,
    pub(crate) tables: &'l Tables,
    pub(crate) code: &'l RefCell<Code>,
    /// The process's jitdump.
    pub(crate) jitdump: Option<JitDumpNow<'l>>,
    pub(crate) epoch: Epoch,
    pub(crate) pid: i32,
}

impl<'l> LiveSpace<'l> {
    /// The table of a JIT function.
    fn jit_table(&self, now: JitDumpNow<'l>, avma: u64) -> Option<&'l UnwindTable> {
        now.jitdump.table(avma, now.at, |start, into| {
            self.code.borrow_mut().read_all(self.pid, start, into)
        })
    }

    /// Where the function of a frame begins (AVMA), if its image says so.
    pub(crate) fn function(&self, frame: StackFrame) -> Option<u64> {
        let at = frame.code().lookup().0;
        match self.find(at) {
            Mapped::Image { table, bias, .. } => {
                let start = table.function(Svma(at.wrapping_sub(bias)))?;
                Some(start.0.wrapping_add(bias))
            }
            Mapped::Nothing | Mapped::Code { .. } => None,
        }
    }
}

impl AddressSpace for LiveSpace<'_> {
    fn number(&self) -> u32 {
        self.jitdump
            .map_or(self.epoch.number(), |jitdump| jitdump.number)
    }

    fn find(&self, avma: u64) -> Mapped<'_> {
        let AddressLocation::User { image, offset } = self.live.resolve(self.epoch, Avma(avma))
        else {
            return Mapped::Nothing;
        };
        let recorded = self.live.images().of(image);
        if let Some(table) = recorded.and_then(|one| self.tables.table(image, one, self.pid)) {
            return table.mapped(image.0, avma, offset);
        }
        let is_jit = || recorded.is_some_and(RecordedImage::is_jit_code);
        let jitdump = self.jitdump.filter(|_| is_jit());
        match jitdump.and_then(|now| self.jit_table(now, avma)) {
            Some(table) => table.mapped(image.0, avma, FileOffset(avma)),
            None => Mapped::Code {
                image: image.0,
                is_file: recorded.is_some_and(RecordedImage::is_file),
            },
        }
    }

    fn code(&self, avma: u64, into: &mut [u8]) -> usize {
        self.code.borrow_mut().read(self.pid, avma, into)
    }
}
