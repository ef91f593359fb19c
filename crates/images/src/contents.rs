//! What is read of an ELF file: kept, counted, and never more than the file has.

use crate::source::Source;
use object::{ReadCache, ReadRef};
use rprof_untrusted::{Budget, Held, OverBudget, is_mostly_hole};
use std::cell::{Cell, OnceCell, RefCell};
use std::collections::HashSet;
use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::sync::Arc;

/// The bytes of a file. What was read of them stays in memory, and counts, until this is dropped.
#[derive(Debug)]
pub(crate) struct Contents {
    cache: ReadCache<Source>,
    /// The file; `None` for an image in memory.
    file: Option<Arc<File>>,
    /// Ranges that were read: offset and length.
    read: RefCell<HashSet<(u64, u64)>>,
    /// Ranges of which parts were read, and kept.
    read_in_part: RefCell<HashSet<(u64, u64)>>,
    /// Those parts.
    kept: Kept,
    /// Compressed sections that were asked for: number and range.
    compressed: RefCell<Vec<(usize, Range<u64>)>>,
    held: RefCell<Held>,
    /// Bytes that may be read whatever the budget says.
    free: Cell<u64>,
    is_over_budget: Cell<bool>,
}

/// So much of each file can be read always, and does not count: headers, notes and small programs
/// must not depend on what is read beside them.
const FREE: u64 = 1 << 20;

impl Contents {
    pub(crate) fn new(source: Source, budget: &Budget) -> Self {
        Self {
            file: source.opened().map(|opened| Arc::clone(opened.file())),
            cache: ReadCache::new(source),
            read: RefCell::default(),
            read_in_part: RefCell::default(),
            kept: Kept::default(),
            compressed: RefCell::default(),
            held: RefCell::new(budget.hold_nothing()),
            free: Cell::new(FREE),
            is_over_budget: Cell::new(false),
        }
    }

    /// Says that something was left out.
    pub(crate) fn note_over_budget(&self) {
        self.is_over_budget.set(true);
    }

    /// The open file; `None` for an image in memory.
    pub(crate) fn file(&self) -> Option<&Arc<File>> {
        self.file.as_ref()
    }

    pub(crate) fn budget(&self) -> Budget {
        self.held.borrow().budget().clone()
    }

    /// Whether something of the file was left out because it did not fit.
    pub(crate) fn is_over_budget(&self) -> bool {
        self.is_over_budget.get()
    }

    /// Counts memory that is made of the file, until this is dropped.
    pub(crate) fn hold(&self, bytes: u64) -> Result<(), OverBudget> {
        if let Some(free) = self.free.get().checked_sub(bytes) {
            self.free.set(free);
            return Ok(());
        }
        let held = self.held.borrow_mut().grow(bytes);
        self.noted(held)
    }

    /// Takes memory that is made of the file, and may outlive this.
    pub(crate) fn hold_apart(&self, bytes: u64) -> Result<Held, OverBudget> {
        let held = self.held.borrow().budget().hold(bytes);
        self.noted(held)
    }

    /// Takes more of the same.
    pub(crate) fn grow(&self, held: &mut Held, bytes: u64) -> Result<(), OverBudget> {
        let grown = held.grow(bytes);
        self.noted(grown)
    }

    /// Keeps bytes until this is dropped; the caller has counted them ([`Self::hold`]).
    pub(crate) fn keep(&self, bytes: Vec<u8>) -> &[u8] {
        self.kept.add(bytes)
    }

    /// Whether a range is in memory: offset and length.
    pub(crate) fn has_read(&self, range: (u64, u64)) -> bool {
        self.read.borrow().contains(&range)
    }

    /// Whether a range, or parts of it, were read before.
    pub(crate) fn was_read(&self, range: (u64, u64)) -> bool {
        self.has_read(range) || self.read_in_part.borrow().contains(&range)
    }

    /// Notes that parts of a range were read, and kept.
    pub(crate) fn note_read_in_part(&self, range: (u64, u64)) {
        self.read_in_part.borrow_mut().insert(range);
    }

    /// Fills `into` from a place of the file, without keeping what was read.
    pub(crate) fn read_exact_at(&self, into: &mut [u8], at: u64) -> io::Result<()> {
        match &self.file {
            Some(file) if self.has(at, into.len() as u64) => file.read_exact_at(into, at),
            _ => Err(io::Error::from(io::ErrorKind::UnexpectedEof)),
        }
    }

    fn noted<T>(&self, held: Result<T, OverBudget>) -> Result<T, OverBudget> {
        held.inspect_err(|_| self.is_over_budget.set(true))
    }

    /// Whether a range of the file has contents that can be read.
    pub(crate) fn has(&self, offset: u64, len: u64) -> bool {
        let file = self.file.as_ref();
        !file.is_some_and(|file| is_mostly_hole(file, offset, len))
    }

    /// Notes a compressed section. Two that share bytes are damaged: a few bytes would become any number
    /// of sections.
    pub(crate) fn is_compressed_apart(&self, section: usize, range: Range<u64>) -> bool {
        let mut compressed = self.compressed.borrow_mut();
        let overlaps = |(other, of_other): &(usize, Range<u64>)| {
            *other != section && of_other.start < range.end && range.start < of_other.end
        };
        if compressed.iter().any(overlaps) {
            return false;
        }
        compressed.push((section, range));
        true
    }
}

/// Bytes that stay where they are while others are added.
#[derive(Debug, Default)]
struct Kept(OnceCell<(Vec<u8>, Box<Self>)>);

impl Kept {
    fn add(&self, bytes: Vec<u8>) -> &[u8] {
        let mut last = self;
        // There are few: one for each table of symbols.
        while let Some((_, next)) = last.0.get() {
            last = next;
        }
        &last.0.get_or_init(|| (bytes, Box::default())).0
    }
}

impl<'d> ReadRef<'d> for &'d Contents {
    fn len(self) -> Result<u64, ()> {
        (&self.cache).len()
    }

    fn read_bytes_at(self, offset: u64, size: u64) -> Result<&'d [u8], ()> {
        if size > 0 && !self.read.borrow().contains(&(offset, size)) {
            // First: what lies outside of the file costs nothing.
            let end = offset.checked_add(size).ok_or(())?;
            if end > (&self.cache).len()? || !self.has(offset, size) {
                return Err(());
            }
            self.hold(size).map_err(drop)?;
            self.read.borrow_mut().insert((offset, size));
        }
        (&self.cache).read_bytes_at(offset, size)
    }

    fn read_bytes_at_until(self, range: Range<u64>, delimiter: u8) -> Result<&'d [u8], ()> {
        // At most 4 KiB each, and each once: names of sections, of which there are as many as headers.
        (&self.cache).read_bytes_at_until(range, delimiter)
    }
}
