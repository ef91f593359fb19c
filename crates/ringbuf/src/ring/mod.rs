//! A ring and one drain of it.
//!
//! Layout of the mapping: a user page (`struct perf_event_mmap_page`) with `data_head`,
//! `data_tail`, `data_offset` and `data_size`, then the data area. Head and tail count bytes
//! since the ring was made and never wrap; their low bits are the place in the area. Records
//! are multiples of 8 bytes, so a header never straddles the end; a body may.
//!
//! A ring that is overwritten is written backwards: head counts down from 0, modulo 2^64. From head on lie
//! the records, the newest first, up to where the ring ends and an older one is cut.

#![expect(
    unsafe_code,
    reason = "borrows the mapping between head and tail; see SAFETY"
)]

use crate::region::{Access, Region};
use crate::{Counter, MapError, RingError, sys};
use std::io;
use std::ops::Range;
use std::os::fd::{AsFd, OwnedFd};

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
    /// Our own copy of `data_tail`: nobody else stores it. Of an overwritten ring, where the head was at the
    /// last snapshot.
    tail: u64,
    /// The counter of a ring that is overwritten.
    overwritten_by: Option<OwnedFd>,
    /// A record that wraps around the end is made whole here.
    straddling: Vec<u8>,
}

impl Ring {
    /// Maps a ring of `pages` data pages (a power of two) for a counter.
    ///
    /// # Errors
    /// [`MapError::MlockBudget`] if the user may not lock so much memory: try half.
    pub fn map(counter: &Counter, pages: usize) -> Result<Self, MapError> {
        Self::over(map(counter, pages, Access::ReadWrite)?)
    }

    /// The same for a counter that writes backwards, over what is oldest. Its records come by
    /// [`Ring::snapshot`].
    ///
    /// # Errors
    /// As [`Ring::map`].
    pub fn map_overwritten(counter: &Counter, pages: usize) -> Result<Self, MapError> {
        let region = map(counter, pages, Access::ReadOnly)?;
        let fd = counter.as_fd().try_clone_to_owned();
        Ok(Self {
            overwritten_by: Some(fd.map_err(MapError::Other)?),
            ..Self::over(region)?
        })
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
            overwritten_by: None,
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

    /// Position up to which records were taken, bytes since the ring was made.
    pub fn tail(&self) -> u64 {
        self.tail
    }

    /// A batch of all records up to now.
    pub fn batch(&mut self) -> Batch<'_> {
        let head = self.head();
        self.batch_until(head)
    }

    /// A batch of the records before `head`, which must come from [`Ring::head`]; empty for an overwritten
    /// ring.
    pub fn batch_until(&mut self, head: u64) -> Batch<'_> {
        let head = match self.overwritten_by {
            // All of it is the kernel's, unless it is paused.
            Some(_) => self.tail,
            // Never beyond what the kernel has published: that memory is still its own.
            None => head.clamp(self.tail, self.head().max(self.tail)),
        };
        Batch {
            position: self.tail,
            head,
            is_cut: false,
            ring: self,
        }
    }

    /// What an overwritten ring holds since the last snapshot, the newest record first. Until the batch is
    /// dropped the ring takes nothing: events are to be disabled, or what comes is lost.
    ///
    /// # Errors
    /// The kernel's; `Unsupported` of other rings.
    pub fn snapshot(&mut self) -> io::Result<Batch<'_>> {
        let fd = self.overwritten_by.as_ref();
        let fd = fd.ok_or(io::ErrorKind::Unsupported)?;
        sys::perf_ioctl(fd.as_fd(), sys::PerfIoctl::PauseOutput(true))?;
        Ok(self.newest_first())
    }

    fn newest_first(&mut self) -> Batch<'_> {
        let head = self.head();
        let written = self.tail.wrapping_sub(head);
        self.tail = head;
        Batch {
            position: head,
            head: head.wrapping_add(written.min(self.size)),
            is_cut: written > self.size,
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

fn map(counter: &Counter, pages: usize, access: Access) -> Result<Region, MapError> {
    if !pages.is_power_of_two() {
        return Err(MapError::NotPowerOfTwo { pages });
    }
    let len = pages
        .checked_add(1)
        .and_then(|all| all.checked_mul(sys::page_size()))
        .ok_or_else(|| MapError::Other(io::Error::from(io::ErrorKind::OutOfMemory)))?;
    Region::map(counter.as_fd(), len, access).map_err(|error| match error.raw_os_error() {
        Some(libc::EPERM) => MapError::MlockBudget { pages },
        _ => MapError::Other(error),
    })
}

/// One drain: lends records, and publishes `data_tail` once, when it is dropped.
#[derive(Debug)]
pub struct Batch<'r> {
    ring: &'r mut Ring,
    position: u64,
    head: u64,
    /// The end of its last record is overwritten.
    is_cut: bool,
}

impl Batch<'_> {
    /// Whether older records of an overwritten ring are gone.
    pub fn is_cut(&self) -> bool {
        self.is_cut
    }

    /// Bytes that are left in this batch.
    pub fn len_bytes(&self) -> u64 {
        self.head.wrapping_sub(self.position)
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
        let available = self.len_bytes();
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
        // SAFETY: [tail, head) is ours until we publish a new tail, which needs `self`, or the ring is
        // paused until `self` is dropped; the header is 8 bytes at an 8-aligned place, so it does not wrap.
        let header = unsafe { self.ring.region.bytes(at, 8) };
        let size = u16::from_ne_bytes([header[6], header[7]]);
        if u64::from(size) < HEADER_LEN || u64::from(size) > available {
            self.position = self.head;
            return if self.is_cut && u64::from(size) > available {
                Ok(None)
            } else {
                Err(bad(size))
            };
        }
        self.position = self.position.wrapping_add(u64::from(size));
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
        if let Some(fd) = &self.ring.overwritten_by {
            // What fails here fails at the next snapshot, too.
            let _ = sys::perf_ioctl(fd.as_fd(), sys::PerfIoctl::PauseOutput(false));
        } else if self.ring.tail != self.position {
            self.ring.tail = self.position;
            self.ring.region.store_release(DATA_TAIL, self.position);
        }
    }
}

#[cfg(test)]
mod tests;
