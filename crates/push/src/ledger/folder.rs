//! Where notes are: `.rprof-push/SERVER/CONTENTS`, below the directory of the recordings.
//!
//! Others may write to that directory. So both folders are opened once, must be ours alone, and notes are found below
//! the handles.

use crate::Error;
use crate::state::{MAX_NOTE, Note};
use rprof_untrusted::{OwnFolder, open_folder};
use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// The folder of notes in a directory of recordings.
pub(super) const FOLDER: &str = ".rprof-push";

/// Notes on a directory, open.
#[derive(Debug)]
pub(super) struct Notes {
    /// The folder of this server, for messages.
    path: PathBuf,
    server: String,
    /// Of all servers.
    all: OwnFolder,
    /// Of this one; locked.
    own: OwnFolder,
}

impl Notes {
    /// Opens the folder of a server, or makes it.
    pub(super) fn open(directory: &Path, server: &str) -> Result<Self, Error> {
        let path = directory.join(FOLDER);
        let home = open_folder(directory).map_err(state(directory))?;
        let all = open_or_make(&home, FOLDER, &path)?;
        let path = path.join(server);
        let own = open_or_make(&all, server, &path)?;
        if !own.try_lock() {
            return Err(Error::Busy {
                path: directory.to_owned(),
            });
        }
        own.remove_unplaced();
        Ok(Self {
            path,
            server: server.to_owned(),
            all,
            own,
        })
    }

    /// All notes, by contents. Files that have other names are left alone.
    pub(super) fn read_all(&self) -> Result<Vec<(String, Note)>, Error> {
        let names = self.own.names().map_err(unreadable(&self.path))?;
        let contents = names.iter().filter_map(|name| name.to_str());
        let read = contents.filter(|name| is_hex(name, 64)).map(|content| {
            let note = read(&self.own, content);
            let note = note.map_err(unreadable(&self.path.join(content)))?;
            Ok((content.to_owned(), note))
        });
        read.collect()
    }

    /// Writes a note: whole, and on disk.
    pub(super) fn write(&self, content: &str, note: &Note) -> Result<(), Error> {
        let written = self
            .own
            .replace(OsStr::new(content), note.encode().as_bytes());
        written.map_err(state(&self.path.join(content)))
    }

    /// When a note was written last.
    pub(super) fn written(&self, content: &str) -> Option<SystemTime> {
        self.own.modified(OsStr::new(content))
    }

    /// Removes a note of this server.
    pub(super) fn remove(&self, content: &str) {
        // A note that stays says something true.
        let _ = self.own.remove(OsStr::new(content));
    }

    /// Removes the notes of all servers on a recording.
    pub(super) fn remove_all(&self, content: &str) {
        self.remove(content);
        for other in self.others() {
            let _ = other.remove(OsStr::new(content));
        }
    }

    /// Whether all other servers have a recording.
    pub(super) fn others_have(&self, content: &str) -> bool {
        self.others()
            .iter()
            .all(|other| read(other, content).is_ok_and(|note| note.is_delivered))
    }

    fn others(&self) -> Vec<OwnFolder> {
        let names = self.all.names().unwrap_or_default();
        let names = names.iter().filter_map(|name| name.to_str());
        let others = names.filter(|name| is_hex(name, 32) && *name != self.server);
        let opened = others.map(|name| OwnFolder::open(&self.all, OsStr::new(name)));
        opened.filter_map(|opened| opened.ok().flatten()).collect()
    }
}

/// What is there has to be ours and readable: only what is missing is made.
fn open_or_make(
    parent: &impl std::os::fd::AsFd,
    name: &str,
    path: &Path,
) -> Result<OwnFolder, Error> {
    let name = OsStr::new(name);
    match OwnFolder::open(parent, name).map_err(unreadable(path))? {
        Some(folder) => Ok(folder),
        None => OwnFolder::make(parent, name).map_err(state(path)),
    }
}

fn read(folder: &OwnFolder, content: &str) -> io::Result<Note> {
    let bytes = folder.read(OsStr::new(content), MAX_NOTE)?;
    let note = std::str::from_utf8(&bytes).ok().and_then(Note::parse);
    note.ok_or_else(|| {
        let why = "it is damaged, or another version of rprof wrote it";
        io::Error::new(io::ErrorKind::InvalidData, why)
    })
}

fn state(path: &Path) -> impl FnOnce(io::Error) -> Error {
    let path = path.to_owned();
    move |source| Error::State { path, source }
}

fn unreadable(path: &Path) -> impl FnOnce(io::Error) -> Error {
    let path = path.to_owned();
    move |source| Error::Notes { path, source }
}

fn is_hex(name: &str, len: usize) -> bool {
    name.len() == len && name.bytes().all(|digit| digit.is_ascii_hexdigit())
}
