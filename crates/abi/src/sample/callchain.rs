//! Call chains: raw entries, and the markers between them.

use crate::{Cursor, Encoder, Endian, WireError};

/// Markers between the parts of a call chain (`enum perf_callchain_context`); every value from
/// [`context::MAX`] up is one.
pub mod context {
    /// Hypervisor addresses follow.
    pub const HV: u64 = (-32i64).cast_unsigned();
    /// Kernel addresses follow.
    pub const KERNEL: u64 = (-128i64).cast_unsigned();
    /// User addresses follow.
    pub const USER: u64 = (-512i64).cast_unsigned();
    /// The user part comes later, under the cookie that follows (6.19).
    pub const USER_DEFERRED: u64 = (-640i64).cast_unsigned();
    /// A guest's addresses follow.
    pub const GUEST: u64 = (-2048i64).cast_unsigned();
    /// A guest kernel's addresses follow.
    pub const GUEST_KERNEL: u64 = (-2176i64).cast_unsigned();
    /// A guest process's addresses follow.
    pub const GUEST_USER: u64 = (-2560i64).cast_unsigned();
    /// The lowest marker.
    pub const MAX: u64 = (-4095i64).cast_unsigned();
}

/// A call chain as recorded: innermost first, markers included.
///
/// Units: addresses in the sampled process (AVMA); the first entry after a marker is an
/// instruction pointer, the others are return addresses.
/// Source: `PERF_SAMPLE_CALLCHAIN`, `include/uapi/linux/perf_event.h` (v6.12).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Callchain<'a> {
    bytes: &'a [u8],
    endian: Endian,
}

impl<'a> Callchain<'a> {
    pub(crate) fn parse(cursor: &mut Cursor<'a>, what: &'static str) -> Result<Self, WireError> {
        let nr = cursor.u64(what)?;
        Ok(Self {
            bytes: cursor.bytes(nr.saturating_mul(8), what)?,
            endian: cursor.endian(),
        })
    }

    /// A chain over entries that are already encoded; a tail shorter than an entry is ignored.
    pub fn from_encoded(bytes: &'a [u8], endian: Endian) -> Self {
        let whole = bytes.len() / 8 * 8;
        Self {
            bytes: bytes.get(..whole).unwrap_or_default(),
            endian,
        }
    }

    /// Entries, markers included.
    #[inline]
    pub fn len(&self) -> usize {
        self.bytes.len() / 8
    }

    /// Whether there are none.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// The entries, innermost first, markers included.
    #[inline]
    pub fn entries(&self) -> impl DoubleEndedIterator<Item = u64> + ExactSizeIterator + 'a {
        let endian = self.endian;
        let (entries, _) = self.bytes.as_chunks::<8>();
        entries.iter().map(move |entry| endian.u64(*entry))
    }

    pub(crate) fn encode(&self, encoder: &mut Encoder<'_>) {
        encoder.u64(self.len() as u64);
        if encoder.endian() == self.endian {
            encoder.bytes(self.bytes);
            return;
        }
        for entry in self.entries() {
            encoder.u64(entry);
        }
    }
}
