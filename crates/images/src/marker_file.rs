//! Marker files: what a process wrote of its own spans, in the format that samply and Firefox share.
//!
//! A process maps `marker-PID.txt` or `marker-PID-TID.txt` as code, so that profilers know of it, and writes a line for
//! each span that has ended: `START END NAME`, both times in nanoseconds of CLOCK_MONOTONIC.
//!
//! Source: samply/src/shared/marker_file.rs.

use crate::NoFile;
use crate::source::{Device, Source};
use rprof_untrusted::{Budget, Held, read_all};
use std::io::{self, Read};
use std::path::Path;

/// The spans of a marker file.
#[derive(Debug)]
pub struct MarkerFile {
    bytes: Vec<u8>,
    owner: u32,
    /// The memory of these.
    _held: Held,
}

/// A span that a process wrote.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WrittenSpan<'a> {
    /// When it began, nanoseconds of CLOCK_MONOTONIC.
    pub start_ns: u64,
    /// When it ended.
    pub end_ns: u64,
    /// What it is called.
    pub name: &'a [u8],
}

impl MarkerFile {
    /// The process and thread that a path names, if it is one of a marker file.
    pub fn ids_in(path: &[u8]) -> Option<(i32, Option<i32>)> {
        let name = path.rsplit(|&byte| byte == b'/').next()?;
        let ids = name.strip_prefix(b"marker-")?.strip_suffix(b".txt")?;
        let ids = str::from_utf8(ids).ok()?;
        let id = |text: &str| text.parse().ok().filter(|&id: &i32| id > 0);
        match ids.split_once('-') {
            Some((pid, tid)) => Some((id(pid)?, Some(id(tid)?))),
            None => Some((id(ids)?, None)),
        }
    }

    /// Reads one that a process had mapped, which had this inode on this device; without these, any.
    ///
    /// # Errors
    /// Why it is not there.
    pub fn open_recorded(
        path: &Path,
        recorded: Option<(u64, Device)>,
        budget: &Budget,
    ) -> Result<Self, NoFile> {
        let unreadable = |error: io::Error| match error.kind() {
            io::ErrorKind::NotFound => NoFile::Missing,
            kind => NoFile::Unreadable(kind),
        };
        let source = Source::open(path).map_err(unreadable)?;
        let (meta, opened) = source.meta().zip(source.opened()).ok_or(NoFile::Missing)?;
        if let Some((inode, device)) = recorded
            && (inode != meta.inode || !opened.is_on(device))
        {
            return Err(NoFile::Replaced);
        }
        let (len, owner) = (meta.len, meta.owner);
        let mut held = budget.hold_nothing();
        // Its process may still write to it.
        let bytes = read_all(source.take(len), len, &mut held).map_err(unreadable)?;
        Ok(Self {
            bytes,
            owner,
            _held: held,
        })
    }

    /// User id of the file's owner.
    pub fn owner(&self) -> u32 {
        self.owner
    }

    /// Its lines; `None` for those that are damaged. The last one may not be whole yet.
    pub fn spans(&self) -> impl Iterator<Item = Option<WrittenSpan<'_>>> {
        let lines = self.bytes.split_inclusive(|&byte| byte == b'\n');
        lines.filter_map(|line| Some(span_of(line.strip_suffix(b"\n")?)))
    }
}

fn span_of(line: &[u8]) -> Option<WrittenSpan<'_>> {
    let mut words = line.splitn(3, |&byte| byte == b' ');
    let mut time = || str::from_utf8(words.next()?).ok()?.parse().ok();
    let (start_ns, end_ns): (u64, u64) = (time()?, time()?);
    let name = words.next().filter(|name| !name.is_empty())?;
    (start_ns <= end_ns).then_some(WrittenSpan {
        start_ns,
        end_ns,
        name,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::split_device;
    use std::os::unix::fs::MetadataExt;

    #[test]
    fn names_of_marker_files_have_ids() {
        let ids = |path: &str| MarkerFile::ids_in(path.as_bytes());
        assert_eq!(ids("/tmp/marker-12.txt"), Some((12, None)));
        assert_eq!(ids("/tmp/marker-12-34.txt"), Some((12, Some(34))));
        for other in [
            "/tmp/marker-.txt",
            "/tmp/marker-1-.txt",
            "/tmp/a-1.txt",
            "/tmp/marker-1",
        ] {
            assert_eq!(ids(other), None, "{other}");
        }
    }

    #[test]
    fn lines_are_spans_and_damaged_ones_are_told() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("marker-7.txt");
        std::fs::write(&path, "10 20 load page\n5 4 back\nx\n30 30 now\n40 50 cut").unwrap();
        let file = MarkerFile::open_recorded(&path, None, &Budget::default()).unwrap();
        let span = |start_ns, end_ns, name| {
            Some(WrittenSpan {
                start_ns,
                end_ns,
                name,
            })
        };
        let all: Vec<_> = file.spans().collect();
        let expected = [span(10, 20, b"load page"), None, None, span(30, 30, b"now")];
        assert_eq!(all, expected);
        let opened = Source::open(&path).unwrap().meta().unwrap().inode;
        let meta = std::fs::metadata(&path).unwrap();
        let device = split_device(meta.dev());
        assert_eq!((opened, file.owner()), (meta.ino(), meta.uid()));
        let read = |inode, device| {
            let recorded = Some((inode, device));
            MarkerFile::open_recorded(&path, recorded, &Budget::default()).map(|_| ())
        };
        assert_eq!(read(meta.ino(), device), Ok(()));
        assert_eq!(read(1, device), Err(NoFile::Replaced));
        assert_eq!(read(meta.ino(), (0xfff, 7)), Err(NoFile::Replaced));
    }
}
