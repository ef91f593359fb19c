//! What a file in a directory of recordings is.

use rprof_perfdata::{FeatureId, FileHeader};
use std::fs::File;
use std::io::{self, Read};

/// What a file in a directory is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FileState {
    Complete,
    /// Its recorder writes it, or was killed.
    Unfinished,
    /// One of several files of a recording.
    InDirectory,
    NoRecording,
}

/// What the beginning of a file says. Its end is written last, and then the beginning.
pub(super) fn state_of(file: &File) -> io::Result<FileState> {
    let mut head = Vec::new();
    file.take(FileHeader::LEN).read_to_end(&mut head)?;
    let Some(endian) = head
        .first_chunk()
        .and_then(|magic| FileHeader::endian_of(*magic))
    else {
        return Ok(FileState::NoRecording);
    };
    let dir_format = 1 << FeatureId::DIR_FORMAT.0;
    Ok(match FileHeader::parse(&head, endian) {
        Ok(header) if header.features[0] & dir_format != 0 => FileState::InDirectory,
        Ok(header) if !header.is_unfinished() => FileState::Complete,
        // Of what came through a pipe nobody knows whether there is more.
        Ok(_) | Err(_) => FileState::Unfinished,
    })
}
