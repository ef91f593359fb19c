//! Inlined functions and lines, by addr2line's `Context`.

mod abbreviations;

use crate::answers::{Frame, Line};
use crate::batch::Batch;
use crate::split::Split;
use gimli::{AbbreviationsCacheStrategy, EndianSlice, RunTimeEndian, Section, SectionId};
use rprof_images::{Elf, PackedSection, Svma};
use std::sync::{Arc, Mutex};

pub(crate) type Slice<'a> = EndianSlice<'a, RunTimeEndian>;
pub(crate) type Context<'a> = addr2line::Context<Slice<'a>>;
/// The sections as one, to be shared by contexts.
pub(crate) type Dwarf<'a> = Arc<gimli::Dwarf<Slice<'a>>>;

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
    sections: Vec<(SectionId, PackedSection)>,
    shared: Option<gimli::DwarfSections<Vec<u8>>>,
    endian: RunTimeEndian,
}

impl Packed {
    /// Of a file, and of the one with what it shares with others (dwz).
    pub(crate) fn of(elf: &Elf, shared: Option<&Elf>) -> Self {
        let all_of = |elf: &Elf| {
            let read = |id: SectionId| -> Result<Vec<u8>, ()> {
                Ok(elf.section(id.name()).unwrap_or_default().into_owned())
            };
            gimli::DwarfSections::load(read).ok()
        };
        let sections = WANTED
            .into_iter()
            .filter_map(|id| Some((id, elf.packed_section(id.name())?)));
        Self {
            sections: sections.collect(),
            shared: shared.and_then(all_of),
            endian: match elf.is_little_endian() {
                true => RunTimeEndian::Little,
                false => RunTimeEndian::Big,
            },
        }
    }

    /// Bytes that there will be.
    fn len(&self) -> u64 {
        let lens = self
            .sections
            .iter()
            .map(|(_, section)| section.unpacked_len());
        lens.fold(0, u64::saturating_add)
    }

    /// Reads the sections, on up to so many threads, while this one does something else.
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
                let bytes = section.unpack().unwrap_or_default();
                if let Ok(mut read) = read.lock() {
                    read.push((id, bytes));
                }
            }
        };
        let done = std::thread::scope(|scope| {
            for _ in 0..n_threads {
                // If no thread can be had, this one reads them all.
                let _ = std::thread::Builder::new().spawn_scoped(scope, work);
            }
            let done = meanwhile();
            work();
            done
        });
        let mut read = read.into_inner().unwrap_or_default();
        let take = |id: SectionId| -> Result<Vec<u8>, ()> {
            let found = read.iter_mut().find(|(other, _)| *other == id);
            Ok(found
                .map(|(_, bytes)| std::mem::take(bytes))
                .unwrap_or_default())
        };
        let sections = gimli::DwarfSections::load(take).unwrap_or_default();
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
    sections: gimli::DwarfSections<Vec<u8>>,
    shared: Option<gimli::DwarfSections<Vec<u8>>>,
    endian: RunTimeEndian,
}

impl Sections {
    /// Their byte order.
    pub(crate) fn endian(&self) -> RunTimeEndian {
        self.endian
    }

    /// The sections as one, or `None` if there is nothing in them, or nothing of sense.
    pub(crate) fn dwarf(&self) -> Option<Dwarf<'_>> {
        let mut dwarf = self
            .sections
            .borrow_with_sup(self.shared.as_ref(), |section| {
                EndianSlice::new(section, self.endian)
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

/// A context over sections, for one thread; `None` if they are damaged.
pub(crate) fn context<'a>(dwarf: &Dwarf<'a>) -> Option<Context<'a>> {
    Context::from_arc_dwarf(Arc::clone(dwarf)).ok()
}

/// Adds the inlined frames at an address, innermost first; returns the function they were
/// inlined into.
pub(crate) fn inlined_frames<'a>(
    (context, split): (&Context<'a>, &'a Split),
    address: Svma,
    start: Option<u64>,
    batch: &mut Batch<'a>,
) -> Option<Frame> {
    let start = start.unwrap_or(address.0);
    let mut frames = split.resolve(context.find_frames(address.0)).ok()?;
    let mut previous: Option<Frame> = None;
    while let Ok(Some(frame)) = frames.next() {
        let Some(function) = &frame.function else {
            break;
        };
        if let Some(inlined) = previous.take() {
            batch.frame(Frame {
                is_inlined: true,
                ..inlined
            });
        }
        let line = frame.location.as_ref().and_then(|location| {
            Some(Line {
                file: batch.file(location.file?),
                line: location.line.unwrap_or(0),
            })
        });
        previous = Some(Frame {
            name: batch.function(function.name.slice()),
            start,
            offset: address.0.wrapping_sub(start),
            is_inlined: false,
            line,
        });
    }
    previous
}
