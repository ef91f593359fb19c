//! Where the code of functions is in a jitdump, found for all of them at once.

use crate::recording::Recording;
use foldhash::{HashMap, HashSet};
use rprof_images::{JitDump, JitLoad, JitRecord, NoFile};
use rprof_machine::{ImageId, RecordedImage};
use std::path::{Path, PathBuf};

/// What a jitdump has of functions with samples.
#[derive(Debug)]
pub(super) struct JitCode {
    pub(super) path: PathBuf,
    /// By where their code is in the file.
    pub(super) loads: HashMap<u64, JitLoad>,
}

impl JitCode {
    /// Looks for the functions whose code is at these places in the jitdump of an image.
    pub(super) fn find(
        recording: &Recording<'_>,
        (id, image): (ImageId, &RecordedImage),
        wanted: &HashSet<u64>,
    ) -> Result<Self, NoFile> {
        let known = recording.index.jitdumps.get(&id);
        let recorded = || PathBuf::from(String::from_utf8_lossy(&image.path).into_owned());
        let path = known.map_or_else(recorded, |known| known.path.clone());
        let mut dump = open(recording, &path, image)?;
        let mut loads = HashMap::default();
        let unreadable = |error: std::io::Error| NoFile::Unreadable(error.kind());
        while loads.len() < wanted.len()
            && let Some(record) = dump.next_record().map_err(unreadable)?
        {
            if let JitRecord::Load(load) = record
                && wanted.contains(&load.code.0)
            {
                loads.insert(load.code.0, load);
            }
        }
        Ok(Self { path, loads })
    }

    /// The jitdump, to read code of it.
    pub(super) fn open(
        &self,
        recording: &Recording<'_>,
        image: &RecordedImage,
    ) -> Result<JitDump, NoFile> {
        open(recording, &self.path, image)
    }
}

fn open(recording: &Recording<'_>, path: &Path, image: &RecordedImage) -> Result<JitDump, NoFile> {
    let inode = image.inode.filter(|_| recording.locator.symfs.is_none());
    JitDump::open_recorded(path, inode, recording.reader.budget())
}
