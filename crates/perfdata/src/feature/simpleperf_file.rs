//! FILE and FILE2: the files that samples point into, with the symbols that were hit. simpleperf
//! records on a phone and names elsewhere, so its recordings bring the names along.

use super::protobuf::{Payload, for_each_field, for_each_number};
use super::section::{Section, SectionItem};
use rprof_abi::{Cursor, Endian, Fields, Value, WireError};

/// A file with its symbols.
///
/// Source: AOSP, simpleperf/record_file_format.h and record_file.proto (`FileFeature`).
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct SimpleperfFile {
    /// Its path, as in MMAP records.
    pub path: Vec<u8>,
    /// What it is: see [`Self::KERNEL`] and the others.
    pub kind: u32,
    /// Address of its first code, as linked (SVMA).
    pub min_vaddr: u64,
    /// Where that code is in the file, bytes; for a kernel module, in its memory.
    /// [`Self::UNKNOWN_OFFSET`] if the section does not say.
    pub file_offset_of_min_vaddr: u64,
    /// Symbols that samples hit.
    pub symbols: Vec<SimpleperfSymbol>,
    /// Where DEX files are in it, bytes.
    pub dex_file_offsets: Vec<u64>,
}

/// A symbol of a [`SimpleperfFile`].
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct SimpleperfSymbol {
    /// Its address as linked (SVMA); for DEX files its file offset.
    pub vaddr: u64,
    /// Bytes.
    pub len: u32,
    /// Its name, mangled.
    pub name: Vec<u8>,
}

impl SimpleperfFile {
    /// [`Self::kind`] of the kernel.
    pub const KERNEL: u32 = 0;
    /// [`Self::kind`] of a kernel module.
    pub const KERNEL_MODULE: u32 = 1;
    /// [`Self::kind`] of an ELF file.
    pub const ELF: u32 = 2;
    /// [`Self::kind`] of a file with DEX files in it.
    pub const DEX: u32 = 3;
    /// [`Self::kind`] of a list of symbols (`perf-PID.map`).
    pub const SYMBOL_MAP: u32 = 4;
    /// [`Self::kind`] of anything else.
    pub const UNKNOWN: u32 = 5;
    /// [`Self::file_offset_of_min_vaddr`] that is not known.
    pub const UNKNOWN_OFFSET: u64 = u64::MAX;

    fn parse_each(
        section: &[u8],
        endian: Endian,
        parse: impl Fn(&[u8]) -> Result<Self, WireError>,
    ) -> Result<Vec<Self>, WireError> {
        let mut cursor = Cursor::new(section, endian);
        let mut files = Vec::new();
        while !cursor.rest().is_empty() {
            let len = cursor.u32("length of a file")?;
            let bytes = cursor.bytes(u64::from(len), "file")?;
            // A run of zeros must not become a run of files.
            if !bytes.is_empty() {
                files.push(parse(bytes)?);
            }
        }
        Ok(files)
    }

    fn parse_struct(bytes: &[u8], endian: Endian) -> Result<Self, WireError> {
        let mut cursor = Cursor::new(bytes, endian);
        let mut file = Self {
            path: cursor.c_str().to_vec(),
            kind: cursor.u32("file type")?,
            min_vaddr: cursor.u64("address of a file")?,
            file_offset_of_min_vaddr: Self::UNKNOWN_OFFSET,
            ..Self::default()
        };
        let n_symbols = cursor.u32("symbol count")?;
        for _ in 0..n_symbols {
            file.symbols.push(SimpleperfSymbol {
                vaddr: cursor.u64("symbol")?,
                len: cursor.u32("symbol")?,
                name: cursor.c_str().to_vec(),
            });
        }
        if file.kind == Self::DEX {
            let n_offsets = cursor.u32("DEX file count")?;
            for _ in 0..n_offsets {
                file.dex_file_offsets.push(cursor.u64("DEX file offset")?);
            }
        }
        // Old files end before it.
        let has_offset = matches!(file.kind, Self::ELF | Self::KERNEL_MODULE);
        if has_offset && !cursor.rest().is_empty() {
            file.file_offset_of_min_vaddr = cursor.u64("offset of a file's code")?;
        }
        Ok(file)
    }

    fn parse_message(message: &[u8]) -> Result<Self, WireError> {
        let mut file = Self {
            file_offset_of_min_vaddr: Self::UNKNOWN_OFFSET,
            ..Self::default()
        };
        for_each_field(message, |number, payload| {
            match (number, payload) {
                (1, Payload::Bytes(path)) => file.path = path.to_vec(),
                (2, Payload::Varint(kind)) => {
                    file.kind = u32::try_from(kind).unwrap_or(Self::UNKNOWN);
                }
                (3, Payload::Varint(vaddr)) => file.min_vaddr = vaddr,
                (4, Payload::Bytes(symbol @ [_, ..])) => {
                    file.symbols.push(SimpleperfSymbol::parse(symbol)?)
                }
                (5, Payload::Bytes(dex)) => for_each_field(dex, |number, payload| match number {
                    1 => for_each_number(payload, |offset| file.dex_file_offsets.push(offset)),
                    _ => Ok(()),
                })?,
                // An ELF file's offset in the file, a kernel module's offset in memory.
                (6 | 7, Payload::Bytes(place)) => {
                    // proto3 leaves out zeros.
                    file.file_offset_of_min_vaddr = 0;
                    for_each_field(place, |number, payload| {
                        if let (1, Payload::Varint(offset)) = (number, payload) {
                            file.file_offset_of_min_vaddr = offset;
                        }
                        Ok(())
                    })?;
                }
                _ => {}
            }
            Ok(())
        })?;
        Ok(file)
    }
}

impl SectionItem for SimpleperfFile {
    /// Reads a whole FILE section: structs, each after its length.
    fn parse_all(section: &[u8], endian: Endian) -> Result<Vec<Self>, WireError> {
        Self::parse_each(section, endian, |bytes| Self::parse_struct(bytes, endian))
    }

    fn visit(&self, fields: &mut dyn Fields) {
        fields.field("path", Value::Text(&self.path));
        fields.field("type", Value::Unsigned(self.kind.into()));
        fields.field("min_vaddr", Value::Hex(self.min_vaddr));
        if self.file_offset_of_min_vaddr != Self::UNKNOWN_OFFSET {
            fields.field(
                "file_offset_of_min_vaddr",
                Value::Hex(self.file_offset_of_min_vaddr),
            );
        }
        fields.objects("symbols", &self.symbols, |fields, symbol| {
            fields.field("vaddr", Value::Hex(symbol.vaddr));
            fields.field("len", Value::Unsigned(symbol.len.into()));
            fields.field("name", Value::Text(&symbol.name));
        });
        fields.list(
            "dex_file_offsets",
            &self.dex_file_offsets,
            |fields, &offset| {
                fields.field("", Value::Hex(offset));
            },
        );
    }
}

/// A FILE2 section.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SimpleperfMessages(pub Vec<SimpleperfFile>);

impl Section for SimpleperfMessages {
    /// Reads a whole FILE2 section: protobuf messages, each after its length.
    fn parse_section(section: &[u8], endian: Endian) -> Result<Self, WireError> {
        SimpleperfFile::parse_each(section, endian, SimpleperfFile::parse_message).map(Self)
    }

    /// As FILE: both hold the same.
    fn describe(&self, _: &str, fields: &mut dyn Fields) {
        self.0.describe("simpleperf_file", fields);
    }
}

impl SimpleperfSymbol {
    fn parse(message: &[u8]) -> Result<Self, WireError> {
        let mut symbol = Self::default();
        for_each_field(message, |number, payload| {
            match (number, payload) {
                (1, Payload::Varint(vaddr)) => symbol.vaddr = vaddr,
                (2, Payload::Varint(len)) => symbol.len = u32::try_from(len).unwrap_or(u32::MAX),
                (3, Payload::Bytes(name)) => symbol.name = name.to_vec(),
                _ => {}
            }
            Ok(())
        })?;
        Ok(symbol)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{ORDERS, bytes};

    fn file(kind: u32) -> SimpleperfFile {
        SimpleperfFile {
            path: b"/lib.so".to_vec(),
            kind,
            min_vaddr: 0x1000,
            file_offset_of_min_vaddr: match kind {
                SimpleperfFile::ELF | SimpleperfFile::KERNEL_MODULE => 0x800,
                _ => SimpleperfFile::UNKNOWN_OFFSET,
            },
            symbols: vec![SimpleperfSymbol {
                vaddr: 0x1040,
                len: 300,
                name: b"main".to_vec(),
            }],
            dex_file_offsets: match kind {
                SimpleperfFile::DEX => vec![40, 300],
                _ => vec![],
            },
        }
    }

    fn encode_struct(file: &SimpleperfFile, endian: Endian) -> Vec<u8> {
        let rest = bytes(endian, |encoder| {
            encoder.bytes(&file.path);
            encoder.u8(0);
            encoder.u32(file.kind);
            encoder.u64(file.min_vaddr);
            encoder.u32(1);
            encoder.u64(file.symbols[0].vaddr);
            encoder.u32(file.symbols[0].len);
            encoder.bytes(b"main\0");
            if file.kind == SimpleperfFile::DEX {
                encoder.u32(2);
                file.dex_file_offsets.iter().for_each(|&at| encoder.u64(at));
            }
            if file.file_offset_of_min_vaddr != u64::MAX {
                encoder.u64(file.file_offset_of_min_vaddr);
            }
        });
        bytes(endian, |encoder| {
            encoder.u32(u32::try_from(rest.len()).unwrap());
            encoder.bytes(&rest);
        })
    }

    #[test]
    fn structs_of_every_kind_are_read() {
        for endian in ORDERS {
            let files: Vec<_> = (0..=5).map(file).collect();
            let section: Vec<_> = files
                .iter()
                .flat_map(|file| encode_struct(file, endian))
                .collect();
            assert_eq!(SimpleperfFile::parse_all(&section, endian), Ok(files));
            assert!(SimpleperfFile::parse_all(&section[..section.len() - 1], endian).is_err());
        }
    }

    #[test]
    fn an_absurd_symbol_count_is_an_error() {
        let mut section = encode_struct(&file(2), Endian::Little);
        section[24..28].fill(0xff);
        assert!(SimpleperfFile::parse_all(&section, Endian::Little).is_err());
    }

    #[test]
    fn messages_say_the_same() {
        // path, min_vaddr and the symbol come in every message; proto3 leaves out a kind of 0.
        let common = b"\x0a\x07/lib.so\x18\x80\x20\x22\x0c\x08\xc0\x20\x10\xac\x02\x1a\x04main";
        let kinds: [(u32, &[u8]); 4] = [
            (0, b""),
            (1, b"\x10\x01\x3a\x03\x08\x80\x10"),
            (2, b"\x10\x02\x32\x03\x08\x80\x10"),
            (3, b"\x10\x03\x2a\x05\x0a\x03\x28\xac\x02"),
        ];
        for endian in ORDERS {
            for (kind, special) in kinds {
                let message = [&common[..], special].concat();
                let section = bytes(endian, |encoder| {
                    encoder.u32(u32::try_from(message.len()).unwrap());
                    encoder.bytes(&message);
                });
                assert_eq!(
                    SimpleperfMessages::parse_section(&section, endian),
                    Ok(SimpleperfMessages(vec![file(kind)]))
                );
            }
        }
    }
}
