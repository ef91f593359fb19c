//! Finding the file that was recorded, and its debug file. Build ids decide.

use crate::debuginfod::{Debuginfod, Kind};
use crate::search_paths::SearchPaths;
use crate::{KeptFiles, running_vdso};
use rprof_base::BuildId;
use rprof_images::{Elf, Fingerprint, Located, Reason};
use rprof_untrusted::Budget;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

/// What a recording knows of a file.
#[derive(Clone, Copy, Debug, Default)]
pub struct Recorded<'r> {
    /// Its path.
    pub path: &'r [u8],
    /// Its build id.
    pub build_id: Option<&'r BuildId>,
    /// Its inode: told by mappings that have no build id.
    pub inode: Option<u64>,
    /// Major and minor number of the device that the inode is on.
    pub device: Option<(u32, u32)>,
    /// Its contents, where it has no build id.
    pub fingerprint: Option<Fingerprint>,
    /// When the recording was over: what was written to later, and has neither build id nor fingerprint,
    /// may be anything by now.
    pub ended: Option<SystemTime>,
    /// Live processes that map it.
    pub processes: &'r [i32],
}

impl Recorded<'_> {
    /// Whether this is the file, as far as can be told without a build id.
    pub(crate) fn check_file(&self, elf: &Elf) -> Result<(), Reason> {
        if !elf.is_inode(self.inode, self.device) {
            return Err(Reason::Replaced);
        }
        let modified = elf.opened().and_then(|opened| opened.modified());
        match (self.fingerprint, self.ended, modified) {
            // Nothing tells that it is the one.
            _ if self.inode.is_none() => Ok(()),
            (Some(fingerprint), ..) => fingerprint.check(elf),
            (None, Some(ended), Some(modified)) if modified >= ended => Err(Reason::Modified),
            _ => Ok(()),
        }
    }
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
    /// A [`Reason`], of the path where it was most expected.
    pub fn locate(&self, recorded: Recorded<'_>) -> Result<Located, Reason> {
        let Recorded { path, build_id, .. } = recorded;
        if path == b"[vdso]" {
            return locate_vdso(build_id);
        }
        // Memory may hold a program, too: whoever made it has it still.
        let is_memory = path.starts_with(b"/memfd:") && build_id.is_none();
        if !path.starts_with(b"/") || path.starts_with(b"//anon") || is_memory {
            return Err(Reason::Anonymous);
        }
        let paths = SearchPaths::of(self, &recorded);
        let binary = self
            .open_mapped(&recorded)
            .or_else(|reason| paths.debug_only(&recorded).ok_or(reason))?;
        let debug = match binary.has_section(".debug_info") && binary.has_symtab() {
            true => None,
            false => paths.debug_of(&binary).or_else(|| {
                let id = build_id.and(binary.build_id());
                self.fetched(id?, Kind::Debuginfo)
            }),
        };
        Ok(paths.files(binary, debug))
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

    /// A file from a server, if it is here by now; if not, it is asked for.
    fn fetched(&self, id: &BuildId, kind: Kind) -> Option<Elf> {
        self.debuginfod.as_ref()?.find(id, kind)
    }
}

fn locate_vdso(build_id: Option<&BuildId>) -> Result<Located, Reason> {
    // Records never carry the vdso's build id (it has no file): the caller asks for it only if
    // the recording is of this kernel, and says so with the vdso's own id or none.
    let vdso = running_vdso().ok_or(Reason::Missing)?;
    match build_id {
        Some(wanted) if !vdso.has_build_id(wanted) => Err(Reason::Changed {
            wanted: wanted.clone(),
            found: vdso.build_id().cloned(),
        }),
        _ => Ok(SearchPaths::default().files(vdso, None)),
    }
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
                ..Recorded::default()
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
        assert_eq!(ask(&here, Some(1)), Err(Reason::Replaced));
        assert_eq!(ask(&elsewhere, Some(1)), Ok(()));
    }
}
