//! One ELF file: segments, sections, symbols, build id, links to its debug file.

use crate::contents::Contents;
use crate::headers::{FoundSection, Headers};
use crate::source::{Device, Opened, Source};
use crate::{FileOrigin, Segment};
use object::read::elf::{SectionHeader as _, Sym as _};
use object::{CompressedFileRange, Endianness, Object, ObjectSection, ReadRef, elf};
use rprof_abi::Machine;
use rprof_base::{BuildId, FileOffset, Svma};
use rprof_untrusted::{Author, Budget};
use std::borrow::Cow;
use std::ffi::{CStr, OsStr};
use std::io::{self, Cursor};
use std::ops::Range;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// A file is no ELF file, or a damaged one.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ElfError {
    /// It cannot be read.
    #[error("{}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// It is not ELF, or not as it should be.
    #[error("{}", path.display())]
    Malformed {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: object::read::Error,
    },
}

/// One entry of a symbol table.
#[derive(Clone, Copy, Debug)]
pub struct ElfSymbol<'a> {
    /// Its name, mangled.
    pub name: &'a [u8],
    /// Its address.
    pub address: Svma,
    /// Bytes; 0 if it does not say.
    pub size: u64,
    /// Where its section ends: as far as a symbol without a size can reach.
    pub section_end: Svma,
    /// `STT_*`.
    pub kind: u8,
    /// `STB_*`.
    pub binding: u8,
    /// `STV_*`.
    pub visibility: u8,
    /// Whether its section holds code (`SHF_EXECINSTR`).
    pub in_code: bool,
}

/// One of the two tables of symbols that a file may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SymbolTable {
    /// `.symtab`: all symbols, for who debugs.
    Static,
    /// `.dynsym`: what other files may use, for the loader.
    Dynamic,
}

/// Name and checksum of a debug file (`.gnu_debuglink`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DebugLink {
    /// File name without folder.
    pub name: Vec<u8>,
    /// CRC-32 of the file.
    pub crc: u32,
}

/// Name and build id of the file that `dwz` moved parts of the DWARF to (`.gnu_debugaltlink`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AlternateLink {
    /// Its path: absolute, or from the folder of the file that names it.
    pub path: PathBuf,
    /// Its build id.
    pub build_id: BuildId,
}

/// An open ELF file.
pub struct Elf {
    path: PathBuf,
    inode: Option<u64>,
    opened: Option<Opened>,
    data: Contents,
    segments: Vec<Segment>,
    build_id: Option<BuildId>,
}

impl std::fmt::Debug for Elf {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Elf")
            .field("path", &self.path)
            .field("build_id", &self.build_id)
            .finish_non_exhaustive()
    }
}

/// A file as `object` reads it.
pub(crate) type ObjectFile<'a> = object::File<'a, &'a Contents>;

impl Elf {
    /// Opens a file. What is read of it is of this budget.
    ///
    /// # Errors
    /// [`ElfError`]; `NotFound` in its source if there is none.
    pub fn open(path: &Path, budget: &Budget) -> Result<Self, ElfError> {
        let source = Source::open(path).map_err(|source| ElfError::Io {
            path: path.to_owned(),
            source,
        })?;
        Self::over(source, path, budget)
    }

    /// Reads a file that is open already; `path` is what messages call it.
    ///
    /// # Errors
    /// [`ElfError`].
    pub fn open_again(opened: &Opened, path: &Path, budget: &Budget) -> Result<Self, ElfError> {
        Self::over(Source::again(opened), path, budget)
    }

    /// Reads an ELF image that lies in memory; `name` stands for its path in messages.
    ///
    /// # Errors
    /// [`ElfError::Malformed`].
    pub fn from_memory(bytes: Vec<u8>, name: &str, budget: &Budget) -> Result<Self, ElfError> {
        Self::over(Source::Memory(Cursor::new(bytes)), Path::new(name), budget)
    }

    /// What is open of it; `None` for one in memory.
    pub fn opened(&self) -> Option<Opened> {
        self.opened.clone()
    }

    fn over(source: Source, path: &Path, budget: &Budget) -> Result<Self, ElfError> {
        let in_memory = match &source {
            Source::File { .. } => 0,
            Source::Memory(bytes) => bytes.get_ref().len() as u64,
        };
        let mut elf = Self {
            inode: source.inode(),
            opened: source.opened(),
            path: path.to_owned(),
            data: Contents::new(source, budget),
            segments: Vec::new(),
            build_id: None,
        };
        let malformed = |source| ElfError::Malformed {
            path: path.to_owned(),
            source,
        };
        elf.data.hold(in_memory).map_err(|over| ElfError::Io {
            path: path.to_owned(),
            source: io::Error::new(io::ErrorKind::OutOfMemory, over),
        })?;
        elf.segments = elf.read_segments().map_err(malformed)?;
        elf.build_id = elf.read_build_id();
        Ok(elf)
    }

    /// The file's path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Where its contents are from.
    pub fn origin(&self) -> FileOrigin {
        let opened = self.opened.as_ref();
        FileOrigin {
            path: self.path.clone(),
            author: opened.map_or(Author::Anybody, Opened::author),
        }
    }

    /// Inode of the file that is open; `None` for one in memory.
    pub fn inode(&self) -> Option<u64> {
        self.inode
    }

    /// Whether it is the file of this inode of this device; without one, any.
    pub fn is_inode(&self, inode: Option<u64>, device: Option<Device>) -> bool {
        let opened = self.opened.as_ref();
        inode.is_none_or(|inode| self.inode == Some(inode))
            && device.is_none_or(|device| opened.is_some_and(|opened| opened.is_on(device)))
    }

    /// Whether somebody wrote to the file since it was opened: what was read may be of both.
    pub fn has_changed(&self) -> bool {
        self.opened.as_ref().is_some_and(Opened::has_changed)
    }

    /// The budget that it is of.
    pub fn budget(&self) -> Budget {
        self.data.budget()
    }

    /// Whether something of it was left out because it takes more memory than the budget had.
    pub fn is_over_budget(&self) -> bool {
        self.data.is_over_budget()
    }

    /// Whether its contents are those with a build id.
    pub fn has_build_id(&self, wanted: &BuildId) -> bool {
        self.build_id().is_some_and(|found| found.matches(wanted))
    }

    /// Its build id.
    pub fn build_id(&self) -> Option<&BuildId> {
        self.build_id.as_ref()
    }

    /// Its loaded ranges.
    pub fn segments(&self) -> &[Segment] {
        &self.segments
    }

    /// The address that a place in the file has; `None` if it is not loaded.
    pub fn svma(&self, offset: FileOffset) -> Option<Svma> {
        self.segments
            .iter()
            .find_map(|segment| segment.svma(offset))
    }

    /// The place in the file of an address; `None` if it is not loaded.
    pub fn file_offset(&self, address: Svma) -> Option<FileOffset> {
        self.segments.iter().find_map(|segment| {
            let into = address.0.checked_sub(segment.address.0)?;
            (into < segment.file_size).then(|| FileOffset(segment.offset.0.wrapping_add(into)))
        })
    }

    pub(crate) fn object(&self) -> Result<ObjectFile<'_>, object::read::Error> {
        object::File::parse(&self.data)
    }

    pub(crate) fn data(&self) -> &Contents {
        &self.data
    }

    fn read_build_id(&self) -> Option<BuildId> {
        BuildId::new(&self.headers().ok()?.build_id()?)
    }

    /// Whether there is a section of this name with contents.
    pub fn has_section(&self, name: &str) -> bool {
        match self.headers().map(|headers| headers.section(name)) {
            Ok(FoundSection::Plain(plain)) => plain.len > 0,
            Ok(FoundSection::Compressed) => true,
            Ok(FoundSection::Absent) | Err(_) => false,
        }
    }

    /// A section's contents, decompressed; `None` if absent or damaged.
    pub fn section(&self, name: &str) -> Option<Cow<'_, [u8]>> {
        match self.headers().ok()?.section(name) {
            FoundSection::Plain(plain) => {
                let bytes = self.data().read_bytes_at(plain.offset, plain.len);
                return bytes.ok().map(Cow::Borrowed);
            }
            FoundSection::Absent => return None,
            FoundSection::Compressed => {}
        }
        let file = self.object().ok()?;
        let section = file.section_by_name(name)?;
        let range = section.compressed_file_range().ok()?;
        if range.format != object::CompressionFormat::None {
            self.make_room(section.index().0, &range)?;
            self.data.hold(range.uncompressed_size).ok()?;
        }
        section.compressed_data().ok()?.decompress().ok()
    }

    /// Whether there is room for what a compressed section claims to become, and a right to it.
    pub(crate) fn make_room(&self, index: usize, range: &CompressedFileRange) -> Option<()> {
        let end = range.offset.checked_add(range.compressed_size)?;
        let is_apart = self.data.is_compressed_apart(index, range.offset..end);
        let is_possible = range.uncompressed_size <= most_decompressed(range.compressed_size);
        (is_apart && is_possible).then_some(())
    }

    /// Where a section is in memory; `None` if there is none of this name, or it is not loaded.
    pub fn section_range(&self, name: &str) -> Option<Range<Svma>> {
        match self.headers().ok()?.section(name) {
            FoundSection::Plain(plain) => plain.address,
            // What is compressed is not loaded.
            FoundSection::Compressed | FoundSection::Absent => None,
        }
    }

    /// The address where the program begins; `None` if it has none.
    pub fn entry(&self) -> Option<Svma> {
        let entry = self.headers().ok()?.entry();
        (entry != 0).then_some(Svma(entry))
    }

    /// The machine it is for (`e_machine`), if that is a 64-bit, little-endian one known here.
    pub fn machine(&self) -> Option<Machine> {
        self.headers().ok()?.machine()
    }

    /// Whether the file is little-endian.
    pub fn is_little_endian(&self) -> bool {
        self.headers().is_ok_and(|file| file.is_little_endian())
    }

    /// Whether addresses are of 64 bits.
    pub(crate) fn is_64(&self) -> bool {
        matches!(self.headers(), Ok(Headers::Elf64(_)))
    }

    /// The link to a debug file.
    pub fn debug_link(&self) -> Option<DebugLink> {
        let file = self.object().ok()?;
        let (name, crc) = file.gnu_debuglink().ok()??;
        Some(DebugLink {
            name: name.to_vec(),
            crc,
        })
    }

    /// The link to the file that shares DWARF with others.
    pub fn alternate_link(&self) -> Option<AlternateLink> {
        let file = self.object().ok()?;
        let (path, id) = file.gnu_debugaltlink().ok()??;
        Some(AlternateLink {
            path: PathBuf::from(OsStr::from_bytes(path)),
            build_id: BuildId::new(id)?,
        })
    }

    /// Whether there is a `.symtab` (and not only a `.dynsym`).
    pub fn has_symtab(&self) -> bool {
        self.has_section(".symtab")
    }

    /// The symbols of a table, in its order; none if the file does not have it.
    ///
    /// # Errors
    /// If the table or its strings are damaged.
    pub fn for_each_symbol<'e>(
        &'e self,
        which: SymbolTable,
        visit: impl FnMut(ElfSymbol<'e>),
    ) -> Result<(), object::read::Error> {
        self.for_each_wanted_symbol(which, |_| true, visit)
    }

    /// The same of those that are wanted, which is asked while their names are empty: to look for the ends of all names
    /// takes longer than all else.
    ///
    /// # Errors
    /// If the table or its strings are damaged.
    pub fn for_each_wanted_symbol<'e>(
        &'e self,
        which: SymbolTable,
        is_wanted: impl FnMut(&ElfSymbol<'e>) -> bool,
        visit: impl FnMut(ElfSymbol<'e>),
    ) -> Result<(), object::read::Error> {
        type Of64 = elf::FileHeader64<Endianness>;
        type Of32 = elf::FileHeader32<Endianness>;
        match self.object()? {
            object::File::Elf64(_) => walk_symbols::<Of64, _>(&self.data, which, is_wanted, visit),
            object::File::Elf32(_) => walk_symbols::<Of32, _>(&self.data, which, is_wanted, visit),
            _ => Ok(()),
        }
    }
}

/// Longer names are none, bytes.
const MAX_NAME: usize = 1 << 16;

/// The most that a number of bytes decompresses to: zlib does not do more, and nothing sensible does.
pub(crate) fn most_decompressed(compressed: u64) -> u64 {
    compressed.saturating_mul(1032).saturating_add(1 << 16)
}

fn walk_symbols<'d, H, R>(
    data: R,
    which: SymbolTable,
    mut is_wanted: impl FnMut(&ElfSymbol<'d>) -> bool,
    mut visit: impl FnMut(ElfSymbol<'d>),
) -> Result<(), object::read::Error>
where
    H: object::read::elf::FileHeader<Endian = Endianness>,
    R: ReadRef<'d>,
{
    let header = H::parse(data)?;
    let endian = header.endian()?;
    let sections = header.sections(endian, data)?;
    let kind = match which {
        SymbolTable::Static => elf::SHT_SYMTAB,
        SymbolTable::Dynamic => elf::SHT_DYNSYM,
    };
    let table = sections.symbols(endian, data, kind)?;
    if table.is_empty() {
        return Ok(());
    }
    // All names at once: one read for each of a hundred thousand would take seconds.
    let names = sections
        .section(table.string_section())?
        .data(endian, data)?;
    // Names may overlap: looking for their ends must take no longer than reading them all.
    let mut left = names.len().saturating_mul(8).saturating_add(MAX_NAME << 8);
    let of_sections: Vec<(bool, u64)> = sections
        .iter()
        .map(|section| {
            let is_code = section.sh_flags(endian).0 & elf::SHF_EXECINSTR.0 != 0;
            let start: u64 = section.sh_addr(endian).into();
            let size: u64 = section.sh_size(endian).into();
            (is_code, start.saturating_add(size))
        })
        .collect();
    for symbol in table.iter() {
        let section = symbol.st_shndx(endian);
        let start = symbol.st_name(endian) as usize;
        let is_nameless = matches!(names.get(start), None | Some(0));
        if matches!(section, elf::SHN_UNDEF | elf::SHN_ABS) || is_nameless {
            continue;
        }
        let section = of_sections.get(usize::from(section.0)).copied();
        let (in_code, section_end) = section.unwrap_or((false, u64::MAX));
        let mut wanted = ElfSymbol {
            name: &[],
            address: Svma(symbol.st_value(endian).into()),
            size: symbol.st_size(endian).into(),
            section_end: Svma(section_end),
            kind: symbol.st_type().0,
            binding: symbol.st_bind().0,
            visibility: symbol.st_visibility().0,
            in_code,
        };
        if !is_wanted(&wanted) {
            continue;
        }
        let name = names.get(start..).unwrap_or_default();
        let name = name.get(..MAX_NAME).unwrap_or(name);
        let ended = CStr::from_bytes_until_nul(name).ok().map(CStr::to_bytes);
        let Some(rest) = left.checked_sub(ended.unwrap_or(name).len()) else {
            break;
        };
        left = rest;
        if let Some(name) = ended {
            wanted.name = name;
            visit(wanted);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn our_own_program_is_read() {
        let path = std::env::current_exe().unwrap();
        let elf = Elf::open(&path, &Budget::default()).unwrap();
        let mut found = None;
        elf.for_each_symbol(SymbolTable::Static, |symbol| {
            if symbol
                .name
                .windows(20)
                .any(|part| part == b"our_own_program_is_r")
                && symbol.in_code
            {
                found = Some(symbol.address);
            }
        })
        .unwrap();
        let address = found.expect("the test's own symbol");
        let offset = elf.file_offset(address).unwrap();
        assert_eq!(elf.svma(offset), Some(address));
        assert!(elf.has_section(".text") && !elf.has_section(".nothing"));
    }

    #[test]
    fn symbols_that_are_wanted_have_the_names_that_they_have_among_all() {
        let path = std::env::current_exe().unwrap();
        let elf = Elf::open(&path, &Budget::default()).unwrap();
        let is_wanted = |symbol: &ElfSymbol<'_>| symbol.in_code && symbol.size > 100;
        let (mut all, mut wanted) = (Vec::new(), Vec::new());
        elf.for_each_symbol(SymbolTable::Static, |symbol| {
            if is_wanted(&symbol) {
                all.push((symbol.address, symbol.name));
            }
        })
        .unwrap();
        elf.for_each_wanted_symbol(SymbolTable::Static, is_wanted, |symbol| {
            wanted.push((symbol.address, symbol.name));
        })
        .unwrap();
        assert!(!all.is_empty() && all.iter().all(|(_, name)| !name.is_empty()));
        assert_eq!(wanted, all);
    }

    #[test]
    fn what_is_no_elf_file_is_an_error() {
        let budget = Budget::default();
        assert!(Elf::open(Path::new("/no/such/file"), &budget).is_err());
        assert!(Elf::open(Path::new("/dev/null"), &budget).is_err());
        assert!(Elf::from_memory(b"\x7fELF nonsense".to_vec(), "x", &budget).is_err());
        assert!(Elf::from_memory(Vec::new(), "x", &budget).is_err());
    }

    #[test]
    fn who_writes_to_an_open_file_is_noticed() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("program");
        std::fs::copy("/bin/sh", &path).unwrap();
        let elf = Elf::open(&path, &Budget::default()).unwrap();
        assert!(!elf.has_changed());
        // A new file of that name is no change of this one.
        std::fs::rename(&path, dir.path().join("old")).unwrap();
        std::fs::write(&path, b"new").unwrap();
        assert!(!elf.has_changed());
        let old = std::fs::File::options()
            .append(true)
            .open(dir.path().join("old"));
        old.unwrap().set_len(100).unwrap();
        assert!(elf.has_changed());
    }
}
