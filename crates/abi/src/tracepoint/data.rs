//! [`TracepointData`]: the raw bytes of one sample, and how numbers are read from them.

use super::field::{FieldPlace, Storage};
use crate::Endian;
use std::borrow::Cow;

/// The raw data of a tracepoint's sample.
#[derive(Clone, Copy, Debug)]
pub struct TracepointData<'a> {
    /// The bytes of PERF_SAMPLE_RAW, from the common fields on.
    pub bytes: &'a [u8],
    /// Byte order of the recording.
    pub endian: Endian,
    /// Bytes of a `long` of the recorded kernel: 4 or 8.
    pub long_size: u8,
}

/// What only the reader of a recording knows, for the conversions that print names.
pub trait TracepointNames {
    /// The kernel's symbol that holds `address` (AVMA), and how far into it that is.
    fn kernel_symbol(&self, address: u64) -> Option<(Cow<'_, str>, u64)>;

    /// The constant string at this address of the kernel (tracefs `printk_formats`).
    fn printk_string(&self, address: u64) -> Option<&[u8]>;
}

/// A sample that is being printed.
pub(super) struct Writer<'a> {
    pub(super) data: &'a TracepointData<'a>,
    pub(super) names: &'a dyn TracepointNames,
}

/// Nothing is known: addresses stay numbers.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoNames;

impl TracepointNames for NoNames {
    fn kernel_symbol(&self, _address: u64) -> Option<(Cow<'_, str>, u64)> {
        None
    }

    fn printk_string(&self, _address: u64) -> Option<&[u8]> {
        None
    }
}

impl<'a> TracepointData<'a> {
    /// The number of `size` bytes at `offset`, not sign-extended; `None` outside of the data or
    /// for a size that no number has.
    #[inline]
    pub(super) fn unsigned(&self, offset: usize, size: usize) -> Option<u64> {
        let rest = self.bytes.get(offset..)?;
        match size {
            1 => rest.first().map(|&byte| u64::from(byte)),
            2 => (rest.first_chunk()).map(|bytes| u64::from(self.endian.u16(*bytes))),
            4 => (rest.first_chunk()).map(|bytes| u64::from(self.endian.u32(*bytes))),
            8 => rest.first_chunk().map(|bytes| self.endian.u64(*bytes)),
            _ => None,
        }
    }

    /// The number that a field holds, not sign-extended; `None` for fields that are none, and outside of the data.
    #[inline]
    pub fn field_number(&self, place: FieldPlace) -> Option<u64> {
        let is_number = !place.is_array && place.storage == Storage::Fixed;
        self.unsigned(place.offset, place.size)
            .filter(|_| is_number)
    }

    /// The bytes of a field, where its word says they are if it is dynamic; what lies outside of
    /// the data is missing.
    pub(super) fn region(&self, place: FieldPlace) -> &'a [u8] {
        let (offset, len) = match place.storage {
            // A size of 0 means: the rest.
            Storage::Fixed if place.size == 0 => (place.offset, usize::MAX),
            Storage::Fixed => (place.offset, place.size),
            Storage::DataLoc | Storage::RelLoc => {
                let Some((offset, len)) = self.location(place) else {
                    return &[];
                };
                (offset, len)
            }
        };
        let rest = self.bytes.get(offset..).unwrap_or_default();
        rest.get(..len).unwrap_or(rest)
    }

    /// Offset and length that a dynamic field's word holds: `len << 16 | offset`.
    fn location(&self, place: FieldPlace) -> Option<(usize, usize)> {
        let word = self.unsigned(place.offset, place.size)?;
        let offset = usize::try_from(word & 0xffff).ok()?;
        // Kernels before 2.6.32 had an offset of two bytes and no length.
        let len = match place.size {
            2 => usize::MAX,
            _ => usize::try_from(word >> 16 & 0xffff).ok()?,
        };
        match place.storage {
            Storage::RelLoc => Some((offset + place.offset + place.size, len)),
            _ => Some((offset, len)),
        }
    }
}

/// The bytes before the first NUL.
#[inline]
pub(super) fn until_nul(bytes: &[u8]) -> &[u8] {
    bytes.split(|&byte| byte == 0).next().unwrap_or_default()
}
