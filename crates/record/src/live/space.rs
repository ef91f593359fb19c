//! What a walk is told of the process whose stack it is.

use super::code::Code;
use super::tables::Tables;
use rprof_images::{Avma, Svma};
use rprof_machine::{Epoch, Live, Place, RecordedImage};
use rprof_unwind::{AddressSpace, Mapped, StackFrame};
use std::cell::RefCell;

/// A process at the moment of a sample.
pub(crate) struct LiveSpace<'l> {
    pub(crate) live: &'l Live,
    pub(crate) tables: &'l Tables,
    pub(crate) code: &'l RefCell<Code>,
    pub(crate) epoch: Epoch,
    pub(crate) pid: i32,
}

impl LiveSpace<'_> {
    /// Where the function of a frame begins (AVMA), if its image says so.
    pub(crate) fn function(&self, frame: StackFrame) -> Option<u64> {
        let at = frame.avma.wrapping_sub(u64::from(frame.is_return));
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
        self.epoch.number()
    }

    fn find(&self, avma: u64) -> Mapped<'_> {
        let Place::User { image, offset } = self.live.place(self.epoch, Avma(avma)) else {
            return Mapped::Nothing;
        };
        let recorded = self.live.images().of(image);
        match recorded.and_then(|recorded| self.tables.of(image, recorded, self.pid)) {
            Some(table) => table.mapped(image.0, avma, offset),
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
