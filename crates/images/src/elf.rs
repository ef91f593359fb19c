//! One ELF file: segments, sections, symbols, build id, links to its debug file.

use crate::contents::Contents;
use crate::headers::{FoundSection, Headers};
use crate::source::{Device, Opened, Source};
use crate::{FileOrigin, Segment};
use object::{CompressedFileRange, Object, ObjectSection, ReadRef};
use rprof_abi::Machine;
use rprof_base::{BuildId, FileOffset, Svma};
use rprof_untrusted::{Author, Budget};
use std::borrow::Cow;
use std::ffi::OsStr;
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
    pub(crate) data: Contents,
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
}

/// The most that a number of bytes decompresses to: zlib does not do more, and nothing sensible does.
pub(crate) fn most_decompressed(compressed: u64) -> u64 {
    compressed.saturating_mul(1032).saturating_add(1 << 16)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SymbolTable;

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
