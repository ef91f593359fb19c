//! Finding the file that was recorded, and its debug file. Build ids decide.

use crate::debuginfod::{Debuginfod, Kind};
use crate::search_paths::{MAX_PROCESSES, MappedPath, SearchPaths};
use crate::{KeptFiles, Recorded, running_vdso};
use rprof_base::BuildId;
use rprof_images::{Elf, FileOrigin, Located, NoFile};
use rprof_untrusted::{Author, Budget};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Where to look.
#[derive(Clone, Debug)]
pub struct Locator {
    /// Put before every recorded path (`--symfs`).
    pub symfs: Option<PathBuf>,
    /// perf's cache of files by build id.
    pub cache: Option<PathBuf>,
    /// Folder of separate debug files.
    pub debug_dir: PathBuf,
    /// The kernel's own file, if the user says which that is.
    pub vmlinux: Option<PathBuf>,
    /// The kernel's list of symbols, if the user says which that is.
    pub kallsyms: Option<PathBuf>,
    /// Servers that are asked for what is not found here.
    pub debuginfod: Option<Arc<Debuginfod>>,
    /// Files that were found before.
    pub kept: Option<Arc<KeptFiles>>,
    /// What all files together may cost.
    pub budget: Budget,
}

impl Default for Locator {
    fn default() -> Self {
        Self {
            symfs: None,
            cache: std::env::var_os("HOME").map(|home| Path::new(&home).join(".debug")),
            debug_dir: PathBuf::from("/usr/lib/debug"),
            vmlinux: None,
            kallsyms: None,
            debuginfod: None,
            kept: None,
            budget: Budget::default(),
        }
    }
}

impl Locator {
    /// Finds the file that had this path and build id. Without a recorded build id the inode must
    /// be the same, unless the user says where to look ([`Self::symfs`]).
    ///
    /// # Errors
    /// A [`NoFile`], of the path where it was most expected.
    pub fn locate(&self, recorded: Recorded<'_>) -> Result<Located, NoFile> {
        let Recorded { path, build_id, .. } = recorded;
        if path == b"[vdso]" {
            return locate_vdso(build_id);
        }
        // Memory may hold a program, too: its process has it still.
        let is_memory = path.starts_with(b"/memfd:") && build_id.is_none();
        if !path.starts_with(b"/") || path.starts_with(b"//anon") || is_memory {
            return Err(NoFile::Anonymous);
        }
        let paths = self.search_paths(&recorded);
        let binary = self
            .open_mapped(&recorded)
            .or_else(|reason| paths.debug_only(&recorded).ok_or(reason))?;
        let debug = if binary.has_section(".debug_info") && binary.has_symtab() {
            None
        } else {
            paths.debug_of(&binary).or_else(|| {
                let id = build_id.and(binary.build_id());
                self.fetched(id?, Kind::Debuginfo)
            })
        };
        Ok(paths.files(binary, debug))
    }

    fn search_paths(&self, recorded: &Recorded<'_>) -> SearchPaths {
        let processes = recorded.processes.iter().take(MAX_PROCESSES);
        let inside = processes.map(|pid| PathBuf::from(format!("/proc/{pid}/root")));
        let symfs = self.symfs.iter().cloned();
        let here = std::iter::once(PathBuf::from("/"));
        SearchPaths {
            path: MappedPath::of(recorded.path).path.to_owned(),
            roots: symfs.chain(here).chain(inside).collect(),
            cache: self.cache.clone(),
            debug_dir: self.debug_dir.clone(),
            budget: self.budget.clone(),
        }
    }

    /// What servers have of a build id, as far as it is here by now: for files that are nowhere
    /// else.
    pub fn locate_on_servers(&self, id: &BuildId) -> Option<Located> {
        // The program itself tells how its stacks are unwound.
        let executable = self.fetched(id, Kind::Executable);
        let debug = self.fetched(id, Kind::Debuginfo);
        let (binary, debug) = match executable {
            Some(executable) => (executable, debug),
            None => (debug?, None),
        };
        Some(SearchPaths::default().files(binary, debug))
    }

    /// The same with the program itself, where only a debug file was found, as far as servers have
    /// sent it by now.
    pub fn complete_from_servers(&self, located: Located, id: &BuildId) -> Located {
        match self.fetched(id, Kind::Executable) {
            Some(binary) => located.completed(binary),
            None => located,
        }
    }

    /// Who may have written what a file says. A copy of what was elsewhere is its owner's in name alone: in the folder of
    /// another machine's files, in perf's cache, in that of servers.
    pub fn author(&self, origin: &FileOrigin) -> Author {
        let servers = self.debuginfod.as_ref().map(|servers| servers.dir());
        let copies = [self.symfs.as_deref(), self.cache.as_deref(), servers];
        let is_in = |folder: &Path| origin.path.starts_with(folder);
        if copies.into_iter().flatten().any(is_in) {
            Author::Anybody
        } else {
            origin.author
        }
    }

    /// A file from a server, if it is here by now; if not, it is asked for.
    fn fetched(&self, id: &BuildId, kind: Kind) -> Option<Elf> {
        self.debuginfod.as_ref()?.find(id, kind)
    }
}

fn locate_vdso(build_id: Option<&BuildId>) -> Result<Located, NoFile> {
    // Without its id, the caller asks for it only if the recording is of this kernel.
    let vdso = running_vdso().ok_or(NoFile::Missing)?;
    let vdso = vdso.checked(build_id)?;
    Ok(SearchPaths::default().files(vdso, None))
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
                ..Recorded::default()
            })
        };
        let id = Elf::open(Path::new("/bin/sh"), &Budget::default())
            .unwrap()
            .build_id()
            .cloned();
        assert!(ask(id.as_ref()).is_ok());
        let other = BuildId::new(&[9; 20]).unwrap();
        let Err(NoFile::Changed { found, .. }) = ask(Some(&other)) else {
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
                ..Recorded::default()
            };
            locator.locate(recorded).unwrap_err()
        };
        assert_eq!(reason(b"//anon"), NoFile::Anonymous);
        assert_eq!(reason(b"[heap]"), NoFile::Anonymous);
        assert_eq!(reason(b"/no/such/file"), NoFile::Missing);
        assert_eq!(reason(b"/bin/sh (deleted)"), NoFile::Deleted);
        assert_eq!(reason(b"/etc/passwd"), NoFile::NotElf);
        assert!(matches!(reason(b"/tmp"), NoFile::Unreadable(_)));
    }

    #[test]
    fn without_a_build_id_the_inode_decides_unless_the_user_does() {
        let inode = Elf::open(Path::new("/bin/sh"), &Budget::default())
            .unwrap()
            .inode();
        let ask = |locator: &Locator, inode| {
            let recorded = Recorded {
                path: b"/bin/sh",
                inode,
                ..Recorded::default()
            };
            locator.locate(recorded).map(drop)
        };
        let here = Locator::default();
        let elsewhere = Locator {
            symfs: Some(PathBuf::from("/")),
            ..Locator::default()
        };
        assert_eq!(ask(&here, inode), Ok(()));
        assert_eq!(ask(&here, Some(1)), Err(NoFile::Replaced));
        assert_eq!(ask(&elsewhere, Some(1)), Ok(()));
    }
}
