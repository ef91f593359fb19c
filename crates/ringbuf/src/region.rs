//! Memory that the kernel writes while we read it.

#![expect(
    unsafe_code,
    reason = "shared mappings are raw memory; see the SAFETY comments"
)]

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU64, Ordering};

/// A shared mapping. No reference to it is ever made except to its two atomic
/// words, and to bytes that the caller knows the kernel leaves alone.
#[derive(Debug)]
pub(crate) struct Region {
    /// Start of `len` bytes that live as long as this value: mapped (or, in tests, leaked) by
    /// the constructor and given back in `drop`.
    start: NonNull<u8>,
    len: usize,
    owner: Owner,
}

/// What we may do to a mapping.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Access {
    ReadWrite,
    ReadOnly,
}

#[derive(Debug)]
enum Owner {
    Mapping,
    #[cfg(test)]
    Test,
}

// SAFETY: the mapping belongs to this value alone and is not tied to a thread.
unsafe impl Send for Region {}

impl Region {
    /// Maps `len` bytes of an event. If they are read-only, the kernel overwrites what is old.
    pub(crate) fn map(fd: BorrowedFd<'_>, len: usize, access: Access) -> io::Result<Self> {
        let protection = match access {
            Access::ReadWrite => libc::PROT_READ | libc::PROT_WRITE,
            Access::ReadOnly => libc::PROT_READ,
        };
        // SAFETY: a fresh mapping at an address of the kernel's choice touches nothing of ours.
        let address = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                len,
                protection,
                libc::MAP_SHARED,
                fd.as_raw_fd(),
                0,
            )
        };
        if address == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        match NonNull::new(address.cast()) {
            Some(start) => Ok(Self {
                start,
                len,
                owner: Owner::Mapping,
            }),
            None => Err(io::Error::from(io::ErrorKind::AddrNotAvailable)),
        }
    }

    /// Bytes of the mapping.
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// The 8-byte word at `offset`, as an atomic.
    ///
    /// # Panics
    /// If the word is not aligned or not inside: offsets are constants of the format.
    fn word(&self, offset: usize) -> &AtomicU64 {
        assert!(
            offset.is_multiple_of(8) && offset + 8 <= self.len,
            "word outside of the region"
        );
        // SAFETY: in bounds (asserted), so still inside the same mapping.
        let word = unsafe { self.start.as_ptr().add(offset) };
        // SAFETY: in bounds and aligned (asserted; mappings are page-aligned, test memory is
        // 8-aligned); the kernel only accesses it with single 8-byte stores and loads; it lives
        // as long as `self`.
        unsafe { AtomicU64::from_ptr(word.cast()) }
    }

    /// Loads a word that the other side stores with release.
    pub(crate) fn load_acquire(&self, offset: usize) -> u64 {
        self.word(offset).load(Ordering::Acquire)
    }

    /// Stores a word that the other side loads before it overwrites what we have read. Not for read-only
    /// mappings.
    pub(crate) fn store_release(&self, offset: usize, value: u64) {
        self.word(offset).store(value, Ordering::Release);
    }

    /// Bytes of the mapping as a slice.
    ///
    /// # Safety
    /// The other side must not write to these bytes while the slice exists.
    ///
    /// # Panics
    /// If they are not inside.
    pub(crate) unsafe fn bytes(&self, offset: usize, len: usize) -> &[u8] {
        let end = offset.checked_add(len);
        assert!(
            end.is_some_and(|end| end <= self.len),
            "bytes outside of the region"
        );
        // SAFETY: in bounds (asserted), so still inside the same mapping.
        let start = unsafe { self.start.as_ptr().add(offset) };
        // SAFETY: in bounds, mapped (zero-filled at first), not written to meanwhile (caller).
        unsafe { std::slice::from_raw_parts(start, len) }
    }
}

impl Drop for Region {
    fn drop(&mut self) {
        match self.owner {
            Owner::Mapping => {
                // SAFETY: mapped by `map` with this length; nobody borrows from it any more.
                unsafe { libc::munmap(self.start.as_ptr().cast(), self.len) };
            }
            #[cfg(test)]
            Owner::Test => {
                let words = std::ptr::slice_from_raw_parts_mut(
                    self.start.as_ptr().cast::<u64>(),
                    self.len / 8,
                );
                // SAFETY: `for_test` leaked a boxed slice of this many words.
                drop(unsafe { Box::from_raw(words) });
            }
        }
    }
}

/// Test memory in which the test plays the kernel.
#[cfg(test)]
impl Region {
    pub(crate) fn for_test(len: usize) -> Self {
        let words: Box<[u64]> = vec![0; len / 8].into();
        let start = NonNull::new(Box::into_raw(words).cast::<u8>()).unwrap();
        Self {
            start,
            len,
            owner: Owner::Test,
        }
    }

    /// What the kernel does: plain stores, before it publishes the head.
    pub(crate) fn write(&self, offset: usize, bytes: &[u8]) {
        assert!(offset + bytes.len() <= self.len);
        for (idx, byte) in bytes.iter().enumerate() {
            // SAFETY: in bounds (asserted).
            let to = unsafe { self.start.as_ptr().add(offset + idx) };
            // SAFETY: inside of our own allocation, and no slice of it exists now.
            unsafe { to.write(*byte) };
        }
    }
}
