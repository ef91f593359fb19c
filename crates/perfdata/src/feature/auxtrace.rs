//! AUXTRACE: where AUXTRACE records are.

use super::section::SectionItem;
use rprof_abi::format::{CountedItems, FieldFormat, Hex};
use rprof_abi::{Cursor, Endian, Fields, Wire, WireError, wire};

wire! {
    /// One AUXTRACE record of the file.
    ///
    /// Source: `auxtrace_index__write()`, tools/perf/util/auxtrace.c (v6.16).
    #[derive(Copy)]
    pub struct AuxtraceIndexEntry in "AUX index" {
        /// Where it is in the file, bytes.
        pub file_offset: u64 as Hex,
        /// Bytes of the record and its data.
        pub size_bytes: u64,
    }
}

impl SectionItem for AuxtraceIndexEntry {
    fn parse_all(section: &[u8], endian: Endian) -> Result<Vec<Self>, WireError> {
        CountedItems::<u64>::parse(&mut Cursor::new(section, endian), "AUX index count")
    }

    fn visit(&self, fields: &mut dyn Fields) {
        Wire::visit(self, fields);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{ORDERS, bytes, u64s};

    #[test]
    fn index_entries_are_read_and_missing_ones_are_an_error() {
        for endian in ORDERS {
            let section = bytes(endian, |encoder| {
                u64s(&[2, 0x100, 7, 0x200, 8], encoder);
            });
            let entries = AuxtraceIndexEntry::parse_all(&section, endian).unwrap();
            assert_eq!(entries.len(), 2);
            assert_eq!((entries[1].file_offset, entries[1].size_bytes), (0x200, 8));
            assert!(AuxtraceIndexEntry::parse_all(&section[..32], endian).is_err());
        }
    }
}
