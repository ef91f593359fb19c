//! Marker files that processes had mapped.

use rprof_abi::record::{FileIdentity, Mmap2, Record};
use rprof_images::MarkerFile;

/// A marker file, and whose spans are in it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct MappedMarkerFile {
    pub(crate) path: Vec<u8>,
    /// `None` if it was not recorded.
    pub(crate) inode: Option<u64>,
    pub(crate) pid: i32,
    /// The thread that its name says, or that mapped it.
    pub(crate) tid: i32,
}

impl MappedMarkerFile {
    /// How many mappings of them are looked at: a process has one, or one for each thread.
    pub(crate) const MOST: usize = 10_000;

    /// What a record maps, if it is a marker file of that process.
    pub(super) fn of(record: &Record<'_>) -> Option<Self> {
        let Record::Mmap2(map) = record else {
            return None;
        };
        let Mmap2 {
            pid, tid, filename, ..
        } = *map;
        let (own_pid, own_tid) = MarkerFile::ids_in(filename)?;
        (filename.starts_with(b"/") && own_pid == pid).then(|| Self {
            path: filename.to_vec(),
            inode: match &map.identity {
                FileIdentity::Inode(inode) => Some(inode.ino),
                FileIdentity::BuildId(_) => None,
            },
            pid,
            tid: own_tid.unwrap_or(tid),
        })
    }
}
