//! Folders of tables for query engines, as recordings.

#[cfg(feature = "parquet")]
use super::reading::imported;
use super::reading::open_any;
use crate::args::LimitArgs;
#[cfg(feature = "parquet")]
use crate::say;
use anyhow::{Result, bail};
#[cfg(feature = "parquet")]
use rprof_import::TableFolder;
use rprof_import::is_table_folder;
use rprof_perfdata::Reader;
use std::path::{Path, PathBuf};

/// Folders that are open, as far as any were given.
#[derive(Debug, Default)]
pub(super) struct TableFolders {
    #[cfg(feature = "parquet")]
    open: Vec<TableFolder>,
}

impl TableFolders {
    /// The recordings in a folder, if there are tables in it.
    pub(super) fn open(&mut self, path: &Path, limits: LimitArgs) -> Result<Option<Vec<PathBuf>>> {
        if !is_table_folder(path) {
            return Ok(None);
        }
        #[cfg(feature = "parquet")]
        {
            let folder = TableFolder::open(path, limits.allowed())?;
            for warning in folder.warnings() {
                say::warning(format_args!("{}: {warning}", path.display()));
            }
            let recordings = folder.recordings().collect();
            self.open.push(folder);
            Ok(Some(recordings))
        }
        #[cfg(not(feature = "parquet"))]
        {
            let _ = limits;
            bail!(
                "{}: this rprof was built without Parquet tables (cargo install --features parquet)",
                path.display()
            );
        }
    }

    /// Opens a recording of one of the folders, or what else a path stands for.
    pub(super) fn read(&self, path: &Path, limits: LimitArgs) -> Result<Reader> {
        #[cfg(feature = "parquet")]
        for folder in &self.open {
            if let Some(found) = folder.read(path, limits.allowed())? {
                return Ok(imported(path, found));
            }
        }
        open_any(path, limits)
    }
}

/// Opens what is in a folder of tables, for what reads one recording: the only one, or that with a name after the folder.
/// `None` if the path stands for something else.
pub(super) fn open_only(path: &Path, limits: LimitArgs) -> Result<Option<Reader>> {
    let mut folders = TableFolders::default();
    let parent = path.parent().filter(|_| !path.exists());
    let is_folder = |parent: &&Path| !parent.as_os_str().is_empty() && is_table_folder(parent);
    let folder = parent.filter(is_folder);
    let Some(recordings) = folders.open(folder.unwrap_or(path), limits)? else {
        return Ok(None);
    };
    let is_named = recordings.iter().any(|recording| recording == path);
    match &recordings[..] {
        _ if is_named => folders.read(path, limits).map(Some),
        [only] if folder.is_none() => folders.read(only, limits).map(Some),
        _ if folder.is_some() => Ok(None),
        [first, ..] => bail!(
            "{}: tables of {} recordings, and one is read: name it, as in {}",
            path.display(),
            recordings.len(),
            first.display()
        ),
        [] => Ok(None),
    }
}
