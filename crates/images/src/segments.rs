//! Loaded ranges of a file, and what they were where a debug file only hints at it.

use object::read::elf::{FileHeader, ProgramHeader as _, SectionHeader as _, SectionTable};
use object::{ReadRef, elf};
use rprof_base::{FileOffset, Svma};

/// A loaded range of the file (`PT_LOAD`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segment {
    /// Where it starts in the file.
    pub offset: FileOffset,
    /// Bytes of it in the file.
    pub file_size: u64,
    /// Where it starts in memory.
    pub address: Svma,
}

impl Segment {
    /// The address that a place in the file has; `None` if it is not in this segment.
    pub fn svma(&self, offset: FileOffset) -> Option<Svma> {
        let into = offset.0.checked_sub(self.offset.0)?;
        (into < self.file_size).then(|| Svma(self.address.0.wrapping_add(into)))
    }
}

/// A loaded range as it is in memory.
#[derive(Clone, Copy, Debug)]
pub(crate) struct InMemory {
    pub(crate) segment: Segment,
    /// Bytes of it in memory.
    pub(crate) size: u64,
    pub(crate) is_code: bool,
    pub(crate) is_writable: bool,
}

/// The loaded ranges of the program: as the file says, or as they were before `objcopy
/// --only-keep-debug` took the program out of it.
pub(crate) fn segments_of<'d, H, R>(
    endian: H::Endian,
    headers: &[H::ProgramHeader],
    sections: &SectionTable<'d, H, R>,
) -> Vec<Segment>
where
    H: FileHeader,
    R: ReadRef<'d>,
{
    let loaded = loaded_of::<H>(endian, headers);
    if was_emptied(&loaded) {
        return laid_out(&loaded, &parts_of(endian, sections));
    }
    loaded.into_iter().map(|one| one.segment).collect()
}

/// The same, as they are in memory.
pub(crate) fn in_memory_of<'d, H, R>(
    endian: H::Endian,
    headers: &[H::ProgramHeader],
    sections: &SectionTable<'d, H, R>,
) -> Vec<InMemory>
where
    H: FileHeader,
    R: ReadRef<'d>,
{
    let segments = segments_of(endian, headers, sections);
    let with_headers = segments.into_iter().zip(loaded_of::<H>(endian, headers));
    let in_memory = with_headers.map(|(segment, header)| InMemory {
        segment,
        size: header.memory_size,
        is_code: header.is_code,
        is_writable: header.is_writable,
    });
    in_memory.collect()
}

fn loaded_of<H: FileHeader>(endian: H::Endian, headers: &[H::ProgramHeader]) -> Vec<Loaded> {
    headers
        .iter()
        .filter(|header| header.p_type(endian) == elf::PT_LOAD)
        .map(|header| Loaded {
            segment: Segment {
                offset: FileOffset(header.p_offset(endian).into()),
                file_size: header.p_filesz(endian).into(),
                address: Svma(header.p_vaddr(endian).into()),
            },
            memory_size: header.p_memsz(endian).into(),
            align: header.p_align(endian).into(),
            is_code: header.p_flags(endian).0 & elf::PF_X.0 != 0,
            is_writable: header.p_flags(endian).0 & elf::PF_W.0 != 0,
        })
        .collect()
}

/// Whether `objcopy` left headers of code without the code.
fn was_emptied(loaded: &[Loaded]) -> bool {
    loaded
        .iter()
        .any(|one| one.is_code && one.segment.file_size == 0 && one.memory_size > 0)
}

/// A `PT_LOAD` header.
struct Loaded {
    segment: Segment,
    memory_size: u64,
    align: u64,
    is_code: bool,
    is_writable: bool,
}

/// A section that is in memory, and was in the file.
struct Part {
    start: u64,
    end: u64,
    align: u64,
}

fn parts_of<'d, H, R>(endian: H::Endian, sections: &SectionTable<'d, H, R>) -> Vec<Part>
where
    H: FileHeader,
    R: ReadRef<'d>,
{
    // All are without contents now; these were so from the start.
    const ALWAYS_EMPTY: [&[u8]; 5] = [b".bss", b".tbss", b".lbss", b".dynbss", b".relro_padding"];
    let loaded = sections.iter().filter(|section| {
        let flags = section.sh_flags(endian);
        let name = sections.section_name(endian, *section).unwrap_or_default();
        let is_empty = ALWAYS_EMPTY.iter().any(|empty| {
            name.strip_prefix(*empty)
                .is_some_and(|rest| rest.first().is_none_or(|&byte| byte == b'.'))
        });
        flags.0 & elf::SHF_ALLOC.0 != 0 && !is_empty
    });
    let parts = loaded.map(|section| {
        let start: u64 = section.sh_addr(endian).into();
        let size: u64 = section.sh_size(endian).into();
        Part {
            start,
            end: start.saturating_add(size),
            align: section.sh_addralign(endian).into(),
        }
    });
    parts.collect()
}

/// Linkers put one segment after the other, as near as pages and its first section allow: at the
/// next offset that leaves the same remainder as its address.
fn laid_out(loaded: &[Loaded], parts: &[Part]) -> Vec<Segment> {
    let mut at = 0u64;
    let mut segments = Vec::with_capacity(loaded.len());
    for (idx, one) in loaded.iter().enumerate() {
        let Segment {
            offset, address, ..
        } = one.segment;
        let in_memory = address.0..address.0.saturating_add(one.memory_size);
        let inside = || parts.iter().filter(|part| in_memory.contains(&part.start));
        let end = inside().map(|part| part.end.min(in_memory.end)).max();
        let file_size = end.map_or(0, |end| end - address.0);
        let first = inside().min_by_key(|part| part.start);
        let align = first.map_or(one.align, |part| part.align.max(one.align));
        // The first one begins with the file's header, which is still there.
        let offset = match idx {
            0 => offset.0,
            _ => next_congruent(at, address.0, align),
        };
        at = offset.saturating_add(file_size);
        segments.push(Segment {
            offset: FileOffset(offset),
            file_size,
            address,
        });
    }
    segments
}

/// The first offset from `at` on with the remainder of `address`.
fn next_congruent(at: u64, address: u64, align: u64) -> u64 {
    if align < 2 {
        return at;
    }
    let (is, wanted) = (at % align, address % align);
    let ahead = if wanted >= is {
        wanted - is
    } else {
        wanted + (align - is)
    };
    at.saturating_add(ahead)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Elf;
    use object::read::elf::ElfFile;
    use std::path::Path;

    /// Programs and libraries of whatever linker made this system.
    fn some_files() -> Vec<Vec<u8>> {
        let mut paths = vec![std::env::current_exe().unwrap(), "/bin/sh".into()];
        let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
        let mapped = maps
            .lines()
            .filter_map(|line| line.split_whitespace().nth(5));
        // A test that fails meanwhile maps debug files, to print where.
        let is_whole = |path: &&str| path.starts_with('/') && !path.ends_with(".debug");
        paths.extend(mapped.filter(is_whole).map(Into::into));
        paths.sort();
        paths.dedup();
        paths
            .iter()
            .map(|path| std::fs::read(path).unwrap())
            .collect()
    }

    #[test]
    fn code_is_laid_out_where_linkers_put_it() {
        for bytes in some_files() {
            let file = ElfFile::<elf::FileHeader64<object::Endianness>>::parse(&*bytes).unwrap();
            let endian = file.endian();
            let headers = file.elf_program_headers().iter();
            let headers = headers.filter(|header| header.p_type(endian) == elf::PT_LOAD);
            let (mut loaded, mut before) = (Vec::new(), Vec::new());
            for header in headers {
                let segment = Segment {
                    offset: FileOffset(header.p_offset(endian)),
                    file_size: header.p_filesz(endian),
                    address: Svma(header.p_vaddr(endian)),
                };
                let is_code = header.p_flags(endian).0 & elf::PF_X.0 != 0;
                before.push((is_code, segment));
                loaded.push(Loaded {
                    segment: Segment {
                        offset: FileOffset(0),
                        file_size: 0,
                        ..segment
                    },
                    memory_size: header.p_memsz(endian),
                    align: header.p_align(endian),
                    is_code,
                    is_writable: false,
                });
            }
            let after = laid_out(&loaded, &parts_of(endian, file.elf_section_table()));
            for ((is_code, before), after) in before.into_iter().zip(after) {
                if is_code {
                    assert_eq!(
                        (before.offset, before.address),
                        (after.offset, after.address)
                    );
                    // Some linkers fill the last page of code up.
                    assert!(after.file_size <= before.file_size);
                }
            }
        }
    }

    #[test]
    fn offsets_keep_the_remainder_of_addresses() {
        assert_eq!(next_congruent(0x618, 0x1000, 0x1000), 0x1000);
        assert_eq!(next_congruent(0x20f4, 0x3db8, 0x1000), 0x2db8);
        assert_eq!(next_congruent(0x65c, 0x20_2660, 0x1000), 0x660);
        assert_eq!(next_congruent(5, 7, 0), 5);
        assert_eq!(next_congruent(u64::MAX - 1, 0x10, u64::MAX), u64::MAX);
    }

    #[test]
    fn whole_files_are_as_they_say() {
        let elf = Elf::open(Path::new("/bin/sh"), &rprof_untrusted::Budget::default()).unwrap();
        assert!(elf.segments().iter().any(|segment| segment.file_size > 0));
    }
}
