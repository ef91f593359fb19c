//! Files of the kernel that was recorded, be it the running one or not: vmlinux and modules,
//! found by build id where distributions and perf put them.

use crate::Locator;
use crate::debuginfod::Kind;
use crate::search_paths::SearchPaths;
use rprof_base::{BuildId, is_module_file, module_name};
use rprof_images::{Elf, ElfError, Located, NoFile, module_from_file};
use rprof_untrusted::Budget;
use std::cell::OnceCell;
use std::collections::HashMap;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// Where to look for one kernel's files.
#[derive(Debug)]
pub struct KernelFiles<'l> {
    locator: &'l Locator,
    release: Option<String>,
    modules: OnceCell<Modules>,
}

/// Files of modules, by name with `_` for `-`.
type Modules = HashMap<Vec<u8>, Vec<PathBuf>>;

/// Whether servers are asked for what is not here. A vmlinux of theirs is half a gigabyte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Servers {
    /// Asked.
    Asked,
    /// Not asked.
    NotAsked,
}

/// A module that is asked for.
#[derive(Clone, Copy, Debug)]
pub struct ModuleRequest<'r> {
    /// Its recorded path or name (`[nf_nat]`).
    pub path: &'r [u8],
    /// Its build id: without one, there is no file of it.
    pub build_id: Option<&'r BuildId>,
    /// What its file must have.
    pub detail: ModuleDetail,
    /// Whether servers are asked.
    pub servers: Servers,
}

/// How much of a module is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ModuleDetail {
    /// Its symbols: any file of it will do.
    Names,
    /// DWARF, too, if it is to be found.
    Dwarf,
}

impl<'l> KernelFiles<'l> {
    /// Of the kernel with this release (`uname -r`), as far as it is known.
    pub fn new(locator: &'l Locator, release: Option<&str>) -> Self {
        // It becomes part of paths.
        let release = release.map(str::trim).filter(|release| {
            !release.is_empty() && !release.starts_with('.') && !release.contains(['/', '\0'])
        });
        Self {
            locator,
            release: release.map(str::to_owned),
            modules: OnceCell::new(),
        }
    }

    /// The kernel's own file. Without a recorded build id only the one that the user names.
    ///
    /// # Errors
    /// A [`NoFile`].
    pub fn vmlinux(&self, id: Option<&BuildId>, servers: Servers) -> Result<Elf, NoFile> {
        if let Some(path) = &self.locator.vmlinux {
            return checked(Elf::open(path, self.budget()), id);
        }
        let id = id.ok_or(NoFile::Missing)?;
        let release = self.release.iter();
        let named = release.flat_map(|release| {
            [
                format!("usr/lib/debug/boot/vmlinux-{release}"),
                format!("usr/lib/debug/lib/modules/{release}/vmlinux"),
                format!("lib/modules/{release}/build/vmlinux"),
                format!("boot/vmlinux-{release}"),
                format!("usr/lib/debug/boot/vmlinux-{release}.debug"),
            ]
        });
        let own = named.map(|path| self.root().join(path));
        let candidates = self.by_build_id(id).into_iter().chain(own);
        let candidates = candidates.chain([PathBuf::from("vmlinux")]);
        let mut opened = candidates.map(|path| checked(Elf::open(&path, self.budget()), Some(id)));
        if let Some(elf) = opened.find_map(Result::ok) {
            return Ok(elf);
        }
        let debuginfod = self.locator.debuginfod.as_ref().ok_or(NoFile::Missing)?;
        let fetched = match servers {
            Servers::Asked => debuginfod.find(id, Kind::Debuginfo),
            Servers::NotAsked => debuginfod.cached(id, Kind::Debuginfo),
        };
        fetched.ok_or(NoFile::Missing)
    }

    /// A module, with its debug file if it has one. Addresses in it count from [`rprof_images::MODULE_BASE`].
    ///
    /// # Errors
    /// A [`NoFile`].
    pub fn module(&self, request: ModuleRequest<'_>) -> Result<Located, NoFile> {
        // Releases do not tell modules apart, and neither do names.
        let id = request.build_id.ok_or(NoFile::Missing)?;
        let names_suffice = request.detail == ModuleDetail::Names;
        let (mut plain, mut debug) = (None, None);
        let mut reason = NoFile::Missing;
        for path in self.module_candidates(request.path, id) {
            match checked(module_from_file(&path, id, self.budget()), Some(id)) {
                Ok(elf) if elf.has_section(".debug_info") => debug = debug.or(Some(elf)),
                Ok(elf) => plain = plain.or(Some(elf)),
                Err(NoFile::Missing) => {}
                Err(other) => reason = other,
            }
            let is_found = plain.is_some() || debug.is_some();
            if debug.is_some() && plain.is_some() || is_found && names_suffice {
                break;
            }
        }
        let is_enough = debug.is_some() || plain.is_some() && names_suffice;
        if !is_enough && request.servers == Servers::Asked {
            let servers = self.locator.debuginfod.as_ref();
            let path = servers.and_then(|servers| servers.find_path(id, Kind::Debuginfo));
            debug = path.and_then(|path| {
                checked(module_from_file(&path, id, self.budget()), Some(id)).ok()
            });
        }
        match (plain, debug) {
            (Some(binary), debug) => Ok(SearchPaths::default().files(binary, debug)),
            (None, Some(binary)) => Ok(SearchPaths::default().files(binary, None)),
            (None, None) => Err(reason),
        }
    }

    fn module_candidates(&self, path: &[u8], id: &BuildId) -> Vec<PathBuf> {
        let mut all = Vec::new();
        // A recording may name any file here: whatever it is would be read whole.
        if let Some(below) = path.strip_prefix(b"/").filter(|path| is_module_file(path)) {
            all.push(self.root().join(OsStr::from_bytes(below)));
        }
        // Files without DWARF are smaller, and come first.
        let modules = self.modules.get_or_init(|| self.list_modules());
        all.extend(
            modules
                .get(&module_name(path))
                .into_iter()
                .flatten()
                .cloned(),
        );
        all.extend(self.by_build_id(id));
        all
    }

    fn list_modules(&self) -> Modules {
        let mut modules = Modules::new();
        let Some(release) = &self.release else {
            return modules;
        };
        for below in ["lib/modules", "usr/lib/debug/lib/modules"] {
            let mut left = MOST_ENTRIES;
            walk(
                &self.root().join(below).join(release),
                DEEPEST,
                &mut left,
                &mut modules,
            );
        }
        modules
    }

    fn by_build_id(&self, id: &BuildId) -> Vec<PathBuf> {
        let Some(path) = id.path() else {
            return Vec::new();
        };
        let debug = self.locator.debug_dir.join(&path);
        let mut all = vec![debug.with_extension("debug"), debug];
        if let Some(cache) = &self.locator.cache {
            let dir = cache.join(path);
            all.extend(["vmlinux", "elf", "debug"].map(|name| dir.join(name)));
        }
        all
    }

    fn budget(&self) -> &Budget {
        &self.locator.budget
    }

    fn root(&self) -> &Path {
        self.locator.symfs.as_deref().unwrap_or(Path::new("/"))
    }
}

/// Far beyond any tree of modules.
const MOST_ENTRIES: usize = 200_000;
const DEEPEST: usize = 16;

/// Lists modules below a folder. Links are not followed: `build` leads to the kernel's sources.
fn walk(dir: &Path, depth: usize, left: &mut usize, modules: &mut Modules) {
    let Ok(entries) = std::fs::read_dir(dir) else {
        return;
    };
    let mut entries: Vec<_> = entries.filter_map(Result::ok).take(*left).collect();
    *left -= entries.len();
    entries.sort_by_key(std::fs::DirEntry::file_name);
    for entry in entries {
        let path = entry.path();
        match entry.file_type() {
            Ok(kind) if kind.is_dir() && depth > 0 => walk(&path, depth - 1, left, modules),
            Ok(kind) if kind.is_file() && is_module_file(entry.file_name().as_bytes()) => {
                let name = module_name(path.as_os_str().as_bytes());
                modules.entry(name).or_default().push(path);
            }
            _ => {}
        }
    }
}

/// The file, if it is the one that was recorded.
fn checked(elf: Result<Elf, ElfError>, id: Option<&BuildId>) -> Result<Elf, NoFile> {
    elf?.checked(id)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn releases_that_lead_elsewhere_are_none() {
        let locator = Locator::default();
        for release in ["../../tmp", "..", "", "a/b"] {
            assert_eq!(KernelFiles::new(&locator, Some(release)).release, None);
        }
        let files = KernelFiles::new(&locator, Some("6.1.0-50\n"));
        assert_eq!(files.release.as_deref(), Some("6.1.0-50"));
    }
}
