//! The file that was mapped: at its path, or where a process that still lives has it.

use crate::places::{MAX_PROCESSES, path_of};
use crate::{Locator, Recorded};
use rprof_images::{Device, Elf, Reason};
use rprof_untrusted::Budget;
use std::path::{Path, PathBuf};

/// Of the files that a process maps under other names, so many are looked at.
const MAX_OTHERS: usize = 64;

impl Locator {
    /// Opens the file at its path, or where the processes that map it see it.
    pub(crate) fn open_mapped(&self, recorded: &Recorded<'_>) -> Result<Elf, Reason> {
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

    fn open_here(&self, recorded: &Recorded<'_>) -> Result<Elf, Reason> {
        let (path, deleted) = path_of(recorded);
        // Without a build id a new file at the old path would pass for the recorded one.
        if deleted && recorded.build_id.is_none() {
            return Err(Reason::Deleted);
        }
        let path = match &self.symfs {
            Some(root) => root.join(path.strip_prefix("/").unwrap_or(path)),
            None => path.to_owned(),
        };
        let elf = Elf::open(&path, &self.budget).map_err(|error| match Reason::from(error) {
            Reason::Missing if deleted => Reason::Deleted,
            reason => reason,
        })?;
        match recorded.build_id {
            Some(wanted) if !elf.has_build_id(wanted) => Err(Reason::Changed {
                wanted: wanted.clone(),
                found: elf.build_id().cloned(),
            }),
            None if self.symfs.is_none() => recorded.check_file(&elf).map(|()| elf),
            _ => Ok(elf),
        }
    }
}

/// The recorded file as a process has it: below its root, or without any path.
fn open_inside(pid: i32, recorded: &Recorded<'_>, budget: &Budget) -> Option<Elf> {
    let (path, _) = path_of(recorded);
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
    let maps = String::from_utf8_lossy(&maps);
    let (path, _) = path_of(recorded);
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let (mut same_name, mut others, mut seen) = (Vec::new(), Vec::new(), Vec::new());
    for map in maps.lines().filter_map(Map::parse) {
        let file = (map.device, map.inode);
        if !map.is_code || map.inode == 0 || seen.contains(&file) {
            continue;
        }
        if recorded.build_id.is_none() && recorded.inode != Some(map.inode) {
            continue;
        }
        seen.push(file);
        let entry = process.join("map_files").join(map.range);
        let last = map.path.rsplit('/').next().unwrap_or_default();
        match last.strip_suffix(" (deleted)").unwrap_or(last) == name {
            true => same_name.push(entry),
            // It may have been renamed.
            false => others.push(entry),
        }
    }
    others.truncate(MAX_OTHERS);
    same_name.extend(others);
    same_name
}

/// A line of `/proc/PID/maps`.
struct Map<'a> {
    range: &'a str,
    is_code: bool,
    device: Device,
    inode: u64,
    path: &'a str,
}

impl<'a> Map<'a> {
    fn parse(line: &'a str) -> Option<Self> {
        let mut fields = line.splitn(6, ' ');
        let (range, rights) = (fields.next()?, fields.next()?);
        let device = fields.nth(1)?.split_once(':')?;
        let hex = |text| u32::from_str_radix(text, 16).ok();
        Some(Self {
            range,
            is_code: rights.contains('x'),
            device: (hex(device.0)?, hex(device.1)?),
            inode: fields.next()?.parse().ok()?,
            path: fields.next()?.trim_start(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::ffi::OsStrExt;

    #[test]
    fn lines_of_maps_are_read_and_nonsense_is_not() {
        let line = "7f00-7fff r-xp 00001000 fe:10 4711                    /a b/c (deleted)";
        let map = Map::parse(line).unwrap();
        assert_eq!((map.range, map.is_code), ("7f00-7fff", true));
        assert_eq!((map.device, map.inode), ((0xfe, 0x10), 4711));
        assert_eq!(map.path, "/a b/c (deleted)");
        for len in 0..30 {
            assert!(Map::parse(&line[..len]).is_none(), "{len}");
        }
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
        assert_eq!(ask(Path::new("/no/such"), Some(1)), Err(Reason::Missing));
        assert_eq!(ask(Path::new("/no/such"), None), Err(Reason::Missing));
    }
}
