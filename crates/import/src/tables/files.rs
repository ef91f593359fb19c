//! The files of tables in a folder.

use crate::Error;
use rprof_untrusted::Seen;
use std::fs::{self, File};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Folders within each other: Hive has one for each column of partitions.
const MOST_LEVELS: u32 = 16;

/// Files at most: what a list of them takes is bounded.
const MOST_FILES: usize = 1 << 20;

/// The tables that profiles are in: folders, or files like `samples.parquet`.
const TABLES: [&str; 4] = ["samples", "stacks", "frames", "recordings"];

/// Which table a file or folder is of, by its name.
fn table_of(name: &str) -> Option<&'static str> {
    let stem = name.strip_suffix(".parquet").unwrap_or(name);
    TABLES.into_iter().find(|table| stem == *table)
}

/// A file of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct FoundFile {
    pub(super) path: PathBuf,
    table: &'static str,
}

/// The files of tables in a folder, in the order of their paths.
#[derive(Debug, Default)]
pub(super) struct Files {
    all: Vec<FoundFile>,
    /// Bytes of all.
    pub(super) stored: u64,
    /// Those that were not finished when their writer ended.
    pub(super) n_unfinished: u64,
}

impl Files {
    /// Looks for them.
    ///
    /// # Errors
    /// A folder cannot be read; there are too many.
    pub(super) fn find(folder: &Path) -> Result<Self, Error> {
        let mut files = Self::default();
        for (name, path) in entries(folder)? {
            if let Some(table) = table_of(&name) {
                files.add(table, path, MOST_LEVELS)?;
            }
        }
        Ok(files)
    }

    /// Those of a table.
    pub(super) fn of(&self, table: &str) -> Vec<&FoundFile> {
        self.all.iter().filter(|file| file.table == table).collect()
    }

    fn add(&mut self, table: &'static str, path: PathBuf, levels: u32) -> Result<(), Error> {
        let meta = fs::metadata(&path).map_err(Error::io(&path))?;
        if meta.is_file() {
            self.stored = self.stored.saturating_add(meta.size());
            if self.all.len() >= MOST_FILES {
                return Err(Error::table(&path, "more files than are read"));
            }
            self.all.push(FoundFile { path, table });
            return Ok(());
        }
        // Links could make a circle of folders.
        let is_link = path.is_symlink() && levels < MOST_LEVELS;
        if !meta.is_dir() || is_link || levels == 0 {
            return Ok(());
        }
        for (name, path) in entries(&path)? {
            if name.starts_with(".rprof-") {
                self.n_unfinished += 1;
            }
            // As engines do: names with a dot or an underscore are hidden.
            let is_hidden = name.starts_with(['.', '_']);
            if !is_hidden && (name.ends_with(".parquet") || path.is_dir()) {
                self.add(table, path, levels - 1)?;
            }
        }
        Ok(())
    }
}

/// What is in a folder, by name.
fn entries(folder: &Path) -> Result<Vec<(String, PathBuf)>, Error> {
    let read = || {
        let mut all = Vec::new();
        for entry in fs::read_dir(folder)? {
            let entry = entry?;
            let name = entry.file_name().to_string_lossy().into_owned();
            all.push((name, entry.path()));
        }
        all.sort();
        Ok(all)
    };
    read().map_err(Error::io(folder))
}

impl FoundFile {
    /// Opens it.
    pub(super) fn open(&self) -> Result<File, Error> {
        let open = || Seen::at(&self.path)?.open_regular(File::options().read(true));
        open().map_err(Error::io(&self.path))
    }

    /// The value of a Hive partition in its path; `None` if there is none, or it is NULL.
    pub(super) fn partition(&self, column: &str) -> Option<Vec<u8>> {
        let mut folders = self.path.iter().rev().skip(1);
        let value = folders.find_map(|folder| {
            let (name, value) = folder.to_str()?.split_once('=')?;
            (name == column).then_some(value)
        })?;
        (value != "__HIVE_DEFAULT_PARTITION__").then(|| unescaped(value))
    }
}

/// A value of a partition without its escapes, as in `%2F`.
fn unescaped(value: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut rest = value;
    while let Some((before, after)) = rest.split_once('%') {
        bytes.extend(before.bytes());
        let digits = after.get(..2);
        match digits.and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            Some(byte) => {
                bytes.push(byte);
                rest = after.get(2..).unwrap_or_default();
            }
            None => {
                bytes.push(b'%');
                rest = after;
            }
        }
    }
    bytes.extend(rest.bytes());
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn partitions_are_in_paths() {
        let file = FoundFile {
            path: "p/samples/date=2026-11-24/machine=a%2Fb%/x.parquet".into(),
            table: "samples",
        };
        assert_eq!(file.partition("machine").unwrap(), b"a/b%");
        assert_eq!(file.partition("recording"), None);
        let unknown = FoundFile {
            path: "samples/machine=__HIVE_DEFAULT_PARTITION__/x.parquet".into(),
            table: "samples",
        };
        assert_eq!(unknown.partition("machine"), None);
    }
}
