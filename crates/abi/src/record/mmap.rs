//! MMAP and MMAP2: a file (or anonymous memory) appeared in an address space.

use super::body::{Body, Context};
use crate::format::{Hex, Text};
use crate::{Cursor, Encoder, Fields, Misc, SampleLayout, Value, Wire, WireError};

wire! {
    /// `PERF_RECORD_MMAP`.
    pub struct Mmap<'a> in "mmap" {
        /// Process; -1 for the kernel's own mappings.
        pub pid: i32,
        /// Thread that mapped.
        pub tid: i32,
        /// First address (AVMA).
        pub addr: u64 as Hex,
        /// Bytes.
        pub len: u64 as Hex,
        /// Offset in the file, bytes. For the kernel's map: address of its reference symbol.
        pub pgoff: u64 as Hex,
        /// Path, or a name in brackets, or `//anon`.
        pub filename: &'a [u8] as Text,
    }

    /// Device and inode of a mapped file.
    #[derive(Copy, Hash, Default)]
    pub struct Inode in "mmap2" {
        /// Major device number.
        pub maj: u32,
        /// Minor device number.
        pub min: u32,
        /// Inode.
        pub ino: u64,
        /// Generation of the inode.
        pub generation: u64 as Number named "ino_generation",
    }
}

/// The build id in the place of an inode, if there is one: an event of another tool that asks for build
/// ids makes the kernel (5.12 to 6.19 at least) say of all events' records that they have one.
/// `perf inject` puts them into recordings that did not ask: of the lengths that linkers make.
///
/// Source: `perf_event_mmap_output`, kernel/events/core.c (v6.18).
fn build_id(bytes: &[u8], is_asked: bool) -> Option<BuildIdBytes> {
    let (&[len, a, b, c], id) = bytes.split_first_chunk()?;
    let (id, rest) = id.split_at_checked(len.into())?;
    let is_whole = [a, b, c] == [0; 3] && rest.iter().all(|&byte| byte == 0);
    let is_usual = is_asked || matches!(len, 16 | 20);
    (is_whole && is_usual && len > 0).then(|| BuildIdBytes::new(id))
}

/// A GNU build id as records carry it: up to 20 bytes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct BuildIdBytes {
    len: u8,
    bytes: [u8; Self::MAX],
}

impl BuildIdBytes {
    /// The longest build id that a record holds, in bytes.
    pub const MAX: usize = 20;

    /// A build id; bytes beyond [`Self::MAX`] are cut, as the kernel cuts them.
    pub fn new(id: &[u8]) -> Self {
        let mut bytes = [0; Self::MAX];
        let mut len = 0;
        for (to, from) in bytes.iter_mut().zip(id) {
            *to = *from;
            len += 1;
        }
        Self { len, bytes }
    }

    /// Its bytes.
    pub fn as_bytes(&self) -> &[u8] {
        self.bytes
            .get(..usize::from(self.len))
            .unwrap_or(&self.bytes)
    }
}

impl std::fmt::Debug for BuildIdBytes {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.as_bytes()
            .iter()
            .try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

/// How an MMAP2 says which file it is: by inode, or with [`Misc::MMAP_BUILD_ID`] by build id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileIdentity {
    /// Device and inode.
    Inode(Inode),
    /// Build id.
    BuildId(BuildIdBytes),
}

/// `PROT_EXEC`, include/uapi/asm-generic/mman-common.h (v6.12).
const PROT_EXEC: u32 = 4;

/// All that `prot` may have: `PROT_READ`, `PROT_WRITE` and `PROT_EXEC` are what the kernel says, and
/// simpleperf has a bit of its own (`PROT_JIT_SYMFILE_MAP`, simpleperf/thread_tree.h).
const PROTECTIONS: u32 = 0x4007;

/// Whether the protection comes next. In the first MMAP2 records the name does (Linux 3.12 to 3.15,
/// and 3.10 of RHEL 7), and letters are no protection.
///
/// Source: kernel commit f972eb63b100, "perf: Pass protection and flags bits through mmap2 interface"
/// (v3.16).
fn has_protection(cursor: &Cursor<'_>) -> Result<bool, WireError> {
    let prot = Cursor::new(cursor.rest(), cursor.endian()).u32("mmap2")?;
    Ok(prot & !PROTECTIONS == 0)
}

/// `PERF_RECORD_MMAP2`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mmap2<'a> {
    /// Process.
    pub pid: i32,
    /// Thread that mapped.
    pub tid: i32,
    /// First address (AVMA).
    pub addr: u64,
    /// Bytes.
    pub len: u64,
    /// Offset in the file, bytes.
    pub pgoff: u64,
    /// Which file; its variant must agree with the record's `misc`.
    pub identity: FileIdentity,
    /// `PROT_*`. Of records that do not say it (Linux before 3.16): `PROT_EXEC` for code.
    pub prot: u32,
    /// `MAP_*`; 0 where the record does not say.
    pub flags: u32,
    /// Path, or a name in brackets, or `//anon`.
    pub filename: &'a [u8],
}

impl<'a> Body<'a> for Mmap2<'a> {
    fn parse_with(cursor: &mut Cursor<'a>, context: Context<'_>) -> Result<Self, WireError> {
        let what = "mmap2";
        let map = Self {
            pid: cursor.i32(what)?,
            tid: cursor.i32(what)?,
            addr: cursor.u64(what)?,
            len: cursor.u64(what)?,
            pgoff: cursor.u64(what)?,
            identity: {
                let bytes = cursor.bytes(4 + BuildIdBytes::MAX as u64, what)?;
                let id = context
                    .misc
                    .has(Misc::MMAP_BUILD_ID)
                    .then(|| build_id(bytes, context.layout.has_build_ids));
                match id.flatten() {
                    Some(id) => FileIdentity::BuildId(id),
                    None => {
                        FileIdentity::Inode(Inode::parse(&mut Cursor::new(bytes, cursor.endian()))?)
                    }
                }
            },
            prot: 0,
            flags: 0,
            filename: b"",
        };
        let is_code = !context.misc.has(Misc::MMAP_DATA);
        let (prot, flags) = if has_protection(cursor)? {
            (cursor.u32(what)?, cursor.u32(what)?)
        } else {
            (if is_code { PROT_EXEC } else { 0 }, 0)
        };
        Ok(Self {
            prot,
            flags,
            filename: cursor.c_str(),
            ..map
        })
    }

    fn name_fields(&self, fields: &mut dyn Fields) {
        fields.field("pid", Value::Signed(self.pid.into()));
        fields.field("tid", Value::Signed(self.tid.into()));
        fields.field("addr", Value::Hex(self.addr));
        fields.field("len", Value::Hex(self.len));
        fields.field("pgoff", Value::Hex(self.pgoff));
        match &self.identity {
            FileIdentity::BuildId(id) => {
                fields.field("build_id", Value::Bytes(id.as_bytes()));
            }
            FileIdentity::Inode(inode) => inode.visit(fields),
        }
        fields.field("prot", Value::Hex(self.prot.into()));
        fields.field("flags", Value::Hex(self.flags.into()));
        fields.field("filename", Value::Text(self.filename));
    }

    fn encode_with(&self, encoder: &mut Encoder<'_>, _: &SampleLayout) {
        encoder.i32(self.pid);
        encoder.i32(self.tid);
        encoder.u64(self.addr);
        encoder.u64(self.len);
        encoder.u64(self.pgoff);
        match &self.identity {
            FileIdentity::BuildId(id) => {
                encoder.u8(id.len);
                encoder.bytes(&[0; 3]);
                encoder.bytes(&id.bytes);
            }
            FileIdentity::Inode(inode) => inode.encode(encoder),
        }
        encoder.u32(self.prot);
        encoder.u32(self.flags);
        encoder.c_str_padded(self.filename);
    }

    #[cfg(test)]
    const LEAST: usize = 60;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Endian, PerfEventAttr, RawRecord, Record, RecordKind};

    /// Of Linux 3.12 to 3.15: what follows the generation of the inode is the name.
    fn old_mmap2(name: &[u8], endian: Endian) -> Vec<u8> {
        let mut body = Vec::new();
        let mut encoder = Encoder::new(&mut body, endian);
        encoder.i32(7);
        encoder.i32(8);
        for field in [0x40_0000, 0x1000, 0x2000] {
            encoder.u64(field);
        }
        encoder.u32(8);
        encoder.u32(1);
        encoder.u64(99);
        encoder.u64(5);
        encoder.c_str_padded(name);
        body
    }

    #[test]
    fn the_first_mmap2_records_have_their_name_where_protection_is_now() {
        let names: [&[u8]; 5] = [b"/usr/bin/x", b"[vdso]", b"//anon", b"/a", b"x"];
        for (name, endian) in names
            .iter()
            .flat_map(|name| [Endian::Little, Endian::Big].map(|endian| (name, endian)))
        {
            let body = old_mmap2(name, endian);
            for (misc, prot) in [(Misc::USER, PROT_EXEC), (Misc::MMAP_DATA, 0)] {
                let raw = RawRecord {
                    kind: RecordKind::MMAP2,
                    misc,
                    body: &body,
                };
                let layout = SampleLayout::new(&PerfEventAttr::default(), endian);
                let Ok((Record::Mmap2(map), _)) = Record::parse(raw, &layout) else {
                    panic!("{name:?}");
                };
                assert_eq!((map.addr, map.len, map.pgoff), (0x40_0000, 0x1000, 0x2000));
                assert_eq!((map.filename, map.prot, map.flags), (*name, prot, 0));
                let inode = Inode {
                    maj: 8,
                    min: 1,
                    ino: 99,
                    generation: 5,
                };
                assert_eq!(map.identity, FileIdentity::Inode(inode));
            }
        }
    }

    #[test]
    fn an_inode_is_none_although_the_kernel_says_that_it_is_a_build_id() {
        let id = |head: [u8; 4], id: [u8; 20], is_asked| {
            let found = build_id(&[&head[..], &id].concat(), is_asked);
            found.map(|id| id.as_bytes().len())
        };
        let mut short = [0; 20];
        short[..8].fill(7);
        assert_eq!(id([20, 0, 0, 0], [7; 20], false), Some(20));
        assert_eq!(id([8, 0, 0, 0], short, true), Some(8));
        // Of a disk whose major number is 8, of one with 259, and of an overlay.
        assert_eq!(id([8, 0, 0, 0], short, false), None);
        assert_eq!(id([8, 0, 0, 0], [7; 20], true), None);
        assert_eq!(id([3, 1, 0, 0], [7; 20], true), None);
        assert_eq!(id([0, 0, 0, 0], [7; 20], true), None);
        assert_eq!(id([254, 0, 0, 0], [7; 20], true), None);
    }
}
