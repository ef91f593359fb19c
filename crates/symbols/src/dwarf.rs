//! Inlined functions and lines, by addr2line's `Context`.

mod abbreviations;
mod scopes;
mod slice;

pub(crate) use slice::{Slice, is_stopped};

use crate::batch::{Batch, Outermost};
use crate::split::Split;
use crate::symbolized::{Frame, Line};
use gimli::{AbbreviationsCacheStrategy, Reader as _, RunTimeEndian, Section, SectionId};
use rprof_base::Svma;
use rprof_images::{Elf, RawSection, SectionBytes};
use scopes::{Function, Scopes, may_be_scoped};
use std::cell::RefCell;
use std::sync::{Arc, Mutex};

/// What one thread looks addresses up in.
pub(crate) struct Context<'a> {
    lines: addr2line::Context<Slice<'a>>,
    split: &'a Split,
    scopes: RefCell<Scopes<'a>>,
}

/// The sections as one, to be shared by contexts.
pub(crate) type Dwarf<'a> = Arc<gimli::Dwarf<Slice<'a>>>;

/// Sections that were read and unpacked.
type DwarfSections = gimli::DwarfSections<SectionBytes>;

/// Those that names, inlined functions and lines are in, the long ones first.
const WANTED: [SectionId; 10] = [
    SectionId::DebugInfo,
    SectionId::DebugStr,
    SectionId::DebugLine,
    SectionId::DebugRngLists,
    SectionId::DebugRanges,
    SectionId::DebugAbbrev,
    SectionId::DebugAddr,
    SectionId::DebugAranges,
    SectionId::DebugLineStr,
    SectionId::DebugStrOffsets,
];

/// The DWARF sections of a file, found and not yet read.
#[derive(Debug)]
pub(crate) struct Packed {
    sections: Vec<(SectionId, RawSection)>,
    shared: Option<DwarfSections>,
    endian: RunTimeEndian,
}

impl Packed {
    /// Of a file, and of the one with what it shares with others (dwz).
    pub(crate) fn of(elf: &Elf, shared: Option<&Elf>) -> Self {
        let all_of = |elf: &Elf| {
            let read = |id: SectionId| -> Result<SectionBytes, ()> {
                let packed = elf.raw_section(id.name());
                Ok(packed.and_then(RawSection::decompress).unwrap_or_default())
            };
            DwarfSections::load(read).ok()
        };
        let sections = WANTED
            .into_iter()
            .filter_map(|id| Some((id, elf.raw_section(id.name())?)));
        Self {
            sections: sections.collect(),
            shared: shared.and_then(all_of),
            endian: if elf.is_little_endian() {
                RunTimeEndian::Little
            } else {
                RunTimeEndian::Big
            },
        }
    }

    /// Bytes that there will be.
    fn len(&self) -> u64 {
        let lens = self
            .sections
            .iter()
            .map(|(_, section)| section.decompressed_len());
        lens.fold(0, u64::saturating_add)
    }

    /// Reads the sections, on at most this many threads, while this one does something else.
    pub(crate) fn unpack<R>(
        self,
        n_threads: usize,
        meanwhile: impl FnOnce() -> R,
    ) -> (Sections, R) {
        /// A file with less is read sooner than a thread is started.
        const WORTH_A_THREAD: u64 = 1 << 20;
        let n_threads = match self.len() {
            0..WORTH_A_THREAD => 0,
            _ => n_threads.saturating_sub(1).min(self.sections.len()),
        };
        let endian = self.endian;
        let waiting = Mutex::new(self.sections.into_iter());
        let read = Mutex::new(Vec::new());
        let work = || {
            let next = || waiting.lock().ok()?.next();
            while let Some((id, section)) = next() {
                // What is damaged counts as empty.
                let bytes = section.decompress().unwrap_or_default();
                if let Ok(mut read) = read.lock() {
                    read.push((id, bytes));
                }
            }
        };
        let done = std::thread::scope(|scope| {
            for _ in 0..n_threads {
                // If no thread can be started, this one reads them all.
                let _ = std::thread::Builder::new().spawn_scoped(scope, work);
            }
            let done = meanwhile();
            work();
            done
        });
        let mut read = read.into_inner().unwrap_or_default();
        let take = |id: SectionId| -> Result<SectionBytes, ()> {
            let found = read.iter_mut().find(|(other, _)| *other == id);
            Ok(found
                .map(|(_, bytes)| std::mem::take(bytes))
                .unwrap_or_default())
        };
        let sections = DwarfSections::load(take).unwrap_or_default();
        let sections = Sections {
            sections,
            shared: self.shared,
            endian,
        };
        (sections, done)
    }
}

/// The DWARF sections of a file, unpacked.
#[derive(Debug)]
pub(crate) struct Sections {
    sections: DwarfSections,
    shared: Option<DwarfSections>,
    endian: RunTimeEndian,
}

impl Sections {
    /// Their byte order.
    pub(crate) fn endian(&self) -> RunTimeEndian {
        self.endian
    }

    /// The sections as one, or `None` if there is nothing in them, or nothing of sense.
    pub(crate) fn dwarf(&self) -> Option<Dwarf<'_>> {
        // What another file took on this thread is no matter here.
        slice::allow(u64::MAX);
        let mut dwarf = self
            .sections
            .borrow_with_sup(self.shared.as_ref(), |section| {
                Slice::new(section, self.endian)
            });
        if dwarf.debug_info.reader().is_empty() {
            return None;
        }
        let shared = dwarf.sup().is_none_or(abbreviations::are_apart);
        if !shared || !abbreviations::are_apart(&dwarf) {
            return None;
        }
        // Each context would parse them all, and keep them: half of what it takes to make one.
        dwarf.populate_abbreviations_cache(AbbreviationsCacheStrategy::All);
        Some(Arc::new(dwarf))
    }
}

/// What reading all of it takes, and looking some things up again; with split units, whose sections
/// are others, some more.
fn steps(dwarf: &Dwarf<'_>) -> u64 {
    const SOME_MORE: u64 = 256 << 20;
    let sections = [
        dwarf.debug_info.reader().len(),
        dwarf.debug_line.reader().len(),
        dwarf.ranges.debug_ranges().reader().len(),
        dwarf.ranges.debug_rnglists().reader().len(),
    ];
    let len = sections.into_iter().fold(0, usize::saturating_add);
    u64::try_from(len)
        .unwrap_or(u64::MAX)
        .saturating_mul(8)
        .saturating_add(SOME_MORE)
}

/// A context over sections, for one thread; `None` if they are damaged.
pub(crate) fn context<'a>(dwarf: &Dwarf<'a>, split: &'a Split) -> Option<Context<'a>> {
    slice::allow(steps(dwarf));
    let lines = addr2line::Context::from_arc_dwarf(Arc::clone(dwarf)).ok()?;
    Some(Context {
        lines,
        split,
        scopes: RefCell::default(),
    })
}

/// Adds the inlined frames at an address, innermost first; returns the function they were
/// inlined into. `start` is where that begins, if a symbol says so.
pub(crate) fn inlined_frames<'a>(
    context: &Context<'a>,
    address: Svma,
    start: Option<u64>,
    batch: &mut Batch<'a>,
) -> Outermost {
    slice::allow_stack();
    let found = context.lines.find_frames(address.0);
    let Ok(mut frames) = context.split.resolve(found) else {
        return Outermost::default();
    };
    let mut chain = Chain::new(address, start);
    while let Ok(Some(frame)) = frames.next() {
        let function = frame.function.as_ref();
        let name = function.map(|function| {
            let name = function.name.slice();
            let scoped = frame
                .dw_die_offset
                .filter(|_| may_be_scoped(function.language, name))
                .and_then(|entry| scoped_name(context, address, Function { entry, name }, batch));
            scoped.unwrap_or_else(|| batch.function(name))
        });
        let line = frame.location.as_ref().and_then(|location| {
            Some(Line {
                file: batch.file(location.file?),
                line: location.line.unwrap_or(0),
            })
        });
        chain.add(name, line, batch);
    }
    chain.outermost(batch)
}

/// The number of a function's name with all that it stands in, if that is known.
fn scoped_name<'a>(
    context: &Context<'a>,
    address: Svma,
    function: Function<'a>,
    batch: &mut Batch<'a>,
) -> Option<u32> {
    let found = context.lines.find_dwarf_and_unit(address.0);
    let unit = context.split.resolve(found)?;
    let mut scopes = context.scopes.try_borrow_mut().ok()?;
    scopes.name(unit, function, batch)
}

/// Frames at one address, each inlined into the next.
struct Chain {
    address: Svma,
    /// Where the symbol begins that they are in, if there is one.
    symbol: Option<u64>,
    named: Option<Frame>,
    /// The line in the last function, which has no name: that of the symbol, if it is the outermost.
    nameless: Option<Option<Line>>,
}

impl Chain {
    fn new(address: Svma, symbol: Option<u64>) -> Self {
        Self {
            address,
            symbol,
            named: None,
            nameless: None,
        }
    }

    fn frame(&self, name: u32, line: Option<Line>) -> Frame {
        let start = self.symbol.unwrap_or(self.address.0);
        Frame {
            name,
            start,
            offset: self.address.0.wrapping_sub(start),
            size: None,
            is_inlined: false,
            line,
        }
    }

    /// The last with a name turns out to be inlined.
    fn pass_on(&mut self, batch: &mut Batch<'_>) {
        if let Some(inlined) = self.named.take() {
            batch.frame(Frame {
                is_inlined: true,
                ..inlined
            });
        }
    }

    fn add(&mut self, name: Option<u32>, line: Option<Line>, batch: &mut Batch<'_>) {
        match name {
            Some(name) => {
                self.pass_on(batch);
                self.named = Some(self.frame(name, line));
                self.nameless = None;
            }
            // Assembly, or the file with the functions is not there.
            None => self.nameless = Some(line),
        }
    }

    /// The function that has all of the code.
    fn outermost(mut self, batch: &mut Batch<'_>) -> Outermost {
        match self.nameless.filter(|_| self.symbol.is_some()) {
            Some(line) => {
                self.pass_on(batch);
                Outermost { frame: None, line }
            }
            None => self.named.into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What frames of these names and lines are: the inlined ones, and the outermost's line.
    fn chain(
        symbol: Option<u64>,
        frames: &[(Option<&'static str>, u32)],
    ) -> (Vec<(String, u32)>, Option<u32>) {
        let mut batch = Batch::default();
        let mut chain = Chain::new(Svma(0x1007), symbol);
        for &(name, line) in frames {
            let name = name.map(|name| batch.function(name.as_bytes()));
            let file = batch.file("x.s");
            chain.add(name, Some(Line { file, line }), &mut batch);
        }
        let outermost = chain.outermost(&mut batch);
        batch.end_address();
        let symbolized = Batch::join(vec![batch], crate::Demangling::default(), 1);
        let shown = |frame: &Frame| {
            assert!(frame.is_inlined);
            (
                symbolized.name(frame.name).to_owned(),
                frame.line.unwrap().line,
            )
        };
        let inlined = symbolized.frames(0).iter().map(shown).collect();
        (inlined, outermost.line.map(|line| line.line))
    }

    #[test]
    fn a_line_counts_for_the_function_that_it_is_in_and_no_other() {
        let symbol = Some(0x1000);
        let inner = || vec![("inner".to_owned(), 1)];
        assert_eq!(chain(symbol, &[(None, 7)]), (Vec::new(), Some(7)));
        let both = [(Some("inner"), 1), (Some("outer"), 2)];
        assert_eq!(chain(symbol, &both), (inner(), Some(2)));
        let nameless = [(Some("inner"), 1), (None, 2)];
        assert_eq!(chain(symbol, &nameless), (inner(), Some(2)));
        let between = [(Some("inner"), 1), (None, 2), (Some("outer"), 3)];
        assert_eq!(chain(symbol, &between), (inner(), Some(3)));
        // Without a symbol, what has a name is all there is to show.
        assert_eq!(chain(None, &[(None, 7)]), (Vec::new(), None));
        assert_eq!(chain(None, &nameless), (Vec::new(), Some(1)));
    }
}
