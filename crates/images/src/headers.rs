//! The headers of an ELF file. [`object::File`] reads both symbol tables with them, which are more than all else that a
//! recorder reads of a program.

use crate::Elf;
use crate::contents::Contents;
use crate::segments::{InMemory, Segment, in_memory_of, segments_of};
use object::read::elf::{FileHeader, ProgramHeader as _, SectionHeader as _, SectionTable};
use object::{Endianness, FileKind, ReadRef, elf};
use rprof_abi::Machine;
use rprof_base::Svma;
use std::ops::Range;

/// The headers of a file of 64 or 32 bits.
pub(crate) enum Headers<'d> {
    Elf64(HeadersOf<'d, elf::FileHeader64<Endianness>>),
    Elf32(HeadersOf<'d, elf::FileHeader32<Endianness>>),
}

pub(crate) struct HeadersOf<'d, H: FileHeader<Endian = Endianness>> {
    data: &'d Contents,
    endian: Endianness,
    header: &'d H,
    segments: &'d [H::ProgramHeader],
    sections: SectionTable<'d, H, &'d Contents>,
}

/// A section that is in the file as it is.
pub(crate) struct PlainSection {
    /// Where it is in memory; `None` if it is not loaded.
    pub(crate) address: Option<Range<Svma>>,
    /// Where it is in the file; empty if it has no contents.
    pub(crate) offset: u64,
    pub(crate) len: u64,
}

/// What the headers say of a section.
pub(crate) enum FoundSection {
    Plain(PlainSection),
    /// Its contents are compressed, or it has the name of those that are.
    Compressed,
    Absent,
}

/// Calls a function of the headers, of whichever width they are.
macro_rules! of_headers {
    ($headers:expr, $of:ident => $call:expr) => {
        match $headers {
            Headers::Elf64($of) => $call,
            Headers::Elf32($of) => $call,
        }
    };
}

impl Elf {
    /// Its headers.
    ///
    /// # Errors
    /// If they are damaged.
    pub(crate) fn headers(&self) -> Result<Headers<'_>, object::read::Error> {
        let data = self.data();
        Ok(match FileKind::parse(data)? {
            FileKind::Elf32 => Headers::Elf32(HeadersOf::parse(data)?),
            _ => Headers::Elf64(HeadersOf::parse(data)?),
        })
    }

    /// Its loaded ranges.
    ///
    /// # Errors
    /// If its headers are damaged, or its symbol tables are, as far as headers say.
    pub(crate) fn read_segments(&self) -> Result<Vec<Segment>, object::read::Error> {
        let headers = self.headers()?;
        if !headers.has_sound_symbols() {
            // It says what is wrong with them.
            self.object()?;
        }
        Ok(headers.loaded())
    }
}

impl Headers<'_> {
    /// The loaded ranges of the file.
    pub(crate) fn loaded(&self) -> Vec<Segment> {
        of_headers!(self, of => segments_of(of.endian, of.segments, &of.sections))
    }

    /// The same, as they are in memory.
    pub(crate) fn in_memory(&self) -> Vec<InMemory> {
        of_headers!(self, of => in_memory_of(of.endian, of.segments, &of.sections))
    }

    /// Whether the symbol tables are within the file, and whole.
    pub(crate) fn has_sound_symbols(&self) -> bool {
        of_headers!(self, of => of.has_sound_symbols())
    }

    /// The build id.
    pub(crate) fn build_id(&self) -> Option<Vec<u8>> {
        of_headers!(self, of => of.build_id().ok()?)
    }

    /// The address where the program begins, or 0.
    pub(crate) fn entry(&self) -> u64 {
        of_headers!(self, of => of.entry())
    }

    /// The machine, if that is a 64-bit, little-endian one known here.
    pub(crate) fn machine(&self) -> Option<Machine> {
        match self {
            Self::Elf64(of) if of.endian == Endianness::Little => {
                Machine::of_elf(of.header.e_machine(of.endian).0)
            }
            Self::Elf64(_) | Self::Elf32(_) => None,
        }
    }

    pub(crate) fn is_little_endian(&self) -> bool {
        of_headers!(self, of => of.endian == Endianness::Little)
    }

    /// The section of a name.
    pub(crate) fn section(&self, name: &str) -> FoundSection {
        of_headers!(self, of => of.section(name))
    }
}

impl<'d, H: FileHeader<Endian = Endianness>> HeadersOf<'d, H> {
    fn parse(data: &'d Contents) -> Result<Self, object::read::Error> {
        let header = H::parse(data)?;
        let endian = header.endian()?;
        Ok(Self {
            data,
            endian,
            header,
            segments: header.program_headers(endian, data)?,
            sections: header.sections(endian, data)?,
        })
    }

    fn entry(&self) -> u64 {
        self.header.e_entry(self.endian).into()
    }

    fn has_sound_symbols(&self) -> bool {
        let Ok(len) = self.data.len() else {
            return false;
        };
        let mut tables = self.sections.iter().filter(|section| {
            let kind = section.sh_type(self.endian);
            kind == elf::SHT_SYMTAB || kind == elf::SHT_DYNSYM
        });
        tables.all(|table| {
            let start: u64 = table.sh_offset(self.endian).into();
            let size: u64 = table.sh_size(self.endian).into();
            let is_inside = start.checked_add(size).is_some_and(|end| end <= len);
            let is_whole = size.is_multiple_of(size_of::<H::Sym>() as u64);
            let names = table.link(self.endian);
            let names = self.sections.strings(self.endian, self.data, names);
            is_inside && is_whole && names.is_ok()
        })
    }

    /// As `object` finds it: in sections, or in segments if there are no sections.
    fn build_id(&self) -> Result<Option<Vec<u8>>, object::read::Error> {
        let (endian, data) = (self.endian, self.data);
        let mut of_sections = self.sections.iter().map(|one| one.notes(endian, data));
        let mut of_segments = self.segments.iter().map(|one| one.notes(endian, data));
        let all: &mut dyn Iterator<Item = _> = if self.sections.is_empty() {
            &mut of_segments
        } else {
            &mut of_sections
        };
        for notes in all {
            let Some(mut notes) = notes? else {
                continue;
            };
            while let Some(note) = notes.next()? {
                let is_of_gnu = note.name() == elf::ELF_NOTE_GNU;
                if is_of_gnu && note.n_type(endian) == elf::NT_GNU_BUILD_ID {
                    return Ok(Some(note.desc().to_vec()));
                }
            }
        }
        Ok(None)
    }

    fn section(&self, name: &str) -> FoundSection {
        let named = |name: &[u8]| Some(self.sections.section_by_name(self.endian, name)?.1);
        let Some(section) = named(name.as_bytes()) else {
            let debug = name.strip_prefix(".debug_");
            let compressed = debug.and_then(|rest| named(format!(".zdebug_{rest}").as_bytes()));
            return compressed.map_or(FoundSection::Absent, |_| FoundSection::Compressed);
        };
        let has_flag = section.sh_flags(self.endian).0 & elf::SHF_COMPRESSED.0 != 0;
        if has_flag || name.starts_with(".zdebug_") {
            return FoundSection::Compressed;
        }
        let start: u64 = section.sh_addr(self.endian).into();
        let end = start.checked_add(section.sh_size(self.endian).into());
        let (offset, len) = section.file_range(self.endian).unwrap_or_default();
        FoundSection::Plain(PlainSection {
            address: (end.filter(|_| start != 0)).map(|end| Svma(start)..Svma(end)),
            offset,
            len,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use object::{Object, ObjectSection};
    use rprof_untrusted::Budget;
    use std::path::Path;

    /// Programs and libraries of this system, and this program, which has a symbol table.
    fn some_files() -> Vec<Elf> {
        let own = std::env::current_exe().unwrap();
        let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
        let mapped = maps
            .lines()
            .filter_map(|line| line.split_whitespace().nth(5));
        let mapped = mapped.filter(|path| path.contains(".so") && !path.ends_with(".debug"));
        let paths = mapped.chain(["/bin/sh", own.to_str().unwrap()]);
        let open = |path: &str| Elf::open(Path::new(path), &Budget::default()).unwrap();
        paths.map(open).collect()
    }

    #[test]
    fn headers_say_what_object_says() {
        for elf in some_files() {
            let (file, headers) = (elf.object().unwrap(), elf.headers().unwrap());
            assert_eq!(headers.build_id().as_deref(), file.build_id().unwrap());
            assert_eq!(headers.entry(), file.entry());
            assert_eq!(headers.is_little_endian(), file.is_little_endian());
            assert!(headers.has_sound_symbols());
            for section in file.sections() {
                let name = section.name().unwrap();
                let range = section.compressed_file_range().unwrap();
                match headers.section(name) {
                    FoundSection::Plain(plain) => {
                        assert_eq!(range.format, object::CompressionFormat::None);
                        let at = (plain.offset, plain.len);
                        assert_eq!(at, (range.offset, range.compressed_size), "{name}");
                        let start = section.address();
                        let address = Svma(start)..Svma(start + section.size());
                        assert_eq!(plain.address, (start != 0).then_some(address), "{name}");
                    }
                    FoundSection::Compressed => {
                        assert_ne!(range.format, object::CompressionFormat::None, "{name}");
                    }
                    FoundSection::Absent => assert!(name.is_empty(), "{name}"),
                }
            }
            assert!(matches!(headers.section(".nothing"), FoundSection::Absent));
            assert!(matches!(
                headers.section(".debug_nothing"),
                FoundSection::Absent
            ));
        }
    }

    #[test]
    fn a_file_is_refused_whose_symbols_are_damaged() {
        let own = std::fs::read(std::env::current_exe().unwrap()).unwrap();
        let elf = Elf::from_memory(own.clone(), "whole", &Budget::default()).unwrap();
        let Ok(Headers::Elf64(of)) = elf.headers() else {
            panic!("this program is of 64 bits");
        };
        let is_table = |kind: &[u8]| kind == elf::SHT_SYMTAB.0.to_le_bytes();
        let table = usize::try_from(of.header.e_shoff(of.endian)).unwrap();
        // The kind is 4 bytes into a header of 64, the offset 24 bytes.
        let mut headers = (table..own.len()).step_by(64);
        let at = headers
            .find(|at| is_table(&own[at + 4..at + 8]))
            .expect("a test has symbols");
        // Its offset and its size are beyond the file, its size is no multiple of a symbol's, its names are no section.
        for (field, value) in [(24, 1u64 << 62), (32, 1 << 62), (32, 7), (40, u64::MAX)] {
            let mut damaged = own.clone();
            damaged[at + field..at + field + 8].copy_from_slice(&value.to_le_bytes());
            let refused = Elf::from_memory(damaged, "damaged", &Budget::default());
            assert!(refused.is_err(), "{field} {value}");
        }
    }
}
