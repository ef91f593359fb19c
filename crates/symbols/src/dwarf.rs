//! Inlined functions and lines, by addr2line's `Context`.

use crate::answers::{Collector, Frame, Line};
use crate::demangle;
use gimli::{EndianSlice, RunTimeEndian};
use rprof_images::{Elf, Svma};
use std::borrow::Cow;

type Slice<'a> = EndianSlice<'a, RunTimeEndian>;
pub(crate) type Context<'a> = addr2line::Context<Slice<'a>>;

/// The DWARF sections of a file, decompressed.
#[derive(Debug)]
pub(crate) struct Sections<'a> {
    sections: gimli::DwarfSections<Cow<'a, [u8]>>,
    endian: RunTimeEndian,
}

impl<'a> Sections<'a> {
    pub(crate) fn of(elf: &'a Elf) -> Option<Self> {
        let load = |id: gimli::SectionId| -> Result<Cow<'a, [u8]>, ()> {
            Ok(elf.section(id.name()).unwrap_or_default())
        };
        let sections = gimli::DwarfSections::load(load).ok()?;
        let endian = match elf.is_little_endian() {
            true => RunTimeEndian::Little,
            false => RunTimeEndian::Big,
        };
        Some(Self { sections, endian })
    }

    /// A context over these sections; `None` if they are damaged.
    pub(crate) fn context(&self) -> Option<Context<'_>> {
        let dwarf = self
            .sections
            .borrow(|section| EndianSlice::new(section, self.endian));
        Context::from_dwarf(dwarf).ok()
    }
}

/// Adds the inlined frames at an address, innermost first; returns the function they were
/// inlined into.
pub(crate) fn inlined_frames(
    context: &Context<'_>,
    address: Svma,
    start: u64,
    collector: &mut Collector,
) -> Option<Frame> {
    let mut frames = context.find_frames(address.0).skip_all_loads().ok()?;
    let mut previous: Option<Frame> = None;
    while let Ok(Some(frame)) = frames.next() {
        let Some(function) = &frame.function else {
            break;
        };
        let Ok(raw) = function.raw_name() else {
            break;
        };
        if let Some(inlined) = previous.take() {
            collector.frame(Frame {
                is_inlined: true,
                ..inlined
            });
        }
        let line = frame.location.as_ref().and_then(|location| {
            let file = collector.name(location.file?.as_bytes(), |name| {
                String::from_utf8_lossy(name).into_owned()
            });
            Some(Line {
                file,
                line: location.line.unwrap_or(0),
            })
        });
        previous = Some(Frame {
            name: collector.name(raw.as_bytes(), demangle),
            start,
            offset: address.0.wrapping_sub(start),
            is_inlined: false,
            line,
        });
    }
    previous
}
