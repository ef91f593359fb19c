//! The header before every record, and the record as the kernel wrote it.

use crate::{Cursor, Encoder, Endian, WireError};

/// Kind of a record: what its body holds. Unknown kinds are carried as their number.
///
/// Source: `enum perf_event_type`, `include/uapi/linux/perf_event.h` (v6.19). Kinds from 64 on
/// are not the kernel's but the file's: see `perfdata`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RecordKind(pub u32);

/// Privilege level in which a record was made: bits 0 to 2 of `misc`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CpuMode {
    /// Not known.
    Unknown,
    /// The kernel.
    Kernel,
    /// A user process.
    User,
    /// A hypervisor.
    Hypervisor,
    /// A guest's kernel.
    GuestKernel,
    /// A guest's user process.
    GuestUser,
    /// 6 or 7, not assigned.
    Reserved(u8),
}

/// The header's `misc` word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub struct Misc(pub u16);

impl Misc {
    /// Made in the kernel.
    pub const KERNEL: Self = Self(1);
    /// Made in user space.
    pub const USER: Self = Self(2);
    /// `/proc/PID/maps` took too long (perf's, synthesized mappings).
    pub const PROC_MAP_PARSE_TIMEOUT: Self = Self(1 << 12);
    /// MMAP: data, not code.
    pub const MMAP_DATA: Self = Self(1 << 13);
    /// COMM: by exec.
    pub const COMM_EXEC: Self = Self(1 << 13);
    /// FORK: synthesized for an exec (perf's).
    pub const FORK_EXEC: Self = Self(1 << 13);
    /// SWITCH: out.
    pub const SWITCH_OUT: Self = Self(1 << 13);
    /// SAMPLE: the IP is exact.
    pub const EXACT_IP: Self = Self(1 << 14);
    /// SWITCH: preempted.
    pub const SWITCH_OUT_PREEMPT: Self = Self(1 << 14);
    /// MMAP2: carries a build id instead of device and inode.
    pub const MMAP_BUILD_ID: Self = Self(1 << 14);
    /// `LOST_SAMPLES`: dropped by a BPF filter (perf's).
    pub const LOST_SAMPLES_BPF: Self = Self(1 << 15);

    /// Whether all bits of `other` are set.
    #[inline]
    pub const fn has(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// The privilege level.
    #[inline]
    pub const fn cpu_mode(self) -> CpuMode {
        match self.0 & 7 {
            0 => CpuMode::Unknown,
            1 => CpuMode::Kernel,
            2 => CpuMode::User,
            3 => CpuMode::Hypervisor,
            4 => CpuMode::GuestKernel,
            5 => CpuMode::GuestUser,
            6 => CpuMode::Reserved(6),
            _ => CpuMode::Reserved(7),
        }
    }
}

/// `struct perf_event_header`: 8 bytes before every record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecordHeader {
    /// What the body holds.
    pub kind: RecordKind,
    /// Level and kind-specific bits.
    pub misc: Misc,
    /// Bytes of header and body together.
    pub size: u16,
}

impl RecordHeader {
    /// Bytes of the header itself.
    pub const LEN: usize = 8;

    /// Reads a header; says nothing about its body.
    ///
    /// # Errors
    /// [`WireError::Short`] if fewer than 8 bytes are there, [`WireError::BadSize`] if the size
    /// is smaller than the header (a reader that trusted it would never advance).
    #[inline]
    pub fn parse(bytes: &[u8], endian: Endian) -> Result<Self, WireError> {
        let mut cursor = Cursor::new(bytes, endian);
        let header = Self {
            kind: RecordKind(cursor.u32("record header")?),
            misc: Misc(cursor.u16("record header")?),
            size: cursor.u16("record header")?,
        };
        if usize::from(header.size) < Self::LEN {
            return Err(WireError::BadSize {
                what: "record",
                size: u64::from(header.size),
                min: Self::LEN as u64,
            });
        }
        Ok(header)
    }

    /// Appends the header.
    pub fn encode(self, encoder: &mut Encoder<'_>) {
        encoder.u32(self.kind.0);
        encoder.u16(self.misc.0);
        encoder.u16(self.size);
    }
}

/// A record as the kernel wrote it: header and a body whose length has been checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RawRecord<'a> {
    /// What it is.
    pub kind: RecordKind,
    /// Level and kind-specific bits.
    pub misc: Misc,
    /// The bytes after the header.
    pub body: &'a [u8],
}

impl<'a> RawRecord<'a> {
    /// Takes one record from the front of `bytes`.
    ///
    /// # Errors
    /// As [`RecordHeader::parse`], or [`WireError::Short`] if the body is not all there.
    #[inline]
    pub fn parse(bytes: &'a [u8], endian: Endian) -> Result<Self, WireError> {
        let header = RecordHeader::parse(bytes, endian)?;
        let body = bytes
            .get(RecordHeader::LEN..usize::from(header.size))
            .ok_or(WireError::Short {
                what: "record body",
                need: u64::from(header.size),
                have: bytes.len() as u64,
            })?;
        Ok(Self {
            kind: header.kind,
            misc: header.misc,
            body,
        })
    }

    /// Bytes of header and body.
    #[inline]
    pub fn len_bytes(&self) -> usize {
        RecordHeader::LEN + self.body.len()
    }

    /// Appends header and body.
    ///
    /// # Errors
    /// [`WireError::TooLong`] if header and body exceed a record's limit.
    pub fn encode(&self, out: &mut Vec<u8>, endian: Endian) -> Result<(), WireError> {
        let len = self.len_bytes();
        let size = u16::try_from(len).map_err(|_| WireError::TooLong { len })?;
        let mut encoder = Encoder::new(out, endian);
        RecordHeader {
            kind: self.kind,
            misc: self.misc,
            size,
        }
        .encode(&mut encoder);
        encoder.bytes(self.body);
        Ok(())
    }
}
