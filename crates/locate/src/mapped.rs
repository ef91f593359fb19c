//! The file that was mapped: at its path, or where a live process has it.

use crate::search_paths::{MAX_PROCESSES, MappedPath};
use crate::{Locator, Recorded};
use rprof_abi::{MapsLine, parse_maps};
use rprof_images::{Elf, NoFile};
use rprof_untrusted::Budget;
use std::path::{Path, PathBuf};

/// Of the files that a process maps under other names, at most this many are looked at.
const MAX_OTHERS: usize = 64;

impl Locator {
    /// Opens the file at its path, or where the processes that map it see it.
    pub(crate) fn open_mapped(&self, recorded: &Recorded<'_>) -> Result<Elf, NoFile> {
        let here = self.open_here(recorded);
        // Without a build id, who says where to look is asked alone.
        if here.is_ok() || recorded.build_id.is_none() && self.symfs.is_some() {
            return here;
        }
        let kept = self.kept.as_ref();
        if let Some(elf) = kept.and_then(|kept| kept.find(recorded, &self.budget)) {
            return Ok(elf);
        }
        let processes = recorded.processes.iter().take(MAX_PROCESSES);
        let mut inside = processes.filter_map(|&pid| open_inside(pid, recorded, &self.budget));
        inside.next().map_or(here, Ok)
    }

    fn open_here(&self, recorded: &Recorded<'_>) -> Result<Elf, NoFile> {
        let MappedPath { path, is_deleted } = MappedPath::of(recorded.path);
        // Without a build id a new file at the old path would pass for the recorded one.
        if is_deleted && recorded.build_id.is_none() {
            return Err(NoFile::Deleted);
        }
        let path = match &self.symfs {
            Some(root) => root.join(path.strip_prefix("/").unwrap_or(path)),
            None => path.to_owned(),
        };
        let elf = Elf::open(&path, &self.budget).map_err(|error| match NoFile::from(error) {
            NoFile::Missing if is_deleted => NoFile::Deleted,
            reason => reason,
        })?;
        if recorded.build_id.is_none() && self.symfs.is_none() {
            recorded.check_file(&elf)?;
        }
        elf.checked(recorded.build_id)
    }
}

/// The recorded file as a process has it: below its root, or without any path.
fn open_inside(pid: i32, recorded: &Recorded<'_>, budget: &Budget) -> Option<Elf> {
    let path = MappedPath::of(recorded.path).path;
    let process = PathBuf::from(format!("/proc/{pid}"));
    let below_root = process
        .join("root")
        .join(path.strip_prefix("/").unwrap_or(path));
    let named = [below_root, process.join("exe")].into_iter();
    let mapped = mapped_files(&process, recorded);
    named
        .chain(mapped)
        .filter_map(|path| Elf::open(&path, budget).ok())
        .find(|elf| match (recorded.build_id, recorded.inode) {
            (Some(wanted), _) => elf.has_build_id(wanted),
            // Without an inode, nothing tells that it is the one.
            (None, inode) => inode.is_some() && recorded.check_file(elf).is_ok(),
        })
}

/// What may be the file in a process's `map_files`, which only root may open.
fn mapped_files(process: &Path, recorded: &Recorded<'_>) -> Vec<PathBuf> {
    let maps = std::fs::read(process.join("maps")).unwrap_or_default();
    let candidates = candidates(&maps, recorded).into_iter();
    let entry = |map: MapsLine| format!("{:x}-{:x}", map.start, map.end);
    let dir = process.join("map_files");
    candidates.map(|map| dir.join(entry(map))).collect()
}

/// One mapping of each file that may be the recorded one, those of its name first.
fn candidates(maps: &[u8], recorded: &Recorded<'_>) -> Vec<MapsLine> {
    let path = MappedPath::of(recorded.path).path;
    let (mut same_name, mut others, mut seen) = (Vec::new(), Vec::new(), Vec::new());
    for map in parse_maps(maps) {
        if !map.is_code() || map.inode.ino == 0 || seen.contains(&map.inode) {
            continue;
        }
        if recorded.build_id.is_none() && recorded.inode != Some(map.inode.ino) {
            continue;
        }
        seen.push(map.inode);
        if MappedPath::of(&map.name).path.file_name() == path.file_name() {
            same_name.push(map)
        } else {
            // It may have been renamed.
            others.push(map)
        }
    }
    others.truncate(MAX_OTHERS);
    same_name.extend(others);
    same_name
}

#[cfg(test)]
mod tests {
    use super::*;
    use rprof_base::BuildId;
    use std::os::unix::ffi::OsStrExt;

    #[test]
    fn files_of_the_same_name_are_looked_at_first() {
        let maps = b"00400000-00401000 r-xp 00000000 fe:01 1    /other\n\
            7f00-7f10 r--p 00000000 fe:01 2    /a/b\\012c\n\
            7f10-7f20 r-xp 00000000 fe:01 2    /a/b\\012c (deleted)\n\
            7f20-7f30 r-xp 00000000 fe:01 2    /a/b\\012c (deleted)\n\
            7f30-7f40 r-xp 00000000 00:00 0\n";
        let id = BuildId::new(&[1; 20]).unwrap();
        let mut recorded = Recorded {
            path: b"/x/b\nc",
            build_id: Some(&id),
            ..Recorded::default()
        };
        let starts = |recorded: &Recorded<'_>| -> Vec<u64> {
            let found = candidates(maps, recorded);
            found.iter().map(|map| map.start).collect()
        };
        assert_eq!(starts(&recorded), [0x7f10, 0x40_0000]);
        recorded.build_id = None;
        assert_eq!(starts(&recorded), []);
        recorded.inode = Some(1);
        assert_eq!(starts(&recorded), [0x40_0000]);
    }

    #[test]
    fn entries_of_map_files_are_named_as_the_kernel_does() {
        let dir = tempfile::tempdir().unwrap();
        let line = "00400000-00401000 r-xp 00000000 fe:01 7    /a\n";
        std::fs::write(dir.path().join("maps"), line).unwrap();
        let recorded = Recorded {
            path: b"/a",
            inode: Some(7),
            ..Recorded::default()
        };
        let expected = dir.path().join("map_files/400000-401000");
        assert_eq!(mapped_files(dir.path(), &recorded), [expected]);
    }

    #[test]
    fn a_process_shows_its_own_program_under_any_name() {
        let exe = std::env::current_exe().unwrap();
        let elf = Elf::open(&exe, &Budget::default()).unwrap();
        let pid = std::process::id().cast_signed();
        let ask = |path: &Path, inode| {
            let recorded = Recorded {
                path: path.as_os_str().as_bytes(),
                inode,
                processes: &[pid],
                ..Recorded::default()
            };
            Locator::default().locate(recorded).map(drop)
        };
        assert_eq!(ask(Path::new("/no/such/file"), elf.inode()), Ok(()));
        assert_eq!(ask(Path::new("/no/file (deleted)"), elf.inode()), Ok(()));
        // Nothing says that these are the file.
        assert_eq!(ask(Path::new("/no/such"), Some(1)), Err(NoFile::Missing));
        assert_eq!(ask(Path::new("/no/such"), None), Err(NoFile::Missing));
    }
}
