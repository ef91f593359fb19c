//! Marker files that processes had mapped.

use rprof_abi::record::{FileIdentity, Mmap2, Record};
use rprof_images::MarkerFile;

/// A marker file, and whose spans are in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct MappedMarkerFile {
    pub(crate) path: Vec<u8>,
    pub(crate) inode: u64,
    /// Major and minor number of its device.
    pub(crate) device: (u32, u32),
    pub(crate) pid: i32,
    /// The thread that its name says, or that mapped it.
    pub(crate) tid: i32,
    /// The thread that mapped it.
    pub(crate) mapped_by: i32,
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
        // What has a build id is no text.
        let FileIdentity::Inode(inode) = &map.identity else {
            return None;
        };
        (filename.starts_with(b"/") && own_pid == pid).then(|| Self {
            path: filename.to_vec(),
            inode: inode.ino,
            device: (inode.maj, inode.min),
            pid,
            tid: own_tid.unwrap_or(tid),
            mapped_by: tid,
        })
    }
}
