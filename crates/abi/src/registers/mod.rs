//! Registers in samples: which they are, and their values.

use crate::{Cursor, Encoder, Endian, WireError};

/// Registers: which, and their values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Registers<'a> {
    /// 0 none, 1 a 32-bit task, 2 a 64-bit one (`enum perf_sample_regs_abi`).
    pub abi: u64,
    /// Which registers, one bit each, in the architecture's numbering.
    pub mask: u64,
    values: &'a [u8],
    endian: Endian,
}

impl<'a> Registers<'a> {
    pub(crate) fn parse(cursor: &mut Cursor<'a>, mask: u64) -> Result<Self, WireError> {
        let abi = cursor.u64("registers")?;
        // No registers follow an abi of none: a kernel thread has no user registers.
        let n = if abi == 0 { 0 } else { mask.count_ones() };
        Ok(Self {
            abi,
            mask: if abi == 0 { 0 } else { mask },
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

    pub(crate) fn encode(&self, encoder: &mut Encoder<'_>) {
        encoder.u64(self.abi);
        for value in self.values.as_chunks::<8>().0 {
            encoder.u64(self.endian.u64(*value));
        }
    }
}
