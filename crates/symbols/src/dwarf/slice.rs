//! [`Slice`]: bytes of a section that stop being readable before a stack overflows, and when more was
//! read than makes sense.
//!
//! addr2line descends once for each level of functions that are inlined into each other, and keeps what
//! lists of ranges say once for each function that names them. Files may have any number of levels, and
//! all functions may name the longest list. Both read on at each step; so here is the place to stop.

use gimli::{EndianSlice, Error, Reader, ReaderOffsetId, Result, RunTimeEndian};
use std::borrow::Cow;
use std::cell::Cell;

type Inner<'a> = EndianSlice<'a, RunTimeEndian>;

/// Bytes of a section.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Slice<'a>(Inner<'a>);

/// Stack that reading may take from where it begins, bytes: some hundred levels. Threads have ten times
/// as much, and the main one more, unless somebody limits it.
const STACK: usize = 192 << 10;

thread_local! {
    /// Below this address the stack must not grow.
    static DEEPEST: Cell<usize> = const { Cell::new(0) };
    /// Steps that this thread may take still.
    static STEPS: Cell<u64> = const { Cell::new(u64::MAX) };
    static IS_STOPPED: Cell<bool> = const { Cell::new(false) };
}

/// Allows this thread some steps of reading, and some stack from here on.
pub(super) fn allow(steps: u64) {
    STEPS.set(steps);
    IS_STOPPED.set(false);
    allow_stack();
}

/// Allows this thread some stack from here on.
#[inline]
pub(super) fn allow_stack() {
    DEEPEST.set(here().saturating_sub(STACK));
}

/// Whether this thread was stopped, since it was allowed steps.
pub(crate) fn is_stopped() -> bool {
    IS_STOPPED.get()
}

/// An address near the top of the stack.
#[inline]
fn here() -> usize {
    let local = 0u8;
    (&raw const local).addr()
}

/// One step: is it too deep, or one too many?
#[inline]
fn step() -> Result<()> {
    steps(1)
}

/// This many at once: texts count by their length, since who reads them keeps them.
#[inline]
fn steps(n: usize) -> Result<()> {
    let left = STEPS.get().checked_sub(n as u64);
    match left.filter(|_| here() >= DEEPEST.get()) {
        Some(left) => {
            STEPS.set(left);
            Ok(())
        }
        None => Err(stop()),
    }
}

#[cold]
fn stop() -> Error {
    IS_STOPPED.set(true);
    Error::UnsupportedOffset
}

impl<'a> Slice<'a> {
    pub(crate) fn new(bytes: &'a [u8], endian: RunTimeEndian) -> Self {
        Self(EndianSlice::new(bytes, endian))
    }

    pub(crate) fn slice(&self) -> &'a [u8] {
        self.0.slice()
    }
}

impl Reader for Slice<'_> {
    type Endian = RunTimeEndian;
    type Offset = usize;

    #[inline]
    fn endian(&self) -> RunTimeEndian {
        self.0.endian()
    }

    #[inline]
    fn len(&self) -> usize {
        self.0.len()
    }

    #[inline]
    fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    #[inline]
    fn empty(&mut self) {
        self.0.empty();
    }

    #[inline]
    fn truncate(&mut self, len: usize) -> Result<()> {
        self.0.truncate(len)
    }

    #[inline]
    fn offset_from(&self, base: &Self) -> usize {
        self.0.offset_from(base.0)
    }

    #[inline]
    fn offset_id(&self) -> ReaderOffsetId {
        self.0.offset_id()
    }

    #[inline]
    fn lookup_offset_id(&self, id: ReaderOffsetId) -> Option<usize> {
        self.0.lookup_offset_id(id)
    }

    #[inline]
    fn find(&self, byte: u8) -> Result<usize> {
        let found = Reader::find(&self.0, byte)?;
        steps(found / 64)?;
        Ok(found)
    }

    #[inline]
    fn skip(&mut self, len: usize) -> Result<()> {
        self.0.skip(len)
    }

    #[inline]
    fn split(&mut self, len: usize) -> Result<Self> {
        self.0.split(len).map(Self)
    }

    #[inline]
    fn to_slice(&self) -> Result<Cow<'_, [u8]>> {
        self.0.to_slice()
    }

    #[inline]
    fn to_string(&self) -> Result<Cow<'_, str>> {
        steps(self.0.len())?;
        Reader::to_string(&self.0)
    }

    #[inline]
    fn to_string_lossy(&self) -> Result<Cow<'_, str>> {
        steps(self.0.len())?;
        Reader::to_string_lossy(&self.0)
    }

    #[inline]
    fn read_slice(&mut self, into: &mut [u8]) -> Result<()> {
        self.0.read_slice(into)
    }

    /// What lines and lists of ranges are told in.
    #[inline]
    fn read_u8(&mut self) -> Result<u8> {
        step()?;
        self.0.read_u8()
    }

    /// What each entry begins with.
    #[inline]
    fn read_uleb128(&mut self) -> Result<u64> {
        step()?;
        self.0.read_uleb128()
    }

    #[inline]
    fn read_sleb128(&mut self) -> Result<i64> {
        self.0.read_sleb128()
    }

    #[inline]
    fn skip_leb128(&mut self) -> Result<()> {
        self.0.skip_leb128()
    }

    /// What older lists of ranges are of.
    #[inline]
    fn read_address(&mut self, size: u8) -> Result<u64> {
        step()?;
        self.0.read_address(size)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reading_ends_when_the_steps_are_taken() {
        let mut slice = Slice::new(&[1; 10], RunTimeEndian::Little);
        allow(2);
        assert!(slice.read_u8().is_ok() && slice.read_uleb128().is_ok());
        assert!(!is_stopped() && slice.read_u8().is_err() && is_stopped());
        allow(u64::MAX);
        assert_eq!((slice.read_u8(), slice.len()), (Ok(1), 7));
    }

    #[test]
    fn reading_ends_before_the_stack_does() {
        fn descend(slice: Slice<'_>, level: u32) -> u32 {
            let mut here = slice;
            match here.read_u8() {
                Ok(_) => descend(std::hint::black_box(slice), level + 1).max(level),
                Err(_) => level,
            }
        }
        let slice = Slice::new(&[1], RunTimeEndian::Little);
        allow(u64::MAX);
        let levels = descend(slice, 0);
        let most = u32::try_from(STACK).unwrap();
        assert!((100..most).contains(&levels), "{levels}");
    }
}
