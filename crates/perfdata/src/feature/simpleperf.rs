//! META_INFO and DEBUG_UNWIND: what simpleperf says of itself.

use super::protobuf::{Payload, for_each_field};
use super::section::SectionItem;
use rprof_abi::{Cursor, Endian, Fields, Value, WireError};

/// One pair of META_INFO.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MetaInfo {
    /// Such as `simpleperf_version`.
    pub key: Vec<u8>,
    /// Its value.
    pub value: Vec<u8>,
}

impl SectionItem for MetaInfo {
    /// Reads a whole section: keys and values, each with its NUL.
    fn parse_all(section: &[u8], _: Endian) -> Result<Vec<Self>, WireError> {
        // Numbers have no part in it.
        let mut cursor = Cursor::new(section, Endian::NATIVE);
        let mut pairs = Vec::new();
        while !cursor.rest().is_empty() {
            let (key, value) = (cursor.c_str(), cursor.c_str());
            // A run of NULs must not become a run of pairs.
            if !key.is_empty() {
                pairs.push(Self {
                    key: key.to_vec(),
                    value: value.to_vec(),
                });
            }
        }
        Ok(pairs)
    }

    fn visit(&self, fields: &mut dyn Fields) {
        fields.field("key", Value::Text(&self.key));
        fields.field("value", Value::Text(&self.value));
    }
}

/// One file of DEBUG_UNWIND; its contents are in DEBUG_UNWIND_FILE, behind those of the files
/// before it.
///
/// Source: AOSP, simpleperf/record_file.proto, `DebugUnwindFeature`.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct DebugUnwindFile {
    /// Its path.
    pub path: Vec<u8>,
    /// Its bytes.
    pub size_bytes: u64,
}

impl DebugUnwindFile {
    fn parse(message: &[u8]) -> Result<Self, WireError> {
        let mut file = Self::default();
        for_each_field(message, |number, payload| {
            match (number, payload) {
                (1, Payload::Bytes(path)) => file.path = path.to_vec(),
                (2, Payload::Varint(size)) => file.size_bytes = size,
                _ => {}
            }
            Ok(())
        })?;
        Ok(file)
    }
}

impl SectionItem for DebugUnwindFile {
    fn parse_all(section: &[u8], _: Endian) -> Result<Vec<Self>, WireError> {
        let mut files = Vec::new();
        for_each_field(section, |number, payload| {
            if let (1, Payload::Bytes(message @ [_, ..])) = (number, payload) {
                files.push(Self::parse(message)?);
            }
            Ok(())
        })?;
        Ok(files)
    }

    fn visit(&self, fields: &mut dyn Fields) {
        fields.field("path", Value::Text(&self.path));
        fields.field("size_bytes", Value::Unsigned(self.size_bytes));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn meta_info_is_pairs_and_a_cut_one_keeps_its_key() {
        let pair = |key: &[u8], value: &[u8]| MetaInfo {
            key: key.to_vec(),
            value: value.to_vec(),
        };
        assert_eq!(
            MetaInfo::parse_all(
                b"simpleperf_version\x001.2\0\0\0empty\0\0clo",
                Endian::NATIVE
            ),
            Ok(vec![
                pair(b"simpleperf_version", b"1.2"),
                pair(b"empty", b""),
                pair(b"clo", b"")
            ])
        );
    }

    #[test]
    fn files_for_unwinding_have_sizes() {
        let section = b"\x0a\x06\x0a\x02so\x10\x05";
        let expected = DebugUnwindFile {
            path: b"so".to_vec(),
            size_bytes: 5,
        };
        assert_eq!(
            DebugUnwindFile::parse_all(section, Endian::NATIVE),
            Ok(vec![expected])
        );
        assert!(DebugUnwindFile::parse_all(&section[..5], Endian::NATIVE).is_err());
    }
}
