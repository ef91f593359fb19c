//! A share of a batch while it is symbolized: names are those of the file, not copied and
//! not demangled. Shares are joined in order, and each name is made readable once.

use crate::Demangling;
use crate::demangle::shown;
use crate::symbolized::{Frame, Line, Symbolized};
use foldhash::HashMap;
use foldhash::fast::RandomState;
use rprof_base::{Interner, parallel};
use std::borrow::Cow;

/// What kind of name it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Kind {
    /// A function's, mangled.
    Function,
    /// A source file's.
    File,
    /// A function's, readable.
    Readable,
}

type Name<'a> = (Kind, Cow<'a, [u8]>);

type Names<'a> = Interner<u32, Name<'a>, RandomState>;

/// Frames of some addresses, in order.
#[derive(Debug, Default)]
pub(crate) struct Batch<'a> {
    names: Names<'a>,
    /// Numbers by where a name is: the same bytes need not be hashed again.
    places: HashMap<(Kind, usize, usize), u32>,
    frames: Vec<Frame>,
    ends: Vec<u32>,
    /// DWARF was not read as far as it goes: it nests too deep, or says too much.
    is_stopped: bool,
}

impl<'a> Batch<'a> {
    /// The number of a function's name.
    pub(crate) fn function(&mut self, mangled: &'a [u8]) -> u32 {
        self.borrowed(Kind::Function, mangled)
    }

    /// The number of a function's name that is not to be demangled.
    pub(crate) fn readable(&mut self, name: &'a [u8]) -> u32 {
        self.borrowed(Kind::Readable, name)
    }

    fn borrowed(&mut self, kind: Kind, name: &'a [u8]) -> u32 {
        let place = (kind, name.as_ptr().addr(), name.len());
        if let Some(&number) = self.places.get(&place) {
            return number;
        }
        let number = self.names.intern((kind, Cow::Borrowed(name)));
        self.places.insert(place, number);
        number
    }

    /// The number of a function's name that the file has in parts.
    pub(crate) fn made(&mut self, name: Vec<u8>) -> u32 {
        self.names.intern((Kind::Function, Cow::Owned(name)))
    }

    /// The number of a source file's name.
    pub(crate) fn file(&mut self, path: &str) -> u32 {
        let path = path.as_bytes();
        let names: &Names<'_> = &self.names;
        let known = names.find(&(Kind::File, Cow::Borrowed(path)));
        known.unwrap_or_else(|| self.names.intern((Kind::File, Cow::Owned(path.to_vec()))))
    }

    /// Adds a frame to the current address.
    pub(crate) fn frame(&mut self, frame: Frame) {
        self.frames.push(frame);
    }

    /// Goes on to the next address.
    pub(crate) fn end_address(&mut self) {
        self.ends.push(count(self.frames.len()));
    }

    /// Notes whether DWARF was not read as far as it goes.
    pub(crate) fn note_stopped(&mut self, is_stopped: bool) {
        self.is_stopped |= is_stopped;
    }

    /// Appends another's addresses.
    fn append(&mut self, other: Self) {
        self.note_stopped(other.is_stopped);
        let before = count(self.frames.len());
        let numbers: Vec<u32> = other
            .names
            .into_values()
            .into_iter()
            .map(|name| self.names.intern(name))
            .collect();
        let number = |old: u32| numbers.get(old as usize).copied().unwrap_or(u32::MAX);
        self.frames
            .extend(other.frames.into_iter().map(|frame| Frame {
                name: number(frame.name),
                line: frame.line.map(|line| Line {
                    file: number(line.file),
                    ..line
                }),
                ..frame
            }));
        let ends = other.ends.into_iter().map(|end| before.saturating_add(end));
        self.ends.extend(ends);
    }

    /// Joins shares in their order, with names made readable on this many threads.
    pub(crate) fn join(shares: Vec<Self>, demangling: Demangling, n_threads: usize) -> Symbolized {
        let mut shares = shares.into_iter();
        let mut all = shares.next().unwrap_or_default();
        shares.for_each(|share| all.append(share));
        let readable = |(kind, name): &Name<'_>| match kind {
            Kind::Function => demangling.of(name),
            Kind::File | Kind::Readable => shown(name),
        };
        let names = all.names.values();
        let n_parts = n_parts(names.len(), n_threads);
        let names = parallel::in_parts(0..names.len(), n_parts, |part| {
            names[part].iter().map(readable).collect::<Vec<_>>()
        });
        let mut symbolized = Symbolized::new(names.concat(), all.frames, all.ends);
        symbolized.note_over_budget(all.is_stopped);
        symbolized
    }
}

/// Fewer items are not worth a thread: each reads DWARF units of its own.
const LEAST_OF_THREAD: usize = 512;

/// How many threads share some items.
pub(crate) fn n_parts(n_items: usize, n_threads: usize) -> usize {
    n_threads.min(n_items / LEAST_OF_THREAD).max(1)
}

fn count(len: usize) -> u32 {
    u32::try_from(len).unwrap_or(u32::MAX)
}
