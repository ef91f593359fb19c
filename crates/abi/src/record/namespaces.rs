//! NAMESPACES: the namespaces of a task.

use crate::{Cursor, Encoder, Endian, Fields, Value, Wire, WireError};

/// One namespace: the device and inode of its `/proc/PID/ns` link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
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
    endian: Endian,
}

impl<'a> Namespaces<'a> {
    /// Names of the links in `/proc/PID/ns`, in the order of `*_NS_INDEX` (v6.12).
    pub const NAMES: [&'static str; 7] = ["net", "uts", "ipc", "pid", "user", "mnt", "cgroup"];

    const LINK_LEN: u64 = 16;

    /// Over links that are already encoded in this machine's byte order, 16 bytes each.
    pub fn from_encoded(pid: i32, tid: i32, links: &'a [u8]) -> Self {
        Self {
            pid,
            tid,
            links,
            endian: Endian::NATIVE,
        }
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
}

impl<'a> Wire<'a> for Namespaces<'a> {
    const MIN_LEN: usize = 16;

    fn parse(cursor: &mut Cursor<'a>) -> Result<Self, WireError> {
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

    fn visit(&self, fields: &mut dyn Fields) {
        fields.field("pid", Value::Signed(self.pid.into()));
        fields.field("tid", Value::Signed(self.tid.into()));
        let names = Self::NAMES.iter().copied().chain(std::iter::repeat(""));
        fields.objects(
            "namespaces",
            self.links().zip(names),
            |fields, (link, name)| {
                fields.field("name", Value::Text(name.as_bytes()));
                fields.field("dev", Value::Hex(link.dev));
                fields.field("ino", Value::Unsigned(link.ino));
            },
        );
    }

    fn encode(&self, encoder: &mut Encoder<'_>) {
        encoder.i32(self.pid);
        encoder.i32(self.tid);
        encoder.u64(self.links.len() as u64 / Self::LINK_LEN);
        for link in self.links() {
            encoder.u64(link.dev);
            encoder.u64(link.ino);
        }
    }
}
