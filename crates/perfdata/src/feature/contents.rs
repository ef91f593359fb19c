//! CONTENTS, rprof's own: what was in mapped files that have no build id.
//!
//! ```text
//! u32 version (1)   u32 number of files, for each:
//!     string path   u32 major, u32 minor number of its device   u64 inode   u64 size
//!     u64 written to last, u64 changed last (ns since 1970)   u32 1: has a checksum   u32 CRC-32
//! ```

use super::section::{SectionItem, check_version};
use super::text::{encode_string, take_owned};
use rprof_abi::{Cursor, Encoder, Endian, Fields, Value, WireError};

/// A file, and what tells its contents from others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileContents {
    /// Its path, as in the records of its mappings.
    pub path: Vec<u8>,
    /// Major and minor number of its device, as there.
    pub device: (u32, u32),
    /// Its inode, as there.
    pub inode: u64,
    /// Its size, bytes.
    pub len: u64,
    /// When it was last written to, nanoseconds since 1970.
    pub modified_ns: i64,
    /// When it, its names or its rights last changed, nanoseconds since 1970.
    pub changed_ns: i64,
    /// CRC-32 of all of it, if that was taken.
    pub crc: Option<u32>,
}

const VERSION: u32 = 1;

impl FileContents {
    /// Appends the section.
    pub fn encode_all(files: &[Self], encoder: &mut Encoder<'_>) {
        encoder.u32(VERSION);
        encoder.count(files.len());
        for file in files {
            encode_string(&file.path, encoder);
            encoder.u32(file.device.0);
            encoder.u32(file.device.1);
            encoder.u64(file.inode);
            encoder.u64(file.len);
            encoder.i64(file.modified_ns);
            encoder.i64(file.changed_ns);
            encoder.u32(file.crc.is_some().into());
            encoder.u32(file.crc.unwrap_or(0));
        }
    }
}

impl SectionItem for FileContents {
    fn parse_all(section: &[u8], endian: Endian) -> Result<Vec<Self>, WireError> {
        let mut cursor = Cursor::new(section, endian);
        let what = "contents of a file";
        check_version(cursor.u32(what)?, VERSION, "version of contents")?;
        let one = |cursor: &mut Cursor<'_>| {
            Ok(Self {
                path: take_owned(cursor)?,
                device: (cursor.u32(what)?, cursor.u32(what)?),
                inode: cursor.u64(what)?,
                len: cursor.u64(what)?,
                modified_ns: cursor.i64(what)?,
                changed_ns: cursor.i64(what)?,
                crc: {
                    let has_one = cursor.u32(what)? == 1;
                    Some(cursor.u32(what)?).filter(|_| has_one)
                },
            })
        };
        let n_files = cursor.u32(what)?;
        (0..n_files).map(|_| one(&mut cursor)).collect()
    }

    fn visit(&self, fields: &mut dyn Fields) {
        fields.field("path", Value::Text(&self.path));
        fields.field("major", Value::Unsigned(self.device.0.into()));
        fields.field("minor", Value::Unsigned(self.device.1.into()));
        fields.field("inode", Value::Unsigned(self.inode));
        fields.field("len_bytes", Value::Unsigned(self.len));
        fields.field("modified_ns", Value::Signed(self.modified_ns));
        fields.field("changed_ns", Value::Signed(self.changed_ns));
        fields.if_some("crc", self.crc, Value::Hex);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Flat, ORDERS, bytes};

    #[test]
    fn contents_round_trip_and_short_ones_are_errors() {
        let file = FileContents {
            path: b"/bin/x".to_vec(),
            device: (8, 1),
            inode: 4711,
            len: 100,
            modified_ns: 1_700_000_000_123_456_789,
            changed_ns: -1,
            crc: Some(0xcbf4_3926),
        };
        let without = FileContents {
            crc: None,
            ..file.clone()
        };
        let files = [file, without];
        for endian in ORDERS {
            let section = bytes(endian, |encoder| FileContents::encode_all(&files, encoder));
            let parsed = FileContents::parse_all(&section, endian).unwrap();
            assert_eq!(parsed, files);
            for len in 0..section.len() {
                assert!(FileContents::parse_all(&section[..len], endian).is_err());
            }
        }
        let said = |file: &FileContents| Flat::of(|fields| file.visit(fields)).len();
        assert_eq!(files.each_ref().map(said), [8, 7]);
    }
}
