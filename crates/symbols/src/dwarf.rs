//! Inlined functions and lines, by addr2line's `Context`.

mod abbreviations;
mod scopes;
mod slice;

pub(crate) use slice::Slice;

use crate::batch::{Batch, n_parts};
use crate::chain::{Chain, Outermost};
use crate::split::Split;
use crate::symbolized::Line;
use gimli::{AbbreviationsCacheStrategy, Reader as _, RunTimeEndian, Section, SectionId};
use rprof_base::{Svma, parallel};
use rprof_images::{Elf, RawSection, SectionBytes, SplitFiles};
use scopes::{Function, Scopes, may_be_scoped};
use slice::is_stopped;
use std::cell::RefCell;
use std::sync::{Arc, Mutex};

/// What one thread looks addresses up in.
pub(crate) struct Context<'a> {
    lines: addr2line::Context<Slice<'a>>,
    split: &'a Split,
    scopes: RefCell<Scopes<'a>>,
}

/// The sections as one, to be shared by contexts.
type Dwarf<'a> = Arc<gimli::Dwarf<Slice<'a>>>;

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
    split: Split,
    is_over_budget: bool,
}

impl Packed {
    /// Of a file, of the one with what it shares with others (dwz), and of those with split units.
    pub(crate) fn of(elf: &Elf, shared: Option<&Elf>, split: Option<Box<dyn SplitFiles>>) -> Self {
        let all_of = |elf: &Elf| DwarfSections::load(|id| read(elf, Some(id.name()))).ok();
        let sections = WANTED
            .into_iter()
            .filter_map(|id| Some((id, elf.raw_section(id.name())?)));
        let endian = if elf.is_little_endian() {
            RunTimeEndian::Little
        } else {
            RunTimeEndian::Big
        };
        Self {
            sections: sections.collect(),
            shared: shared.and_then(all_of),
            split: Split::new(split, endian),
            is_over_budget: shared.is_some_and(Elf::is_over_budget),
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
    fn unpack<R>(self, n_threads: usize, meanwhile: impl FnOnce() -> R) -> (Sections, R) {
        /// A file with less is read sooner than a thread is started.
        const WORTH_A_THREAD: u64 = 1 << 20;
        let n_threads = match self.len() {
            0..WORTH_A_THREAD => 0,
            _ => n_threads.saturating_sub(1).min(self.sections.len()),
        };
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
        let take = |id: SectionId| -> gimli::Result<SectionBytes> {
            let found = read.iter_mut().find(|(other, _)| *other == id);
            Ok(found
                .map(|(_, bytes)| std::mem::take(bytes))
                .unwrap_or_default())
        };
        let sections = DwarfSections::load(take).unwrap_or_default();
        let sections = Sections {
            sections,
            shared: self.shared,
            split: self.split,
            is_over_budget: self.is_over_budget,
        };
        (sections, done)
    }
}

/// The DWARF sections of a file, unpacked.
#[derive(Debug)]
pub(crate) struct Sections {
    sections: DwarfSections,
    shared: Option<DwarfSections>,
    split: Split,
    is_over_budget: bool,
}

impl Sections {
    /// Whether something was left out because it did not fit into the budget; of split units, so far.
    pub(crate) fn is_over_budget(&self) -> bool {
        self.is_over_budget || self.split.is_over_budget()
    }

    /// The sections as one, or `None` if there is nothing in them, or nothing of sense.
    fn dwarf(&self) -> Option<Dwarf<'_>> {
        // What another file took on this thread is no matter here.
        slice::allow(u64::MAX);
        let mut dwarf = self
            .sections
            .borrow_with_sup(self.shared.as_ref(), |section| {
                Slice::new(section, self.split.endian())
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

/// Reads the DWARF of a file, if it is wanted, while this thread does something else.
pub(crate) fn unpack<R>(
    packed: Option<Packed>,
    n_threads: usize,
    meanwhile: impl FnOnce() -> R,
) -> (Option<Sections>, R) {
    match packed {
        Some(packed) => {
            let (sections, done) = packed.unpack(n_threads, meanwhile);
            (Some(sections), done)
        }
        None => (None, meanwhile()),
    }
}

/// A section of a file; what is absent or damaged is empty.
pub(crate) fn read(elf: &Elf, name: Option<&str>) -> gimli::Result<SectionBytes> {
    let section = name.and_then(|name| elf.raw_section(name));
    Ok(section.and_then(RawSection::decompress).unwrap_or_default())
}

/// Names addresses on up to this many threads, each with what it looks addresses up in, if there is DWARF.
pub(crate) fn name_all<'a, T: Sync>(
    sections: Option<&'a Sections>,
    addresses: &[T],
    n_threads: usize,
    name: impl Fn(&T, Option<&Context<'a>>, &mut Batch<'a>) + Sync,
) -> Vec<Batch<'a>> {
    let dwarf = sections.and_then(|all| Some((all.dwarf()?, &all.split)));
    let n_parts = n_parts(addresses.len(), n_threads);
    parallel::in_parts(0..addresses.len(), n_parts, |part| {
        let context = dwarf
            .as_ref()
            .and_then(|(dwarf, split)| context(dwarf, split));
        let mut batch = Batch::default();
        for address in &addresses[part] {
            name(address, context.as_ref(), &mut batch);
            batch.end_address();
        }
        batch.note_stopped(dwarf.is_some() && is_stopped());
        batch
    })
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
fn context<'a>(dwarf: &Dwarf<'a>, split: &'a Split) -> Option<Context<'a>> {
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
