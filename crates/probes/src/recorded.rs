//! The files of what is recorded, in which markers without a path are looked for.

use crate::error::ProbeError;
use crate::searched::Searched;
use rprof_abi::MapsLine;
use rprof_images::{Elf, ElfError};
use rprof_process::process_of;
use rprof_untrusted::{Budget, open};
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// The command's file, or those with code that the processes have mapped.
///
/// # Errors
/// Why there is none.
pub(super) fn files(searched: Searched<'_>) -> Result<Vec<Elf>, ProbeError> {
    match searched {
        Searched::Tasks(ids) => mapped_by(ids),
        Searched::Command(command) => Ok(vec![file_of(command)?]),
        Searched::Nowhere => Err(ProbeError::NoFile),
    }
}

fn elf(path: &Path) -> Result<Elf, ElfError> {
    Elf::open(path, &Budget::default())
}

/// A command's file.
fn file_of(command: &OsStr) -> Result<Elf, ProbeError> {
    let path = in_path(command).ok_or_else(|| ProbeError::NoCommand {
        command: command.to_string_lossy().into_owned(),
    })?;
    match elf(&path) {
        Err(ElfError::Malformed { .. }) if is_script(&path) => Err(ProbeError::Script { path }),
        opened => Ok(opened?),
    }
}

fn is_script(path: &Path) -> bool {
    let mut head = [0; 2];
    let read = open(path).and_then(|(mut file, _)| file.read_exact(&mut head));
    read.is_ok() && head == *b"#!"
}

/// Where a command is.
pub(crate) fn in_path(command: &OsStr) -> Option<PathBuf> {
    let own = Path::new(command);
    if command.as_bytes().contains(&b'/') {
        return Some(own.to_owned());
    }
    let path = std::env::var_os("PATH")?;
    let mut places = std::env::split_paths(&path).map(|dir| dir.join(own));
    places.find(|place| place.is_file())
}

/// The files with code that these tasks have mapped, each once: the same place probed twice counts twice.
fn mapped_by(ids: &[i32]) -> Result<Vec<Elf>, ProbeError> {
    let mut files = BTreeMap::new();
    let mut why = None;
    for &id in ids {
        match paths_of(id) {
            Ok(paths) => {
                let found = paths
                    .into_iter()
                    .filter_map(|path| Some((inode(&path)?, path)));
                for (inode, path) in found {
                    files.entry(inode).or_insert(path);
                }
            }
            Err(error) => why = why.or(Some(error)),
        }
    }
    // Of those that cannot be read there are no markers.
    let found: Vec<Elf> = files.values().filter_map(|path| elf(path).ok()).collect();
    match (found.is_empty(), why) {
        (true, Some(why)) => Err(why),
        (true, None) => Err(ProbeError::NothingMapped),
        (false, _) => Ok(found),
    }
}

/// Files with code of a task's process, as we see them.
pub(crate) fn paths_of(id: i32) -> Result<Vec<PathBuf>, ProbeError> {
    let pid = process_of(id).map_err(|_| ProbeError::Ended { id })?;
    let maps = std::fs::read(format!("/proc/{pid}/maps"));
    let maps = maps.map_err(|source| ProbeError::Unseen { id, source })?;
    let code = rprof_abi::parse_maps(&maps).filter(MapsLine::is_code);
    let paths = code.map(|line| PathBuf::from(OsStr::from_bytes(&line.name)));
    let paths = paths.filter(|path| path.is_absolute());
    Ok(paths.map(|path| as_seen_by(pid, path)).collect())
}

/// The path by which we reach what the process has under this one: its root may be another (containers).
fn as_seen_by(pid: i32, path: PathBuf) -> PathBuf {
    let mut theirs = format!("/proc/{pid}/root").into_bytes();
    theirs.extend(path.as_os_str().as_bytes());
    let theirs = PathBuf::from(OsStr::from_bytes(&theirs));
    match inode(&theirs) {
        Some(file) if inode(&path) != Some(file) => theirs,
        _ => path,
    }
}

/// Device and number.
fn inode(path: &Path) -> Option<(u64, u64)> {
    let file = std::fs::metadata(path).ok()?;
    Some((file.dev(), file.ino()))
}
