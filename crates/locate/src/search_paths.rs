//! Where files may be that belong to one image.

use rprof_base::BuildId;
use rprof_images::{Elf, Located};
use rprof_untrusted::Budget;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// What the kernel appends to the path of a deleted file.
const DELETED: &[u8] = b" (deleted)";

/// Of processes that map an image, at most this many are asked: all see the same.
pub(crate) const MAX_PROCESSES: usize = 4;

/// The path of a mapped file.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MappedPath<'p> {
    /// The path that it had.
    pub(crate) path: &'p Path,
    /// Whether it was deleted before the kernel said so.
    pub(crate) is_deleted: bool,
}

impl<'p> MappedPath<'p> {
    /// Of what the kernel says in records and in `/proc/PID/maps`.
    pub(crate) fn of(text: &'p [u8]) -> Self {
        let path = text.strip_suffix(DELETED);
        Self {
            path: Path::new(OsStr::from_bytes(path.unwrap_or(text))),
            is_deleted: path.is_some(),
        }
    }
}

/// Where files of one image are looked for.
#[derive(Clone, Debug, Default)]
pub(crate) struct SearchPaths {
    /// The image's path, absolute.
    pub(crate) path: PathBuf,
    /// What stands for `/`, the most expected first.
    pub(crate) roots: Vec<PathBuf>,
    pub(crate) cache: Option<PathBuf>,
    pub(crate) debug_dir: PathBuf,
    pub(crate) budget: Budget,
}

impl SearchPaths {
    /// Files that were found; those that they name are looked for on these paths.
    pub(crate) fn files(self, binary: Elf, debug: Option<Elf>) -> Located {
        Located::from(binary)
            .with_debug(debug)
            .with_linked(Box::new(self))
    }

    /// The image's own name and folder, and those of the files that were found.
    pub(crate) fn names(&self, found: &[&Elf]) -> Vec<PathBuf> {
        let here = self.under(&self.path);
        let found = found.iter().flat_map(|elf| {
            let real = std::fs::canonicalize(elf.path()).ok();
            std::iter::once(elf.path().to_owned()).chain(real)
        });
        let mut names: Vec<PathBuf> = found.collect();
        names.extend(here);
        names.dedup();
        names
    }

    /// An absolute path below every root.
    pub(crate) fn under(&self, path: &Path) -> Vec<PathBuf> {
        let path = path.strip_prefix("/").unwrap_or(path);
        self.roots.iter().map(|root| root.join(path)).collect()
    }

    /// Another name in the image's folder.
    pub(crate) fn path_beside(&self, name: &OsStr) -> PathBuf {
        self.path.with_file_name(name)
    }

    /// A path in the folder of debug files.
    pub(crate) fn in_debug_dir(&self, path: &Path) -> Vec<PathBuf> {
        self.under(&self.debug_dir.join(path.strip_prefix("/").unwrap_or(path)))
    }

    /// Files that are named by a build id: perf's cache, then folders of debug files. In this
    /// order they are tried; the first that has the build id counts.
    pub(crate) fn by_build_id(&self, id: &BuildId) -> Vec<PathBuf> {
        let Some(path) = id.path() else {
            return Vec::new();
        };
        let cached = self.cache.iter().flat_map(|cache| {
            let dir = cache.join(&path);
            [dir.join("elf"), dir.join("debug")]
        });
        let debug = self.in_debug_dir(&appended(&path, ".debug"));
        cached.chain(debug).collect()
    }

    /// Debug files that are named as the image is.
    pub(crate) fn by_name(&self) -> Vec<PathBuf> {
        let with_ending = appended(&self.path, ".debug");
        let mut paths = self.in_debug_dir(&with_ending);
        if let (Some(dir), Some(name)) = (with_ending.parent(), with_ending.file_name()) {
            paths.extend(self.under(&dir.join(".debug").join(name)));
        }
        paths.extend(self.under(&with_ending));
        paths
    }

    /// Those of these paths that lead to ELF files.
    pub(crate) fn open(&self, paths: Vec<PathBuf>) -> impl Iterator<Item = Elf> + use<'_> {
        let paths = paths.into_iter();
        paths.filter_map(|path| Elf::open(&path, &self.budget).ok())
    }

    /// The first of these paths that leads to a file with this build id.
    pub(crate) fn first_with(&self, id: &BuildId, paths: Vec<PathBuf>) -> Option<Elf> {
        self.open(paths).find(|elf| elf.has_build_id(id))
    }

    /// Packages of split DWARF that are named by the build id.
    pub(crate) fn packages(&self, id: &BuildId) -> Vec<PathBuf> {
        let Some(path) = id.path() else {
            return Vec::new();
        };
        let names = [".dwp", ".debug.dwp"].map(|ending| appended(&path, ending));
        names
            .iter()
            .flat_map(|name| self.in_debug_dir(name))
            .collect()
    }
}

/// A name with a suffix.
pub(crate) fn appended(path: &Path, ending: &str) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(ending);
    PathBuf::from(name)
}
