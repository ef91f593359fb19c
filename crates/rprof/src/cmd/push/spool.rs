//! The recordings to push: those that are named, and those in directories that are complete.

use anyhow::{Context, Result};
use rprof_perfdata::FileHeader;
use rprof_push::{FileStamp, Ledger, PushTarget};
use rprof_untrusted::Seen;
use std::collections::{HashMap, HashSet};
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// A recording to push.
#[derive(Clone, Debug)]
pub(super) struct SpooledFile {
    pub(super) path: PathBuf,
    pub(super) stamp: FileStamp,
    /// Number of the directory that it is in.
    pub(super) directory: usize,
    /// It is there because of its name, not its directory's.
    pub(super) is_named: bool,
}

/// What a file in a directory is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FileState {
    Complete,
    /// Its recorder writes it, or was killed.
    Unfinished,
    NoRecording,
}

/// A path that was given, and the number of the notes on what is there.
#[derive(Clone, Debug)]
struct Given {
    path: PathBuf,
    directory: usize,
}

/// Directories and files, and what is noted of them.
pub(super) struct Spool {
    directories: Vec<Given>,
    files: Vec<Given>,
    /// Of each directory that a recording is in.
    pub(super) ledgers: Vec<Ledger>,
    /// Of files in directories that were looked at.
    states: HashMap<FileStamp, FileState>,
}

/// What is there now.
#[derive(Default)]
pub(super) struct Scan {
    /// By name.
    pub(super) files: Vec<SpooledFile>,
    /// Paths of recordings that are not finished.
    pub(super) unfinished: Vec<PathBuf>,
}

impl Spool {
    /// For these paths. Nothing in them is read yet.
    pub(super) fn new(paths: &[PathBuf], target: &PushTarget) -> Result<Self> {
        let mut spool = Self {
            directories: Vec::new(),
            files: Vec::new(),
            ledgers: Vec::new(),
            states: HashMap::new(),
        };
        let mut homes: Vec<PathBuf> = Vec::new();
        for path in paths {
            let looking = || path.display().to_string();
            let is_dir = path.metadata().with_context(looking)?.is_dir();
            let home = if is_dir { path } else { &parent(path) };
            let home = fs::canonicalize(home).with_context(looking)?;
            let known = homes.iter().position(|known| *known == home);
            let directory = known.unwrap_or_else(|| {
                spool.ledgers.push(Ledger::new(&home, target));
                homes.push(home);
                homes.len() - 1
            });
            let given = Given {
                path: path.clone(),
                directory,
            };
            if is_dir {
                spool.directories.push(given);
            } else {
                spool.files.push(given);
            }
        }
        Ok(spool)
    }

    /// What is there now, each file once.
    pub(super) fn scan(&mut self) -> Result<Scan> {
        let mut scan = Scan::default();
        let mut seen = HashSet::new();
        for Given { path, directory } in &self.files {
            let stamp = match path.metadata() {
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                meta => FileStamp::of(&meta.with_context(|| path.display().to_string())?),
            };
            if seen.insert((stamp.device, stamp.inode)) {
                scan.files.push(SpooledFile {
                    path: path.clone(),
                    stamp,
                    directory: *directory,
                    is_named: true,
                });
            }
        }
        let known = std::mem::take(&mut self.states);
        for given in self.directories.clone() {
            for (path, stamp, state) in self.look(&given, &known)? {
                match state {
                    FileState::Complete if seen.insert((stamp.device, stamp.inode)) => {
                        scan.files.push(SpooledFile {
                            path,
                            stamp,
                            directory: given.directory,
                            is_named: false,
                        });
                    }
                    FileState::Unfinished => scan.unfinished.push(path),
                    FileState::Complete | FileState::NoRecording => {}
                }
            }
        }
        Ok(scan)
    }

    /// The files of a directory, by name. What was found out before is `known`.
    fn look(
        &mut self,
        given: &Given,
        known: &HashMap<FileStamp, FileState>,
    ) -> Result<Vec<(PathBuf, FileStamp, FileState)>> {
        let reading = || format!("reading {}", given.path.display());
        let mut found = Vec::new();
        for entry in fs::read_dir(&given.path).with_context(reading)? {
            let path = entry.with_context(reading)?.path();
            // What cannot be looked at is gone, or none of ours.
            if let Ok(Some((stamp, state))) = self.state(&path, known) {
                found.push((path, stamp, state));
            }
        }
        found.sort_by(|a, b| a.0.cmp(&b.0));
        Ok(found)
    }

    /// What a file in a directory is; `None` for links and all that is no regular file: others may have put it there.
    fn state(
        &mut self,
        path: &Path,
        known: &HashMap<FileStamp, FileState>,
    ) -> io::Result<Option<(FileStamp, FileState)>> {
        let meta = fs::symlink_metadata(path)?;
        if !meta.is_file() {
            return Ok(None);
        }
        let stamp = FileStamp::of(&meta);
        let state = match known.get(&stamp) {
            Some(&known) => known,
            None => match open_as(path, &stamp)? {
                Some(file) => state_of(&file)?,
                None => return Ok(None),
            },
        };
        // Another state comes with the next change; but times are coarse.
        if state != FileState::Unfinished {
            self.states.insert(stamp, state);
        }
        Ok(Some((stamp, state)))
    }

    /// Forgets notes on files that have long been gone.
    pub(super) fn clean(&mut self, scan: &Scan) {
        let present: HashSet<FileStamp> = scan.files.iter().map(|file| file.stamp).collect();
        for ledger in &mut self.ledgers {
            ledger.clean(|stamp| present.contains(stamp));
        }
    }
}

/// The directory that a file is in.
fn parent(path: &Path) -> PathBuf {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent.to_owned(),
        _ => PathBuf::from("."),
    }
}

/// Opens a file, if it is still the one that was looked at.
pub(super) fn open_as(path: &Path, stamp: &FileStamp) -> io::Result<Option<File>> {
    let seen = Seen::at(path)?;
    if FileStamp::of(seen.meta()) != *stamp {
        return Ok(None);
    }
    Ok(Some(seen.open_regular(File::options().read(true))?))
}

/// What the beginning of a file says. Its end is written last, and then the beginning.
fn state_of(file: &File) -> io::Result<FileState> {
    let mut head = Vec::new();
    file.take(FileHeader::LEN).read_to_end(&mut head)?;
    let Some(endian) = head
        .first_chunk()
        .and_then(|magic| FileHeader::endian_of(*magic))
    else {
        return Ok(FileState::NoRecording);
    };
    Ok(match FileHeader::parse(&head, endian) {
        Ok(header) if !header.is_unfinished() => FileState::Complete,
        // Of what came through a pipe nobody knows whether there is more.
        Ok(_) | Err(_) => FileState::Unfinished,
    })
}
