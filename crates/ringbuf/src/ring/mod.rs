//! A ring and one drain of it.
//!
//! Layout of the mapping: a user page (`struct perf_event_mmap_page`) with `data_head`,
//! `data_tail`, `data_offset` and `data_size`, then the data area. Head and tail count bytes
//! since the ring was made and never wrap; their low bits are the place in the area. Records
//! are multiples of 8 bytes, so a header never straddles the end; a body may.

#![expect(
    unsafe_code,
    reason = "borrows the mapping between head and tail; see SAFETY"
)]

use crate::region::Region;
use crate::{Counter, MapError, RingError, sys};
use std::io;
use std::ops::Range;
use std::os::fd::AsFd;

/// Offsets in `struct perf_event_mmap_page`, `include/uapi/linux/perf_event.h` (v6.12).
const DATA_HEAD: usize = 1024;
const DATA_TAIL: usize = 1032;
const DATA_OFFSET: usize = 1040;
const DATA_SIZE: usize = 1048;

const HEADER_LEN: u64 = 8;

/// The mapped ring of a counter. Other counters of the same CPU write into it after
/// [`Counter::write_into`].
#[derive(Debug)]
pub struct Ring {
    region: Region,
    data_offset: usize,
    /// Bytes, a power of two.
    size: u64,
    /// Our own copy of `data_tail`: nobody else stores it.
    tail: u64,
    /// A record that wraps around the end is made whole here.
    straddling: Vec<u8>,
}

impl Ring {
    /// Maps a ring of `pages` data pages (a power of two) for a counter.
    ///
    /// # Errors
    /// [`MapError::MlockBudget`] if the user may not lock so much memory: try half.
    pub fn map(counter: &Counter, pages: usize) -> Result<Self, MapError> {
        if !pages.is_power_of_two() {
            return Err(MapError::NotPowerOfTwo { pages });
        }
        let len = pages
            .checked_add(1)
            .and_then(|all| all.checked_mul(sys::page_size()))
            .ok_or_else(|| MapError::Other(io::Error::from(io::ErrorKind::OutOfMemory)))?;
        let region =
            Region::map(counter.as_fd(), len).map_err(|error| match error.raw_os_error() {
                Some(libc::EPERM) => MapError::MlockBudget { pages },
                _ => MapError::Other(error),
            })?;
        Self::over(region)
    }

    fn over(region: Region) -> Result<Self, MapError> {
        let (offset, size) = (
            region.load_acquire(DATA_OFFSET),
            region.load_acquire(DATA_SIZE),
        );
        let bad = MapError::BadUserPage {
            offset,
            size,
            len: region.len(),
        };
        let inside = offset
            .checked_add(size)
            .is_some_and(|end| end <= region.len() as u64);
        let Ok(data_offset) = usize::try_from(offset) else {
            return Err(bad);
        };
        if !inside || !size.is_power_of_two() || size < HEADER_LEN || !offset.is_multiple_of(8) {
            return Err(bad);
        }
        let tail = region.load_acquire(DATA_TAIL);
        Ok(Self {
            region,
            data_offset,
            size,
            tail,
            straddling: Vec::new(),
        })
    }

    /// Bytes of the data area.
    pub fn size_bytes(&self) -> u64 {
        self.size
    }

    /// Position up to which the kernel has written, bytes since the ring was made.
    pub fn head(&self) -> u64 {
        self.region.load_acquire(DATA_HEAD)
    }

    /// A batch of all records up to now.
    pub fn batch(&mut self) -> Batch<'_> {
        let head = self.head();
        self.batch_until(head)
    }

    /// A batch of the records before `head`, which must come from [`Ring::head`].
    pub fn batch_until(&mut self, head: u64) -> Batch<'_> {
        // Never beyond what the kernel has published: that memory is still its own.
        let head = head.clamp(self.tail, self.head().max(self.tail));
        Batch {
            position: self.tail,
            head,
            ring: self,
        }
    }

    /// The region's bytes from a position to the end of the data area.
    fn until_end(&self, position: u64) -> Range<usize> {
        let in_area = |bytes| usize::try_from(bytes).expect("the area is mapped, so it fits");
        let at = in_area(position & (self.size - 1));
        self.data_offset + at..self.data_offset + in_area(self.size)
    }
}

/// One drain: lends records, and publishes `data_tail` once, when it is dropped.
#[derive(Debug)]
pub struct Batch<'r> {
    ring: &'r mut Ring,
    position: u64,
    head: u64,
}

impl Batch<'_> {
    /// Bytes that are left in this batch.
    pub fn len_bytes(&self) -> u64 {
        self.head - self.position
    }

    /// The next record, header included, in the byte order of this machine; `None` at the end.
    ///
    /// # Errors
    /// [`RingError`] if there is no record where one should start; the rest of the batch is
    /// given up, as nothing in it can be found any more.
    #[expect(
        clippy::should_implement_trait,
        reason = "lends from self, as Iterator cannot"
    )]
    pub fn next(&mut self) -> Result<Option<&[u8]>, RingError> {
        let available = self.head - self.position;
        if available == 0 {
            return Ok(None);
        }
        if available > self.ring.size {
            self.position = self.head;
            return Err(RingError::Overrun {
                unread: available,
                size: self.ring.size,
            });
        }
        let position = self.position;
        let until_end = self.ring.until_end(position);
        let at = until_end.start;
        let bad = |size| RingError::BadRecordSize {
            size,
            position,
            available,
        };
        if available < HEADER_LEN || !position.is_multiple_of(8) {
            self.position = self.head;
            return Err(bad(0));
        }
        // SAFETY: [tail, head) is ours until we publish a new tail, which needs `self`; the
        // header is 8 bytes at an 8-aligned place, so it does not wrap.
        let header = unsafe { self.ring.region.bytes(at, 8) };
        let size = u16::from_ne_bytes([header[6], header[7]]);
        if u64::from(size) < HEADER_LEN || u64::from(size) > available {
            self.position = self.head;
            return Err(bad(size));
        }
        self.position += u64::from(size);
        let len = usize::from(size);
        if len <= until_end.len() {
            // SAFETY: as above, and inside of the area.
            return Ok(Some(unsafe { self.ring.region.bytes(at, len) }));
        }
        let mut whole = std::mem::take(&mut self.ring.straddling);
        whole.clear();
        // SAFETY: as above; the first part ends with the area.
        whole.extend_from_slice(unsafe { self.ring.region.bytes(at, until_end.len()) });
        let rest = len - until_end.len();
        // SAFETY: as above; the second part starts where the area does.
        whole.extend_from_slice(unsafe { self.ring.region.bytes(self.ring.data_offset, rest) });
        self.ring.straddling = whole;
        Ok(Some(&self.ring.straddling))
    }
}

impl Drop for Batch<'_> {
    fn drop(&mut self) {
        if self.ring.tail != self.position {
            self.ring.tail = self.position;
            self.ring.region.store_release(DATA_TAIL, self.position);
        }
    }
}

#[cfg(test)]
mod tests;
