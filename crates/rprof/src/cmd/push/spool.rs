//! The recordings to push: those that are named, and those in directories that are complete.

use super::state::{FileState, state_of};
use anyhow::{Context, Result};
use rprof_push::{FileStamp, Ledger, PushTarget};
use rprof_ringbuf::sys::effective_uid;
use rprof_untrusted::Seen;
use std::collections::{HashMap, HashSet};
use std::fs::{self, File, Metadata};
use std::io;
use std::os::unix::fs::MetadataExt;
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
    /// It was not finished when it was looked at.
    pub(super) is_unfinished: bool,
}

impl SpooledFile {
    /// Opens it, if it is still the one that was looked at.
    pub(super) fn open(&self) -> io::Result<Option<File>> {
        match open_as(&self.path, &self.stamp) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            opened => opened,
        }
    }
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
    /// New recordings are waited for.
    is_following: bool,
}

/// What is there now.
#[derive(Default)]
pub(super) struct Scan {
    /// By name.
    pub(super) files: Vec<SpooledFile>,
    /// Paths of recordings that are not finished.
    pub(super) unfinished: Vec<PathBuf>,
    /// Paths of recordings that are left out, and why.
    pub(super) left_out: Vec<(PathBuf, &'static str)>,
}

/// Why recordings are left out.
const OF_OTHERS: &str =
    "it belongs to another user, in a directory that others may write to, and root would push it";
const IN_DIRECTORY: &str =
    "it is a part of a recording in a directory (perf record --threads), which push does not read";

impl Spool {
    /// For these paths. Nothing in them is read yet.
    pub(super) fn new(paths: &[PathBuf], target: &PushTarget, is_following: bool) -> Result<Self> {
        let mut spool = Self {
            directories: Vec::new(),
            files: Vec::new(),
            ledgers: Vec::new(),
            states: HashMap::new(),
            is_following,
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
        for given in &self.files {
            let Some((file, state)) = given.look()? else {
                continue;
            };
            if state == Some(FileState::InDirectory) {
                scan.left_out.push((file.path, IN_DIRECTORY));
            } else if file.is_unfinished && self.is_following {
                scan.unfinished.push(file.path);
            } else if seen.insert((file.stamp.device, file.stamp.inode)) {
                scan.files.push(file);
            }
        }
        let known = std::mem::take(&mut self.states);
        for given in self.directories.clone() {
            for (path, stamp, state) in self.look(&given, &known, &mut scan)? {
                match state {
                    FileState::Complete if seen.insert((stamp.device, stamp.inode)) => {
                        scan.files.push(SpooledFile {
                            path,
                            stamp,
                            directory: given.directory,
                            is_named: false,
                            is_unfinished: false,
                        });
                    }
                    FileState::Unfinished => scan.unfinished.push(path),
                    FileState::InDirectory => scan.left_out.push((path, IN_DIRECTORY)),
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
        scan: &mut Scan,
    ) -> Result<Vec<(PathBuf, FileStamp, FileState)>> {
        let reading = || format!("reading {}", given.path.display());
        let is_strangers = strangers(&given.path).with_context(reading)?;
        let mut found = Vec::new();
        for entry in fs::read_dir(&given.path).with_context(reading)? {
            let path = entry.with_context(reading)?.path();
            // What cannot be looked at is gone, or none of ours.
            let Ok(meta) = fs::symlink_metadata(&path) else {
                continue;
            };
            let Ok(Some((stamp, state))) = self.state(&path, &meta, known) else {
                continue;
            };
            if state == FileState::Complete && is_strangers(&meta) {
                scan.left_out.push((path, OF_OTHERS));
            } else {
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
        meta: &Metadata,
        known: &HashMap<FileStamp, FileState>,
    ) -> io::Result<Option<(FileStamp, FileState)>> {
        if !meta.is_file() {
            return Ok(None);
        }
        let stamp = FileStamp::of(meta);
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

    /// Forgets notes on recordings that have long been gone from the directories.
    pub(super) fn clean(&mut self, scan: &Scan) {
        for Given { directory, .. } in &self.directories {
            let Some(ledger) = self.ledgers.get_mut(*directory) else {
                continue;
            };
            let files = scan.files.iter();
            let files = files.filter(|file| file.directory == *directory);
            let contents = files.map(|file| ledger.content(&file.stamp).map(str::to_owned));
            // What is not known yet may be any of those that are noted.
            if let Some(contents) = contents.collect::<Option<HashSet<String>>>() {
                ledger.clean(&contents);
            }
        }
    }
}

impl Scan {
    /// Whether a file is there, in whatever state.
    pub(super) fn has(&self, stamp: &FileStamp) -> bool {
        let place = |stamp: &FileStamp| (stamp.device, stamp.inode);
        let mut files = self.files.iter();
        files.any(|file| place(&file.stamp) == place(stamp))
    }
}

impl Given {
    /// A file that was named; `None` if it is gone.
    fn look(&self) -> Result<Option<(SpooledFile, Option<FileState>)>> {
        let looking = || self.path.display().to_string();
        let meta = match self.path.metadata() {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            meta => meta.with_context(looking)?,
        };
        let stamp = FileStamp::of(&meta);
        // What it is besides is said when it is read.
        let opened = open_as(&self.path, &stamp).ok().flatten();
        let state = opened.and_then(|file| state_of(&file).ok());
        let file = SpooledFile {
            path: self.path.clone(),
            stamp,
            directory: self.directory,
            is_named: true,
            is_unfinished: state == Some(FileState::Unfinished),
        };
        Ok(Some((file, state)))
    }
}

/// Whose files root does not push from a directory: where others may write, those of other users than its owner.
fn strangers(directory: &Path) -> io::Result<impl Fn(&Metadata) -> bool + use<>> {
    let meta = fs::metadata(directory)?;
    let is_careful = effective_uid() == 0 && meta.mode() & 0o022 != 0;
    let owner = meta.uid();
    Ok(move |file: &Metadata| is_careful && file.uid() != 0 && file.uid() != owner)
}

/// The directory that a file is in.
fn parent(path: &Path) -> PathBuf {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent.to_owned(),
        _ => PathBuf::from("."),
    }
}

/// Opens a file, if it is still the one that was looked at.
fn open_as(path: &Path, stamp: &FileStamp) -> io::Result<Option<File>> {
    let seen = Seen::at(path)?;
    if FileStamp::of(seen.meta()) != *stamp {
        return Ok(None);
    }
    Ok(Some(seen.open_regular(File::options().read(true))?))
}
