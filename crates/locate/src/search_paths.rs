//! Where files may be that belong to one image.

use crate::{Locator, Recorded};
use rprof_base::BuildId;
use rprof_images::{Elf, Located};
use rprof_untrusted::Budget;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// What the kernel says behind the path of a file that has none any more.
const DELETED: &[u8] = b" (deleted)";

/// Of processes that map an image, so many are asked: all see the same.
pub(crate) const MAX_PROCESSES: usize = 4;

/// The path that a file had, and whether that was gone when it was mapped.
pub(crate) fn path_of<'r>(recorded: &Recorded<'r>) -> (&'r Path, bool) {
    without_deleted(recorded.path)
}

/// A path as the kernel shows it without what it says behind it, and whether it says so.
pub(crate) fn without_deleted(shown: &[u8]) -> (&Path, bool) {
    let (path, deleted) = match shown.strip_suffix(DELETED) {
        Some(path) => (path, true),
        None => (shown, false),
    };
    (Path::new(OsStr::from_bytes(path)), deleted)
}

/// Where files of one image are looked for.
#[derive(Clone, Debug, Default)]
pub(crate) struct SearchPaths {
    /// The image's path, absolute.
    path: PathBuf,
    /// What stands for `/`, the most expected first.
    roots: Vec<PathBuf>,
    cache: Option<PathBuf>,
    debug_dir: PathBuf,
    pub(crate) budget: Budget,
}

impl SearchPaths {
    pub(crate) fn of(locator: &Locator, recorded: &Recorded<'_>) -> Self {
        let processes = recorded.processes.iter().take(MAX_PROCESSES);
        let inside = processes.map(|pid| PathBuf::from(format!("/proc/{pid}/root")));
        let symfs = locator.symfs.iter().cloned();
        let here = std::iter::once(PathBuf::from("/"));
        Self {
            path: path_of(recorded).0.to_owned(),
            roots: symfs.chain(here).chain(inside).collect(),
            cache: locator.cache.clone(),
            debug_dir: locator.debug_dir.clone(),
            budget: locator.budget.clone(),
        }
    }

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

/// A name with more behind it.
pub(crate) fn appended(path: &Path, ending: &str) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(ending);
    PathBuf::from(name)
}
