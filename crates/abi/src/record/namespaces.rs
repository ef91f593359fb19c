//! NAMESPACES: where a task lives.

use crate::{Cursor, Encoder, WireError};

/// One namespace: the device and inode of its `/proc/PID/ns` link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Namespace {
    /// Device.
    pub dev: u64,
    /// Inode.
    pub ino: u64,
}

/// `PERF_RECORD_NAMESPACES`; the order is net, uts, ipc, pid, user, mnt, cgroup.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Namespaces<'a> {
    /// Process.
    pub pid: i32,
    /// Thread.
    pub tid: i32,
    links: &'a [u8],
    endian: crate::Endian,
}

impl<'a> Namespaces<'a> {
    const LINK_LEN: u64 = 16;

    pub(crate) fn parse(cursor: &mut Cursor<'a>) -> Result<Self, WireError> {
        let what = "namespaces";
        let (pid, tid) = (cursor.i32(what)?, cursor.i32(what)?);
        let nr = cursor.u64(what)?;
        Ok(Self {
            pid,
            tid,
            links: cursor.bytes(nr.saturating_mul(Self::LINK_LEN), what)?,
            endian: cursor.endian(),
        })
    }

    /// The namespaces, in the kernel's order.
    pub fn links(&self) -> impl Iterator<Item = Namespace> + '_ {
        let mut cursor = Cursor::new(self.links, self.endian);
        std::iter::from_fn(move || {
            let dev = cursor.u64("namespace").ok()?;
            let ino = cursor.u64("namespace").ok()?;
            Some(Namespace { dev, ino })
        })
    }

    pub(crate) fn encode(&self, encoder: &mut Encoder<'_>) {
        encoder.i32(self.pid);
        encoder.i32(self.tid);
        encoder.u64(self.links.len() as u64 / Self::LINK_LEN);
        for link in self.links() {
            encoder.u64(link.dev);
            encoder.u64(link.ino);
        }
    }
}
