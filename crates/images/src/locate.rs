//! Finding the file that was recorded, and its debug file. Build ids decide.

use crate::{BuildId, Elf, ElfError, running_vdso};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// Why there is no file for an image.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Reason {
    /// Anonymous memory: code made at run time.
    Anonymous,
    /// No file of that path.
    Missing,
    /// It was deleted before it was recorded, or since.
    Deleted,
    /// There is a file, but with other contents.
    Changed {
        /// What the recording says.
        wanted: BuildId,
        /// What the file has, if anything.
        found: Option<BuildId>,
    },
    /// There is a file, but not the one that was mapped; the recording has no build id of it.
    Replaced,
    /// There is a file, but it cannot be read.
    Unreadable(io::ErrorKind),
    /// There is a file, but it is not ELF.
    NotElf,
    /// There is a file, but it is no log of compiled code.
    NotJitDump,
}

impl std::fmt::Display for Reason {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Anonymous => write!(f, "code made at run time, without a file"),
            Self::Missing => write!(f, "no such file here"),
            Self::Deleted => write!(f, "the file was deleted"),
            Self::Changed { wanted, found } => match found {
                Some(found) => write!(
                    f,
                    "changed since the recording: build id {wanted} wanted, {found} found"
                ),
                None => write!(
                    f,
                    "changed since the recording: build id {wanted} wanted, none found"
                ),
            },
            Self::Replaced => write!(
                f,
                "another file has its name now (another inode; no build id was recorded)"
            ),
            Self::Unreadable(io::ErrorKind::InvalidInput) => write!(f, "not a regular file"),
            Self::Unreadable(kind) => write!(f, "cannot be read: {kind}"),
            Self::NotElf => write!(f, "not an ELF file"),
            Self::NotJitDump => write!(f, "not a jitdump file"),
        }
    }
}

/// The files of an image.
#[derive(Debug)]
pub struct Located {
    /// The file itself; where only its debug file was found, that one (same addresses).
    pub binary: Elf,
    /// A separate file with `.symtab` and DWARF.
    pub debug: Option<Elf>,
}

impl Located {
    /// The file to take DWARF from.
    pub fn dwarf(&self) -> Option<&Elf> {
        let all = [Some(&self.binary), self.debug.as_ref()];
        all.into_iter()
            .flatten()
            .find(|elf| elf.has_section(".debug_info"))
    }
}

/// What a recording knows of a file.
#[derive(Clone, Copy, Debug)]
pub struct Recorded<'r> {
    /// Its path.
    pub path: &'r [u8],
    /// Its build id.
    pub build_id: Option<&'r BuildId>,
    /// Its inode: told by mappings that have no build id.
    pub inode: Option<u64>,
}

/// Where to look.
#[derive(Clone, Debug)]
pub struct Locator {
    /// Put before every recorded path (`--symfs`).
    pub symfs: Option<PathBuf>,
    /// perf's cache of files by build id.
    pub cache: Option<PathBuf>,
    /// Folder of separate debug files.
    pub debug_dir: PathBuf,
}

impl Default for Locator {
    fn default() -> Self {
        Self {
            symfs: None,
            cache: std::env::var_os("HOME").map(|home| Path::new(&home).join(".debug")),
            debug_dir: PathBuf::from("/usr/lib/debug"),
        }
    }
}

impl Locator {
    /// Finds the file that had this path and build id. Without a recorded build id the inode must
    /// be the same, unless the user says where to look ([`Self::symfs`]).
    ///
    /// # Errors
    /// A [`Reason`], of the place where it was most expected.
    pub fn locate(&self, recorded: Recorded<'_>) -> Result<Located, Reason> {
        let Recorded { path, build_id, .. } = recorded;
        if path == b"[vdso]" {
            return locate_vdso(build_id);
        }
        if !path.starts_with(b"/") || path.starts_with(b"//anon") || path.starts_with(b"/memfd:") {
            return Err(Reason::Anonymous);
        }
        let mapped = self.open_mapped(recorded);
        let binary = match (mapped, build_id) {
            (Ok(elf), _) => elf,
            (Err(reason), None) => return Err(reason),
            (Err(reason), Some(id)) => match self.open_by_build_id(id) {
                Some(elf) => elf,
                None => return Err(reason),
            },
        };
        let debug = if binary.has_section(".debug_info") && binary.has_symtab() {
            None
        } else {
            self.find_debug(&binary)
        };
        Ok(Located { binary, debug })
    }

    fn open_mapped(&self, recorded: Recorded<'_>) -> Result<Elf, Reason> {
        let Recorded {
            path,
            build_id,
            inode,
        } = recorded;
        const DELETED: &[u8] = b" (deleted)";
        let (path, deleted) = match path.strip_suffix(DELETED) {
            Some(path) => (path, true),
            None => (path, false),
        };
        // Without a build id a new file at the old path would pass for the recorded one.
        if deleted && build_id.is_none() {
            return Err(Reason::Deleted);
        }
        let path = Path::new(std::ffi::OsStr::from_bytes(path));
        let path = match &self.symfs {
            Some(root) => root.join(path.strip_prefix("/").unwrap_or(path)),
            None => path.to_owned(),
        };
        let elf = match Elf::open(&path) {
            Ok(elf) => elf,
            Err(ElfError::Io { source, .. }) => {
                return Err(match source.kind() {
                    io::ErrorKind::NotFound if deleted => Reason::Deleted,
                    io::ErrorKind::NotFound => Reason::Missing,
                    kind => Reason::Unreadable(kind),
                });
            }
            Err(ElfError::Malformed { .. }) => return Err(Reason::NotElf),
        };
        match build_id {
            Some(wanted) if !elf.build_id().is_some_and(|found| found.same(wanted)) => {
                Err(Reason::Changed {
                    wanted: wanted.clone(),
                    found: elf.build_id().cloned(),
                })
            }
            None if self.symfs.is_none() && inode.is_some_and(|ino| elf.inode() != Some(ino)) => {
                Err(Reason::Replaced)
            }
            _ => Ok(elf),
        }
    }

    /// perf's cache, then the debug folder: both are named by build id.
    fn open_by_build_id(&self, id: &BuildId) -> Option<Elf> {
        let hex = id.to_string();
        let (first, rest) = hex.split_at_checked(2)?;
        let cached = self.cache.as_ref().map(|cache| {
            let dir = cache.join(".build-id").join(first).join(rest);
            [dir.join("elf"), dir.join("debug")]
        });
        let debug = self.debug_by_build_id(id);
        let candidates = cached.into_iter().flatten().chain(debug);
        candidates
            .filter_map(|path| Elf::open(&path).ok())
            .find(|elf| elf.build_id().is_some_and(|found| found.same(id)))
    }

    fn debug_by_build_id(&self, id: &BuildId) -> Option<PathBuf> {
        let hex = id.to_string();
        let (first, rest) = hex.split_at_checked(2)?;
        let dir = self.debug_dir.join(".build-id").join(first);
        Some(dir.join(format!("{rest}.debug")))
    }

    /// The separate debug file: by build id, else by name. A name counts only if the build ids
    /// agree, or without build ids the checksum.
    fn find_debug(&self, binary: &Elf) -> Option<Elf> {
        if let Some(id) = binary.build_id() {
            let found = self
                .debug_by_build_id(id)
                .and_then(|path| Elf::open(&path).ok())
                .filter(|elf| elf.build_id().is_some_and(|found| found.same(id)));
            if found.is_some() {
                return found;
            }
        }
        let link = binary.debug_link()?;
        let name = Path::new(std::ffi::OsStr::from_bytes(&link.name));
        let dir = binary.path().parent()?;
        let below = dir.strip_prefix("/").unwrap_or(dir);
        let places = [
            dir.join(name),
            dir.join(".debug").join(name),
            self.debug_dir.join(below).join(name),
        ];
        let other = places.into_iter().filter(|path| path != binary.path());
        other.filter_map(|path| Elf::open(&path).ok()).find(|elf| {
            match (binary.build_id(), elf.build_id()) {
                (Some(wanted), Some(found)) => found.same(wanted),
                _ => crc_of(elf.path()) == Some(link.crc),
            }
        })
    }
}

fn locate_vdso(build_id: Option<&BuildId>) -> Result<Located, Reason> {
    // Records never carry the vdso's build id (it has no file): the caller asks for it only if
    // the recording is of this kernel, and says so with the vdso's own id or none.
    let vdso = running_vdso().ok_or(Reason::Missing)?;
    match build_id {
        Some(wanted) if !vdso.build_id().is_some_and(|found| found.same(wanted)) => {
            Err(Reason::Changed {
                wanted: wanted.clone(),
                found: vdso.build_id().cloned(),
            })
        }
        _ => Ok(Located {
            binary: vdso,
            debug: None,
        }),
    }
}

/// CRC-32 (IEEE, reflected) of a file, as `.gnu_debuglink` has it.
fn crc_of(path: &Path) -> Option<u32> {
    let bytes = std::fs::read(path).ok()?;
    let crc = bytes.iter().fold(u32::MAX, |crc, &byte| {
        (0..8).fold(crc ^ u32::from(byte), |crc, _| {
            crc >> 1 ^ (if crc & 1 == 1 { 0xedb8_8320 } else { 0 })
        })
    });
    Some(!crc)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_counts_only_with_its_build_id() {
        let locator = Locator {
            cache: None,
            ..Locator::default()
        };
        // The test program has no build id unless the linker adds one; sh does.
        let ask = |build_id| {
            locator.locate(Recorded {
                path: b"/bin/sh",
                build_id,
                inode: None,
            })
        };
        let id = Elf::open(Path::new("/bin/sh")).unwrap().build_id().cloned();
        assert!(ask(id.as_ref()).is_ok());
        let other = BuildId::new(&[9; 20]).unwrap();
        let Err(Reason::Changed { found, .. }) = ask(Some(&other)) else {
            panic!("a changed file was taken for the recorded one");
        };
        assert_eq!(found, id);
    }

    #[test]
    fn each_absence_has_its_reason() {
        let locator = Locator::default();
        let reason = |path: &[u8]| {
            let recorded = Recorded {
                path,
                build_id: None,
                inode: None,
            };
            locator.locate(recorded).unwrap_err()
        };
        assert_eq!(reason(b"//anon"), Reason::Anonymous);
        assert_eq!(reason(b"[heap]"), Reason::Anonymous);
        assert_eq!(reason(b"/no/such/file"), Reason::Missing);
        assert_eq!(reason(b"/bin/sh (deleted)"), Reason::Deleted);
        assert_eq!(reason(b"/etc/passwd"), Reason::NotElf);
        assert!(matches!(reason(b"/tmp"), Reason::Unreadable(_)));
    }

    #[test]
    fn without_a_build_id_the_inode_decides_unless_the_user_does() {
        let inode = Elf::open(Path::new("/bin/sh")).unwrap().inode();
        let ask = |locator: &Locator, inode| {
            let recorded = Recorded {
                path: b"/bin/sh",
                build_id: None,
                inode,
            };
            locator.locate(recorded).map(drop)
        };
        let here = Locator::default();
        let elsewhere = Locator {
            symfs: Some(PathBuf::from("/")),
            ..Locator::default()
        };
        assert_eq!(ask(&here, inode), Ok(()));
        assert_eq!(ask(&here, Some(1)), Err(Reason::Replaced));
        assert_eq!(ask(&elsewhere, Some(1)), Ok(()));
    }

    #[test]
    fn the_checksum_is_that_of_debuglink() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("x");
        std::fs::write(&path, b"123456789").unwrap();
        assert_eq!(crc_of(&path), Some(0xcbf4_3926));
    }
}
