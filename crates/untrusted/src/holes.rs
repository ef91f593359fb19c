//! Files with holes: they claim any length, and have little.

use rustix::fs::{SeekFrom, seek};
use rustix::io::Errno;
use std::fs::File;
use std::io;
use std::os::unix::fs::MetadataExt;

/// Ranges that are shorter are not asked about.
const SMALL: u64 = 1 << 20;

/// Programs are padded to pages, and those may be huge ones.
const PADDING: u64 = 4 << 20;

/// Bytes that a file has: of one that is mostly a hole, only what its file system has stored. What is
/// stored says nothing of others, which may be compressed there, or not written yet.
///
/// # Errors
/// If the file system says nothing of it.
pub fn stored(file: &File) -> io::Result<u64> {
    let meta = file.metadata()?;
    Ok(if is_mostly_hole(file, 0, meta.len()) {
        meta.len().min(meta.blocks().saturating_mul(512))
    } else {
        meta.len()
    })
}

/// Whether a range of a file is more hole than contents, so that reading it would make memory of
/// nothing. File systems that do not tell have no holes.
pub fn is_mostly_hole(file: &File, offset: u64, len: u64) -> bool {
    if len < SMALL {
        return false;
    }
    let end = offset.saturating_add(len);
    let (mut at, mut contents, mut holes) = (offset, 0u64, 0u64);
    while at < end {
        let data = match seek(file, SeekFrom::Data(at)) {
            Ok(data) => data.min(end),
            // No contents up to the end of the file.
            Err(Errno::NXIO) => end,
            Err(_) => return false,
        };
        holes += data - at;
        if holes > PADDING + (len - holes) {
            return true;
        }
        if data >= end {
            break;
        }
        let hole = seek(file, SeekFrom::Hole(data)).unwrap_or(end).min(end);
        contents += hole.saturating_sub(data);
        // However the rest is, it is contents for the most part.
        if hole <= data || contents >= len / 2 {
            return false;
        }
        at = hole;
    }
    holes > PADDING + contents
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::FileExt;

    #[test]
    fn a_hole_is_one_and_contents_are_none() {
        let file = tempfile::tempfile().unwrap();
        file.set_len(1 << 32).unwrap();
        if seek(&file, SeekFrom::Data(0)) != Err(Errno::NXIO) {
            return; // This file system has no holes.
        }
        assert!(is_mostly_hole(&file, 0, 1 << 32));
        assert!(is_mostly_hole(&file, 1 << 20, 9 << 20));
        assert!(!is_mostly_hole(&file, 0, 4 << 20), "padding");
        let full = vec![7; 5 << 20];
        file.write_all_at(&full, 1 << 30).unwrap();
        assert!(!is_mostly_hole(&file, 1 << 30, 5 << 20));
        assert!(!is_mostly_hole(&file, (1 << 30) - (4 << 20), 9 << 20));
        assert!(is_mostly_hole(&file, 0, 1 << 31));
        // Many small pieces, far apart.
        for piece in 0..64 {
            file.write_all_at(b"x", (1 << 31) + (piece << 20)).unwrap();
        }
        assert!(is_mostly_hole(&file, 1 << 31, 64 << 20));
    }
}
