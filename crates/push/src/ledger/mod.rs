//! What a server has of the recordings in a directory: notes in `.rprof-push/SERVER/`, one for each recording.
//!
//! `SERVER` and the names of notes are hashes: of the URL, of a recording's contents. A note is replaced by renaming a
//! new one that is on disk, so whatever happens, it says what it said before or what it says now. If none can be
//! written, all is kept in memory, and written when there is room again.

use crate::part::PartId;
use crate::state::{FileStamp, MAX_NOTE, Note};
use crate::{Error, PushTarget};
use rprof_untrusted::{Goal, NewFile};
use rustix::fs::{FlockOperation, flock};
use std::collections::{BTreeSet, HashMap};
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// The folder of notes in a directory of recordings.
const FOLDER: &str = ".rprof-push";

/// A note on a recording that has not been seen for so long is removed.
const FORGOTTEN_AFTER: Duration = Duration::from_secs(7 * 24 * 3600);

/// A recording that is known by its contents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KnownRecording {
    /// Its samples, once they are counted.
    pub samples: Option<u64>,
    /// How many parts the server has.
    pub n_parts: usize,
    /// Whether the server has all of it.
    pub is_delivered: bool,
}

/// Notes for one directory and one server.
#[derive(Debug)]
pub struct Ledger {
    directory: PathBuf,
    server: String,
    /// Held while nobody else may send the same.
    lock: Option<File>,
    /// By contents.
    notes: HashMap<String, Note>,
    /// Contents of files that were seen.
    contents: HashMap<FileStamp, String>,
    unsaved: BTreeSet<String>,
}

impl Ledger {
    /// For recordings in a directory. Nothing is read or written yet.
    pub fn new(directory: &Path, target: &PushTarget) -> Self {
        Self {
            directory: directory.to_owned(),
            server: target.id(),
            lock: None,
            notes: HashMap::new(),
            contents: HashMap::new(),
            unsaved: BTreeSet::new(),
        }
    }

    /// The directory of the recordings.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    fn folder(&self) -> PathBuf {
        self.directory.join(FOLDER)
    }

    fn own_folder(&self) -> PathBuf {
        self.folder().join(&self.server)
    }

    /// Makes the folder, and reads the notes in it.
    ///
    /// # Errors
    /// [`Error::Busy`] if somebody else sends the same; [`Error::State`] if no notes can be kept there: without them
    /// all goes on in memory.
    pub fn open(&mut self) -> Result<(), Error> {
        if self.lock.is_some() {
            return Ok(());
        }
        for path in [self.folder(), self.own_folder()] {
            own_folder(&path).map_err(state_error(&path))?;
        }
        let path = self.own_folder().join("lock");
        let lock = File::options()
            .write(true)
            .create(true)
            .truncate(false)
            .open(&path)
            .map_err(state_error(&path))?;
        match flock(&lock, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => {}
            Err(rustix::io::Errno::WOULDBLOCK) => {
                return Err(Error::Busy {
                    path: self.directory.clone(),
                });
            }
            Err(error) => return Err(state_error(&path)(error.into())),
        }
        let folder = self.own_folder();
        let read = read_notes(&folder).map_err(state_error(&folder))?;
        for (content, note) in read {
            self.contents.insert(note.stamp, content.clone());
            self.notes.entry(content).or_insert(note);
        }
        self.lock = Some(lock);
        Ok(())
    }

    /// The contents of a file that was seen before, by note or in this run.
    pub fn content(&self, stamp: &FileStamp) -> Option<&str> {
        self.contents.get(stamp).map(String::as_str)
    }

    /// Remembers which contents a file has.
    pub fn see(&mut self, stamp: FileStamp, content: &str) {
        self.contents.insert(stamp, content.to_owned());
        let note = self.notes.get_mut(content);
        if let Some(note) = note.filter(|note| note.stamp != stamp) {
            note.stamp = stamp;
        }
    }

    /// What is known of a recording.
    pub fn recording(&self, content: &str) -> Option<KnownRecording> {
        self.notes.get(content).map(|note| KnownRecording {
            samples: note.samples,
            n_parts: note.parts.len(),
            is_delivered: note.is_delivered,
        })
    }

    /// Whether the server has a part.
    pub fn has(&self, content: &str, part: PartId) -> bool {
        let note = self.notes.get(content);
        note.is_some_and(|note| note.parts.contains(&part))
    }

    /// Notes how many samples a recording has; on disk with the first part.
    pub fn count(&mut self, content: &str, stamp: FileStamp, samples: u64) {
        self.note(content, stamp).samples = Some(samples);
    }

    /// Notes that the server has a part, on disk when this returns.
    ///
    /// # Errors
    /// Those of [`Ledger::open`], and of writing. It is remembered all the same.
    pub fn delivered_part(
        &mut self,
        content: &str,
        stamp: FileStamp,
        part: PartId,
    ) -> Result<(), Error> {
        self.note(content, stamp).parts.insert(part);
        self.save(content)
    }

    /// Notes that the server has all of a recording, on disk when this returns.
    ///
    /// # Errors
    /// Those of [`Ledger::delivered_part`].
    pub fn delivered(&mut self, content: &str, stamp: FileStamp) -> Result<(), Error> {
        let note = self.note(content, stamp);
        note.is_delivered = true;
        // No part is sent again.
        note.parts.clear();
        self.save(content)
    }

    fn note(&mut self, content: &str, stamp: FileStamp) -> &mut Note {
        self.contents.insert(stamp, content.to_owned());
        let note = self.notes.entry(content.to_owned());
        note.or_insert_with(|| Note::new(stamp))
    }

    /// Whether any note is only in memory.
    pub fn is_unsaved(&self) -> bool {
        !self.unsaved.is_empty()
    }

    /// Writes a note, and others that could not be written before.
    fn save(&mut self, content: &str) -> Result<(), Error> {
        self.unsaved.insert(content.to_owned());
        self.save_all()
    }

    /// Writes what could not be written before.
    ///
    /// # Errors
    /// Those of [`Ledger::delivered_part`].
    pub fn save_all(&mut self) -> Result<(), Error> {
        if self.unsaved.is_empty() {
            return Ok(());
        }
        self.open()?;
        while let Some(content) = self.unsaved.first().cloned() {
            if let Some(note) = self.notes.get(&content) {
                let path = self.own_folder().join(&content);
                write_note(&path, &note.encode()).map_err(state_error(&path))?;
            }
            self.unsaved.remove(&content);
        }
        Ok(())
    }

    /// Whether all servers have a recording that anybody sends from this directory to.
    pub fn is_delivered_to_all(&self, content: &str) -> bool {
        let is_delivered = self
            .notes
            .get(content)
            .is_some_and(|note| note.is_delivered);
        let Ok(servers) = fs::read_dir(self.folder()) else {
            return is_delivered;
        };
        let others = servers.flatten().map(|server| server.path());
        let mut others = others.filter(|path| *path != self.own_folder());
        is_delivered
            && others.all(|folder| {
                let note = read_note(&folder.join(content)).ok().flatten();
                note.is_some_and(|note| note.is_delivered)
            })
    }

    /// Forgets a recording that is gone.
    pub fn forget(&mut self, content: &str) {
        self.notes.remove(content);
        self.unsaved.remove(content);
        self.contents.retain(|_, known| known != content);
        if let Ok(servers) = fs::read_dir(self.folder()) {
            for server in servers.flatten() {
                // A note that stays says something true.
                let _ = fs::remove_file(server.path().join(content));
            }
        }
    }

    /// Removes notes on recordings that have long been gone: those that are there are `present`.
    pub fn clean(&mut self, present: impl Fn(&FileStamp) -> bool) {
        let folder = self.own_folder();
        let is_old = |content: &str| {
            let modified =
                fs::symlink_metadata(folder.join(content)).and_then(|meta| meta.modified());
            let age = modified
                .ok()
                .and_then(|then| SystemTime::now().duration_since(then).ok());
            age.is_some_and(|age| age > FORGOTTEN_AFTER)
        };
        let gone = self.notes.iter();
        let gone = gone.filter(|(content, note)| !present(&note.stamp) && is_old(content));
        let gone: Vec<String> = gone.map(|(content, _)| content.clone()).collect();
        for content in gone {
            self.notes.remove(&content);
            self.contents.retain(|_, known| *known != content);
            let _ = fs::remove_file(folder.join(content));
        }
    }
}

fn state_error(path: &Path) -> impl FnOnce(io::Error) -> Error {
    let path = path.to_owned();
    move |source| Error::State { path, source }
}

/// Makes a folder, or finds it. It must be ours: who can write there can say that all is delivered.
fn own_folder(path: &Path) -> io::Result<()> {
    match Goal::of(path) {
        Ok(Goal::Place(place)) if place.meta().is_none() => {
            place.make_folder(0o700)?;
        }
        Ok(_) => return Err(io::ErrorKind::NotADirectory.into()),
        Err(error) if error.kind() == io::ErrorKind::IsADirectory => {}
        Err(error) => return Err(error),
    }
    let meta = fs::symlink_metadata(path)?;
    let us = rustix::process::geteuid().as_raw();
    let is_ours = meta.is_dir() && meta.uid() == us && meta.mode() & 0o022 == 0;
    if is_ours {
        return Ok(());
    }
    let why = "it belongs to another user, or others may write to it";
    Err(io::Error::new(io::ErrorKind::PermissionDenied, why))
}

fn is_content(name: &str) -> bool {
    name.len() == 64 && name.bytes().all(|digit| digit.is_ascii_hexdigit())
}

/// All notes of a folder, by contents. Files that are none are left alone.
fn read_notes(folder: &Path) -> io::Result<Vec<(String, Note)>> {
    let mut notes = Vec::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name();
        let Some(name) = name.to_str().filter(|name| is_content(name)) else {
            continue;
        };
        if let Some(note) = read_note(&entry.path())? {
            notes.push((name.to_owned(), note));
        }
    }
    Ok(notes)
}

/// `None` for what we have not written.
fn read_note(path: &Path) -> io::Result<Option<Note>> {
    let (file, meta) = match rprof_untrusted::open(path) {
        Ok(opened) => opened,
        Err(error) if error.kind() == io::ErrorKind::InvalidInput => return Ok(None),
        Err(error) => return Err(error),
    };
    if meta.uid() != rustix::process::geteuid().as_raw() {
        return Ok(None);
    }
    let mut bytes = Vec::new();
    file.take(MAX_NOTE).read_to_end(&mut bytes)?;
    Ok(std::str::from_utf8(&bytes).ok().and_then(Note::parse))
}

/// Puts a note into its place: whole, and on disk.
fn write_note(path: &Path, text: &str) -> io::Result<()> {
    let Goal::Place(place) = Goal::of(path)? else {
        return Err(io::ErrorKind::InvalidInput.into());
    };
    let new = NewFile::beside(place, 0o600)?;
    new.file().write_all(text.as_bytes())?;
    new.file().sync_all()?;
    new.put()?;
    match path.parent() {
        Some(folder) => File::open(folder)?.sync_all(),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Protocol;
    use std::os::unix::fs::{PermissionsExt, symlink};

    const CONTENT: &str = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

    fn target(url: &str) -> PushTarget {
        PushTarget::parse(url, Protocol::Otlp).unwrap()
    }

    fn stamp(dir: &Path) -> FileStamp {
        FileStamp::of(&fs::metadata(dir).unwrap())
    }

    #[test]
    fn what_is_noted_is_there_for_the_next_run() {
        let dir = tempfile::tempdir().unwrap();
        let target = target("http://a");
        let stamp = stamp(dir.path());
        let [first, second] = [b"a", b"b"].map(|body| PartId::of(body));
        {
            let mut ledger = Ledger::new(dir.path(), &target);
            ledger.open().unwrap();
            ledger.count(CONTENT, stamp, 212);
            ledger.delivered_part(CONTENT, stamp, first).unwrap();
            assert!(!ledger.is_unsaved());
        }
        let mut ledger = Ledger::new(dir.path(), &target);
        ledger.open().unwrap();
        assert_eq!(ledger.content(&stamp), Some(CONTENT));
        assert!(ledger.has(CONTENT, first) && !ledger.has(CONTENT, second));
        let known = ledger.recording(CONTENT).unwrap();
        assert_eq!((known.samples, known.is_delivered), (Some(212), false));
        ledger.delivered(CONTENT, stamp).unwrap();
        assert!(ledger.is_delivered_to_all(CONTENT));
        drop(ledger);
        let mut ledger = Ledger::new(dir.path(), &target);
        ledger.open().unwrap();
        assert!(ledger.recording(CONTENT).unwrap().is_delivered);
        ledger.forget(CONTENT);
        let left: Vec<_> = fs::read_dir(ledger.own_folder()).unwrap().collect();
        assert_eq!(left.len(), 1, "{left:?}");
    }

    #[test]
    fn a_recording_is_delivered_when_all_servers_have_it() {
        let dir = tempfile::tempdir().unwrap();
        let stamp = stamp(dir.path());
        let [mut one, mut other] =
            ["http://a", "http://b"].map(|url| Ledger::new(dir.path(), &target(url)));
        other.open().unwrap();
        one.delivered(CONTENT, stamp).unwrap();
        assert!(!one.is_delivered_to_all(CONTENT));
        other.delivered(CONTENT, stamp).unwrap();
        assert!(one.is_delivered_to_all(CONTENT));
    }

    #[test]
    fn two_do_not_send_the_same() {
        let dir = tempfile::tempdir().unwrap();
        let mut first = Ledger::new(dir.path(), &target("http://a"));
        first.open().unwrap();
        let mut second = Ledger::new(dir.path(), &target("http://a/"));
        assert!(matches!(second.open(), Err(Error::Busy { .. })));
        drop(first);
        second.open().unwrap();
    }

    #[test]
    fn a_folder_that_others_may_write_to_has_no_notes() {
        let dir = tempfile::tempdir().unwrap();
        let folder = dir.path().join(FOLDER);
        fs::create_dir(&folder).unwrap();
        fs::set_permissions(&folder, fs::Permissions::from_mode(0o777)).unwrap();
        let mut ledger = Ledger::new(dir.path(), &target("http://a"));
        assert!(matches!(ledger.open(), Err(Error::State { .. })));
        // It goes on in memory, and is written when that can be done.
        let stamp = stamp(dir.path());
        assert!(ledger.delivered(CONTENT, stamp).is_err());
        assert!(ledger.is_unsaved() && ledger.recording(CONTENT).unwrap().is_delivered);
        fs::set_permissions(&folder, fs::Permissions::from_mode(0o700)).unwrap();
        ledger.save_all().unwrap();
        assert!(!ledger.is_unsaved());
    }

    #[test]
    fn links_and_strange_files_are_no_notes() {
        let dir = tempfile::tempdir().unwrap();
        let target = target("http://a");
        let mut ledger = Ledger::new(dir.path(), &target);
        ledger.open().unwrap();
        let folder = ledger.own_folder();
        drop(ledger);
        fs::write(folder.join(CONTENT), "rprof-push 1\n").unwrap();
        fs::write(folder.join("notes"), "x").unwrap();
        symlink("/dev/zero", folder.join(CONTENT.replace('e', "f"))).unwrap();
        let mut ledger = Ledger::new(dir.path(), &target);
        ledger.open().unwrap();
        assert_eq!(ledger.recording(CONTENT), None);
    }
}
