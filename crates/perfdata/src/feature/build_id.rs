//! BUILD_ID: which contents a path had when it was recorded.

use super::section::SectionItem;
use crate::file_kind;
use crate::file_record::body::FileBody;
use rprof_abi::record::BuildIdBytes;
use rprof_abi::{Cursor, Encoder, Endian, Fields, Misc, RawRecord, RecordHeader, Value, WireError};

/// One `struct perf_record_header_build_id`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BuildIdEntry {
    /// Kernel or user (`PERF_RECORD_MISC_*`).
    pub misc: Misc,
    /// -1, or a guest's process.
    pub pid: i32,
    /// The build id.
    pub build_id: BuildIdBytes,
    /// The path, as in its MMAP records, or `[kernel.kallsyms]`.
    pub filename: Vec<u8>,
}

/// The entry says its id's length (perf 5.12 and later); before, ids have 20 bytes.
const HAS_SIZE: Misc = Misc(1 << 15);

impl BuildIdEntry {
    /// Reads a section that may be damaged: entries up to the first damaged one are kept.
    pub fn parse_until_damage(section: &[u8], endian: Endian) -> (Vec<Self>, Option<WireError>) {
        let mut entries = Vec::new();
        let mut rest = section;
        while !rest.is_empty() {
            let entry = RawRecord::parse(rest, endian).and_then(|raw| {
                Ok((
                    raw.len_bytes(),
                    Self::parse(&mut Cursor::new(raw.body, endian), raw.misc)?,
                ))
            });
            match entry {
                Ok((len, entry)) => {
                    entries.push(entry);
                    rest = rest.get(len..).unwrap_or_default();
                }
                Err(error) => return (entries, Some(error)),
            }
        }
        (entries, None)
    }

    fn parse(cursor: &mut Cursor<'_>, misc: Misc) -> Result<Self, WireError> {
        let pid = cursor.i32("build id pid")?;
        let id = cursor.bytes(24, "build id")?;
        let len = match id.get(BuildIdBytes::MAX) {
            Some(&len) if misc.has(HAS_SIZE) => usize::from(len).min(BuildIdBytes::MAX),
            _ => BuildIdBytes::MAX,
        };
        Ok(Self {
            misc: Misc(misc.0 & !HAS_SIZE.0),
            pid,
            build_id: BuildIdBytes::new(id.get(..len).unwrap_or(id)),
            filename: cursor.c_str().to_vec(),
        })
    }

    /// Appends the entry; the name is padded to 64 bytes as perf does.
    pub fn encode(&self, encoder: &mut Encoder<'_>) {
        let padded = (self.filename.len() + 1).next_multiple_of(64);
        let size = u16::try_from(RecordHeader::LEN + 28 + padded).unwrap_or(u16::MAX);
        RecordHeader {
            kind: file_kind::HEADER_BUILD_ID,
            misc: Misc(self.misc.0 | HAS_SIZE.0),
            size,
        }
        .encode(encoder);
        encoder.i32(self.pid);
        let id = self.build_id.as_bytes();
        encoder.bytes(id);
        encoder.bytes(&vec![0; BuildIdBytes::MAX - id.len()]);
        encoder.u8(u8::try_from(id.len()).unwrap_or(0));
        encoder.bytes(&[0; 3]);
        encoder.bytes(&self.filename);
        encoder.bytes(&vec![0; padded - self.filename.len()]);
    }
}

impl FileBody<'_> for BuildIdEntry {
    fn parse_body(cursor: &mut Cursor<'_>, misc: Misc) -> Result<Self, WireError> {
        Self::parse(cursor, misc)
    }

    fn name_fields(&self, fields: &mut dyn Fields) {
        self.visit(fields);
    }
}

impl SectionItem for BuildIdEntry {
    fn parse_all(section: &[u8], endian: Endian) -> Result<Vec<Self>, WireError> {
        match Self::parse_until_damage(section, endian) {
            (entries, None) => Ok(entries),
            (_, Some(error)) => Err(error),
        }
    }

    fn visit(&self, fields: &mut dyn Fields) {
        fields.field("filename", Value::Text(&self.filename));
        fields.field("build_id", Value::Bytes(self.build_id.as_bytes()));
        fields.field("pid", Value::Signed(self.pid.into()));
        fields.field("misc", Value::Hex(self.misc.0.into()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_round_trip_and_a_damaged_end_keeps_the_rest() {
        let entry = |id: &[u8]| BuildIdEntry {
            misc: Misc::USER,
            pid: -1,
            build_id: BuildIdBytes::new(id),
            filename: b"/bin/true".to_vec(),
        };
        let all = vec![entry(&[7; 20]), entry(&[8; 8])];
        let mut bytes = Vec::new();
        for entry in &all {
            entry.encode(&mut Encoder::new(&mut bytes, Endian::Little));
        }
        assert_eq!(bytes.len(), 200);
        assert_eq!(
            BuildIdEntry::parse_until_damage(&bytes, Endian::Little),
            (all.clone(), None)
        );
        let (kept, error) = BuildIdEntry::parse_until_damage(&bytes[..150], Endian::Little);
        assert_eq!(kept, all[..1]);
        assert!(error.is_some());
    }
}
