//! What a server has of the recordings in a directory: notes in `.rprof-push/SERVER/`, one for each recording.
//!
//! `SERVER` and the names of notes are hashes: of the URL, of a recording's contents. A note is replaced by renaming a
//! new one that is on disk, so whatever happens, it says what it said before or what it says now. If none can be
//! written, all is kept in memory, and written when there is room again. Notes that are there and cannot be read are an
//! error: without them, samples would count twice.

mod folder;

use crate::part::PartId;
use crate::state::{FileStamp, Note};
use crate::{Error, PushTarget};
use folder::Notes;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

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
    /// Open and locked: nobody else sends the same.
    folder: Option<Notes>,
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
            folder: None,
            notes: HashMap::new(),
            contents: HashMap::new(),
            unsaved: BTreeSet::new(),
        }
    }

    /// The directory of the recordings.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// Makes the folder, and reads the notes in it.
    ///
    /// # Errors
    /// [`Error::Busy`] if somebody else sends the same; [`Error::Notes`] if there are notes that cannot be read;
    /// [`Error::State`] if none can be written there: without them, notes are kept in memory.
    pub fn open(&mut self) -> Result<(), Error> {
        if self.folder.is_some() {
            return Ok(());
        }
        let folder = Notes::open(&self.directory, &self.server)?;
        for (content, note) in folder.read_all()? {
            self.contents.insert(note.stamp, content.clone());
            match self.notes.get_mut(&content) {
                Some(known) => known.join(&note),
                None => {
                    self.notes.insert(content, note);
                }
            }
        }
        self.folder = Some(folder);
        Ok(())
    }

    /// The contents of a file that was seen before, by note or in this run.
    pub fn content(&self, stamp: &FileStamp) -> Option<&str> {
        self.contents.get(stamp).map(String::as_str)
    }

    /// Remembers which contents a file has. It may have been seen elsewhere, or with another number of its device.
    pub fn see(&mut self, stamp: FileStamp, content: &str) {
        self.contents.insert(stamp, content.to_owned());
        let note = self.notes.get_mut(content);
        if let Some(note) = note.filter(|note| note.stamp != stamp) {
            note.stamp = stamp;
            self.unsaved.insert(content.to_owned());
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

    /// Whether a part was too large for the server, and its halves are sent instead.
    pub fn is_split(&self, content: &str, part: PartId) -> bool {
        let note = self.notes.get(content);
        note.is_some_and(|note| note.split.contains(&part))
    }

    /// Whether reading a file ended an earlier run: it may need more memory than there is.
    pub fn has_ended_a_run(&self, stamp: &FileStamp) -> bool {
        let note = self.content(stamp).and_then(|known| self.notes.get(known));
        note.is_some_and(|note| note.is_reading)
    }

    /// Notes that a recording is read, on disk when this returns.
    ///
    /// # Errors
    /// Those of [`Ledger::open`], and of writing. It is remembered all the same.
    pub fn begin(&mut self, content: &str, stamp: FileStamp) -> Result<(), Error> {
        self.note(content, stamp).is_reading = true;
        self.save(content)
    }

    /// Notes that a recording was read, and how many samples it has; on disk with what is noted next.
    pub fn count(&mut self, content: &str, stamp: FileStamp, samples: Option<u64>) {
        let note = self.note(content, stamp);
        note.samples = samples;
        note.is_reading = false;
        self.unsaved.insert(content.to_owned());
    }

    /// Notes that the server has a part, on disk when this returns.
    ///
    /// # Errors
    /// Those of [`Ledger::begin`].
    pub fn delivered_part(
        &mut self,
        content: &str,
        stamp: FileStamp,
        part: PartId,
    ) -> Result<(), Error> {
        self.note(content, stamp).parts.insert(part);
        self.save(content)
    }

    /// Notes that a part is too large for the server, on disk when this returns.
    ///
    /// # Errors
    /// Those of [`Ledger::begin`].
    pub fn split_part(
        &mut self,
        content: &str,
        stamp: FileStamp,
        part: PartId,
    ) -> Result<(), Error> {
        self.note(content, stamp).split.insert(part);
        self.save(content)
    }

    /// Notes that the server has all of a recording, on disk when this returns.
    ///
    /// # Errors
    /// Those of [`Ledger::begin`].
    pub fn delivered(&mut self, content: &str, stamp: FileStamp) -> Result<(), Error> {
        let note = self.note(content, stamp);
        note.is_delivered = true;
        // No part is sent again.
        note.parts.clear();
        note.split.clear();
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
    /// Those of [`Ledger::begin`].
    pub fn save_all(&mut self) -> Result<(), Error> {
        if self.unsaved.is_empty() {
            return Ok(());
        }
        self.open()?;
        while let Some(content) = self.unsaved.first().cloned() {
            if let (Some(note), Some(folder)) = (self.notes.get(&content), &self.folder) {
                folder.write(&content, note)?;
            }
            self.unsaved.remove(&content);
        }
        Ok(())
    }

    /// Whether all servers have a recording that anybody sends from this directory to.
    pub fn is_delivered_to_all(&self, content: &str) -> bool {
        let note = self.notes.get(content);
        let folder = self.folder.as_ref();
        note.is_some_and(|note| note.is_delivered)
            && folder.is_none_or(|folder| folder.others_have(content))
    }

    /// Forgets a recording that is gone.
    pub fn forget(&mut self, content: &str) {
        self.notes.remove(content);
        self.unsaved.remove(content);
        self.contents.retain(|_, known| known != content);
        if let Some(folder) = &self.folder {
            folder.remove_all(content);
        }
    }

    /// Removes notes on recordings that have long been gone: those that are there have the contents `present`, by
    /// whatever name and on whatever device.
    pub fn clean(&mut self, present: &HashSet<String>) {
        let Some(folder) = &self.folder else {
            return;
        };
        let is_old = |content: &str| {
            let written = folder.written(content);
            let age = written.and_then(|then| SystemTime::now().duration_since(then).ok());
            age.is_some_and(|age| age > FORGOTTEN_AFTER)
        };
        let gone = self.notes.keys();
        let gone = gone.filter(|content| !present.contains(*content) && is_old(content));
        let gone: HashSet<String> = gone.cloned().collect();
        for content in &gone {
            self.notes.remove(content);
            self.unsaved.remove(content);
            folder.remove(content);
        }
        self.contents.retain(|_, known| !gone.contains(known));
    }
}

#[cfg(test)]
mod tests;
