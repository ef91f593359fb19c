//! Kernel modules (`.ko`): decompressed, and laid out as the kernel does when it loads one.
//!
//! A module is a relocatable file: sections have no addresses, and DWARF holds relocations. Here
//! it becomes what a linker would make of it, in memory, with code from [`MODULE_BASE`] on, so that
//! everything else reads it like any other file.

use crate::source::Source;
use crate::{Elf, ElfError, arch};
use object::read::elf::{FileHeader as _, SectionHeader as _, Sym as _};
use object::{LittleEndian, Object as _, elf};
use rprof_abi::Machine;
use rprof_base::{BuildId, Svma};
use rprof_untrusted::{Budget, Held, read_all};
use std::io;
use std::path::Path;

/// Where a module's code begins once it is laid out. The kernel tells where that was in memory.
pub const MODULE_BASE: Svma = Svma(1 << 32);

/// Where what is not loaded with the code is put: as far away as nothing reaches.
const ELSEWHERE: u64 = 1 << 40;

/// No module with debug information comes near; what decompresses to more is no module.
const MOST_BYTES: u64 = 1 << 30;
/// Modules shrink to a fifth; what grows more than this wants our memory.
const MOST_GROWTH: u64 = 64;

type Header = elf::FileHeader64<LittleEndian>;
type Section = elf::SectionHeader64<LittleEndian>;
const LE: LittleEndian = LittleEndian;

/// Opens a module, compressed or not. One with another build id than `wanted` is left as it lies
/// in its file.
///
/// # Errors
/// [`ElfError`].
pub fn module_from_file(path: &Path, wanted: &BuildId, budget: &Budget) -> Result<Elf, ElfError> {
    let mut held = budget.hold_nothing();
    let source = Source::open(path).and_then(|source| read_all(source, MOST_BYTES, &mut held));
    let file = source.map_err(|source| ElfError::Io {
        path: path.to_owned(),
        source,
    })?;
    module(file, &path.to_string_lossy(), Some(wanted), budget)
}

/// Reads a module that lies in memory, compressed or not; `name` stands for its path in messages.
///
/// # Errors
/// [`ElfError`] if it cannot be decompressed, or is no module.
pub fn module_from_memory(file: Vec<u8>, name: &str, budget: &Budget) -> Result<Elf, ElfError> {
    module(file, name, None, budget)
}

fn module(
    file: Vec<u8>,
    name: &str,
    wanted: Option<&BuildId>,
    budget: &Budget,
) -> Result<Elf, ElfError> {
    let io_error = |source| ElfError::Io {
        path: name.into(),
        source,
    };
    // These bytes count again as what the file is made of.
    let mut bytes = decompress(file, &mut budget.hold_nothing()).map_err(io_error)?;
    if wanted.is_none_or(|wanted| has_build_id(&bytes, wanted)) {
        lay_out(&mut bytes).map_err(|fault| match fault {
            Fault::TooLarge => io_error(too_large()),
            Fault::Malformed(source) => ElfError::Malformed {
                path: name.into(),
                source,
            },
        })?;
    }
    Elf::from_memory(bytes, name, budget)
}

fn has_build_id(bytes: &[u8], wanted: &BuildId) -> bool {
    let file = object::File::parse(bytes).ok();
    let id = file.as_ref().and_then(|file| file.build_id().ok()?);
    id.and_then(BuildId::new)
        .is_some_and(|found| found.matches(wanted))
}

/// Why a module cannot be laid out.
enum Fault {
    Malformed(object::read::Error),
    TooLarge,
}

impl From<object::read::Error> for Fault {
    fn from(error: object::read::Error) -> Self {
        Self::Malformed(error)
    }
}

fn decompress(file: Vec<u8>, held: &mut Held) -> io::Result<Vec<u8>> {
    /// For the window, KiB: what `xz -9` needs and some more.
    const WINDOW_KIB: u32 = 80 << 10;
    let most = most_from(&file);
    match *file {
        [0xfd, b'7', b'z', b'X', b'Z', 0, ..] => {
            let reader = lzma_rust2::XzReader::new_mem_limit(&file[..], false, WINDOW_KIB);
            read_all(reader, most, held)
        }
        [0x28, 0xb5, 0x2f, 0xfd, ..] => {
            let reader = ruzstd::decoding::StreamingDecoder::new(&file[..]);
            read_all(reader.map_err(io::Error::other)?, most, held)
        }
        [0x1f, 0x8b, ..] => read_all(flate2::read::GzDecoder::new(&file[..]), most, held),
        _ => Ok(file),
    }
}

/// What these bytes may become.
fn most_from(bytes: &[u8]) -> u64 {
    let len = bytes.len() as u64;
    len.saturating_mul(MOST_GROWTH).min(MOST_BYTES)
}

fn too_large() -> io::Error {
    io::Error::other("too large for a module")
}

/// A change of a number of bytes at a place in the file.
#[derive(Clone, Copy)]
struct Patch {
    at: u64,
    value: u64,
    len: usize,
}

fn apply(bytes: &mut [u8], patches: &[Patch]) {
    for patch in patches {
        let at = usize::try_from(patch.at).unwrap_or(usize::MAX);
        let end = at.saturating_add(patch.len);
        if let Some(place) = bytes.get_mut(at..end) {
            place.copy_from_slice(&patch.value.to_le_bytes()[..patch.len]);
        }
    }
}

/// Gives sections and symbols addresses, and applies the relocations of DWARF.
fn lay_out(bytes: &mut Vec<u8>) -> Result<(), Fault> {
    let most = most_from(bytes);
    let header = Header::parse(&bytes[..])?;
    if header.e_type(LE) != elf::ET_REL {
        return Ok(());
    }
    let table = header.e_shoff(LE);
    let sections = header.sections(LE, &bytes[..])?;
    let addresses: Vec<u64> = place_sections(header, &sections);
    let symbols = sections.symbols(LE, &bytes[..], elf::SHT_SYMTAB)?;
    let mut patches: Vec<Patch> = Vec::new();
    for (idx, &address) in (0u64..).zip(&addresses) {
        let size = size_of::<Section>() as u64;
        patches.push(Patch {
            at: table.wrapping_add(idx * size) + std::mem::offset_of!(Section, sh_addr) as u64,
            value: address,
            len: 8,
        });
    }
    let of_symbols = sections
        .section(symbols.section())
        .map(|section| section.sh_offset(LE));
    for (idx, symbol) in (0u64..).zip(symbols.iter()) {
        let section = addresses.get(usize::from(symbol.st_shndx(LE).0));
        let (Some(section), Ok(start)) = (section, &of_symbols) else {
            continue;
        };
        let size = size_of::<elf::Sym64<LittleEndian>>() as u64;
        let field = std::mem::offset_of!(elf::Sym64<LittleEndian>, st_value) as u64;
        patches.push(Patch {
            at: start.wrapping_add(idx * size) + field,
            value: section.wrapping_add(symbol.st_value(LE)),
            len: 8,
        });
    }
    let relocations = relocations_of_dwarf(&sections);
    apply(bytes, &patches);
    relocations
        .into_iter()
        .try_for_each(|idx| relocate(bytes, idx, most))
}

/// Sections with relocations of DWARF. There is one for each section of DWARF at most.
fn relocations_of_dwarf(sections: &object::read::elf::SectionTable<'_, Header>) -> Vec<usize> {
    const MOST: usize = 64;
    let is_dwarf = |section: &Section| {
        let target = sections.section(object::SectionIndex(section.sh_info(LE) as usize));
        let name = target.and_then(|target| sections.section_name(LE, target));
        section.sh_type(LE) == elf::SHT_RELA && name.is_ok_and(|name| name.starts_with(b".debug_"))
    };
    let all = sections.iter().enumerate();
    all.filter(|(_, section)| is_dwarf(section))
        .map(|(idx, _)| idx)
        .take(MOST)
        .collect()
}

/// The kernel puts executable sections after each other in the file's order, but for those
/// that are only for starting up (`layout_sections` in kernel/module.c, v6.1;
/// `__layout_sections` in kernel/module/main.c, v6.12).
fn place_sections(
    header: &Header,
    sections: &object::read::elf::SectionTable<'_, Header>,
) -> Vec<u64> {
    const CODE: u64 = elf::SHF_ALLOC.0 | elf::SHF_EXECINSTR.0;
    let machine = Machine::of_elf(header.e_machine(LE).0);
    let (mut next, mut elsewhere) = (Some(MODULE_BASE.0), ELSEWHERE);
    let mut place = |section: &Section| {
        let flags = section.sh_flags(LE).0;
        if flags & elf::SHF_ALLOC.0 == 0 {
            return 0;
        }
        let name = sections.section_name(LE, section).unwrap_or_default();
        let size = section.sh_size(LE);
        let is_loaded_code = flags & CODE == CODE && !name.starts_with(b".init");
        // What the kernel makes larger by stubs moves what follows by an unknown distance.
        if is_loaded_code && arch::is_grown(machine, name) {
            next = None;
        }
        let align = section.sh_addralign(LE).max(1);
        let at = match &mut next {
            Some(next) if is_loaded_code => next,
            _ => &mut elsewhere,
        };
        let start = at.checked_next_multiple_of(align).unwrap_or(*at);
        *at = start.wrapping_add(size);
        start
    };
    sections.iter().map(&mut place).collect()
}

/// Applies one section's relocations. What was compressed is appended, up to `most`
/// bytes of both: many sections may be the same bytes of the file.
fn relocate(bytes: &mut Vec<u8>, idx: usize, most: u64) -> Result<(), Fault> {
    let header = Header::parse(&bytes[..])?;
    let machine = Machine::of_elf(header.e_machine(LE).0);
    let sections = header.sections(LE, &bytes[..])?;
    let symbols = sections.symbols(LE, &bytes[..], elf::SHT_SYMTAB)?;
    let relocations = sections.section(object::SectionIndex(idx))?;
    let Some((relocations, _)) = relocations.rela(LE, &bytes[..])? else {
        return Ok(());
    };
    let target_idx = sections.section(object::SectionIndex(idx))?.sh_info(LE) as usize;
    let target = sections.section(object::SectionIndex(target_idx))?;
    let is_compressed = target.sh_flags(LE).0 & elf::SHF_COMPRESSED.0 != 0;
    let decompressed = if is_compressed {
        Some(decompress_section(&bytes[..], target, most)?)
    } else {
        None
    };
    let base = match decompressed {
        Some(_) => bytes.len() as u64,
        None => target.sh_offset(LE),
    };
    let limit = decompressed
        .as_ref()
        .map_or(target.sh_size(LE), |data| data.len() as u64);
    let mut patches = Vec::with_capacity(relocations.len());
    for relocation in relocations {
        let offset = relocation.r_offset.get(LE);
        let symbol = symbols.symbol(object::SymbolIndex(relocation.r_sym(LE, false) as usize));
        let (Ok(symbol), Some(len)) = (
            symbol,
            arch::absolute_width(machine, relocation.r_type(LE, false)),
        ) else {
            continue;
        };
        if offset.checked_add(len as u64).is_none_or(|end| end > limit) {
            continue;
        }
        let addend = relocation.r_addend.get(LE).cast_unsigned();
        patches.push(Patch {
            at: base.wrapping_add(offset),
            value: symbol.st_value(LE).wrapping_add(addend),
            len,
        });
    }
    if let Some(data) = decompressed {
        let at = header.e_shoff(LE) + (target_idx * size_of::<Section>()) as u64;
        let flags = target.sh_flags(LE).0 & !elf::SHF_COMPRESSED.0;
        patches.extend([
            field(at, std::mem::offset_of!(Section, sh_flags), flags),
            field(at, std::mem::offset_of!(Section, sh_offset), base),
            field(
                at,
                std::mem::offset_of!(Section, sh_size),
                data.len() as u64,
            ),
        ]);
        bytes.extend(data);
    }
    apply(bytes, &patches);
    Ok(())
}

fn field(of: u64, offset: usize, value: u64) -> Patch {
    Patch {
        at: of + offset as u64,
        value,
        len: 8,
    }
}

/// A compressed section's contents, if they and all that there is are `most` bytes or less.
fn decompress_section(bytes: &[u8], section: &Section, most: u64) -> Result<Vec<u8>, Fault> {
    let Some((header, offset, len)) = section.compression(LE, bytes)? else {
        return Ok(section.data(LE, bytes)?.to_vec());
    };
    use object::read::elf::CompressionHeader as _;
    let format = match header.ch_type(LE) {
        elf::ELFCOMPRESS_ZLIB => object::CompressionFormat::Zlib,
        elf::ELFCOMPRESS_ZSTD => object::CompressionFormat::Zstandard,
        _ => object::CompressionFormat::Unknown,
    };
    let end = offset.saturating_add(len);
    let range = usize::try_from(offset).ok().zip(usize::try_from(end).ok());
    let data = range.and_then(|(start, end)| bytes.get(start..end));
    let data = data.unwrap_or_default();
    let len = header.ch_size(LE);
    if len > most.saturating_sub(bytes.len() as u64) {
        return Err(Fault::TooLarge);
    }
    let compressed = object::CompressedData {
        format,
        data,
        uncompressed_size: len,
    };
    Ok(compressed.decompress()?.into_owned())
}

#[cfg(test)]
mod tests;
