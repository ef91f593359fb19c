//! Folders of Parquet tables: what rprof wrote for query engines, or what queries made of it.

mod code;
mod columns;
mod files;
mod key;
mod pages;
mod recordings;
mod samples;

use crate::Error;
use crate::recording::Imported;
use code::Code;
use files::Files;
use key::RecordingKey;
use recordings::{Facts, facts_of};
use rprof_untrusted::{Allowed, Budget, Limits};
use samples::{FoundRecording, find_recordings, import};
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// A folder of tables, and the recordings in it.
#[derive(Debug)]
pub struct TableFolder {
    path: PathBuf,
    budget: Budget,
    /// Stacks and frames of all recordings.
    code: Code,
    recordings: BTreeMap<RecordingKey, FoundRecording>,
    /// What `recordings` says of them.
    facts: BTreeMap<RecordingKey, Facts>,
    warnings: Vec<String>,
}

impl TableFolder {
    /// Reads a folder of tables but for its samples.
    ///
    /// # Errors
    /// [`Error`]: it cannot be read; a table lacks columns, has a version that is not known, or takes too much memory.
    pub fn open(path: &Path, allowed: Allowed) -> Result<Self, Error> {
        let files = Files::find(path)?;
        let budget = Budget::new(Limits::for_recording(files.stored, allowed));
        let code = Code::read(&files, &budget)?;
        let recordings = find_recordings(&files, &budget)?;
        let facts = facts_of(&files, &budget)?;
        let mut warnings = Vec::new();
        if files.n_unfinished > 0 {
            let n = files.n_unfinished;
            warnings.push(format!("half-written files (.rprof-*) are left out: {n}"));
        }
        let is_listed = |key: &&RecordingKey| facts.contains_key(*key);
        let n_unlisted = recordings.keys().filter(|key| !is_listed(key)).count();
        if !files.of("recordings").is_empty() && n_unlisted > 0 {
            warnings.push(format!(
                "recordings that are not in the table recordings, and may be incomplete: {n_unlisted}"
            ));
        }
        if recordings.is_empty() {
            return Err(Error::table(
                path,
                "no samples in the tables of this folder",
            ));
        }
        Ok(Self {
            path: path.to_owned(),
            budget,
            code,
            recordings,
            facts,
            warnings,
        })
    }

    /// What the recordings in it are called: paths below the folder, which need not exist.
    pub fn recordings(&self) -> impl Iterator<Item = PathBuf> {
        self.recordings.keys().map(|key| self.name(key))
    }

    /// What is to be said of the folder: sentences.
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// Makes a recording of the rows of one; `None` if no recording in the folder is called like this.
    ///
    /// # Errors
    /// [`Error`]: its samples cannot be read.
    pub fn read(&self, name: &Path, allowed: Allowed) -> Result<Option<Imported>, Error> {
        let mut all = self.recordings.iter();
        let Some((key, found)) = all.find(|(key, _)| self.name(key) == name) else {
            return Ok(None);
        };
        let facts = self.facts.get(key);
        import(
            (name, key),
            found,
            facts,
            (&self.code, &self.budget),
            allowed,
        )
        .map(Some)
    }

    fn name(&self, key: &RecordingKey) -> PathBuf {
        let mut name = Vec::new();
        let is_shared = |other: &&RecordingKey| other.recording == key.recording;
        // Queries may have left out which recording it was, or made one name of several.
        if self.recordings.keys().filter(is_shared).count() > 1 {
            name.extend(key.machine.as_deref().unwrap_or(b"[unknown]"));
            name.push(b'.');
        }
        name.extend(&key.recording);
        name.iter_mut()
            .filter(|byte| matches!(byte, b'/' | 0))
            .for_each(|byte| *byte = b'_');
        if name.is_empty() {
            return self.path.clone();
        }
        self.path.join(OsStr::from_bytes(&name))
    }
}

#[cfg(test)]
mod tests;
