//! A section as it is in the file, compressed or not: found by one thread, read and decompressed
//! by any.

use crate::Elf;
use crate::headers::FoundSection;
use object::{
    CompressedData, CompressedFileRange, CompressionFormat, Object, ObjectSection, ReadRef,
};
use rprof_untrusted::Held;
use std::borrow::Cow;
use std::fs::File;
use std::ops::Deref;
use std::os::unix::fs::FileExt;
use std::sync::Arc;

/// A section that was not read yet. Its memory counts already.
#[derive(Debug)]
pub struct RawSection {
    bytes: Bytes,
    format: CompressionFormat,
    /// Bytes of it when it is decompressed.
    decompressed_len: u64,
    held: Held,
}

#[derive(Debug)]
enum Bytes {
    /// Of a file: from an offset on, this many.
    File(Arc<File>, u64, usize),
    Memory(Vec<u8>),
}

/// A section's contents, which count for as long as they are there.
#[derive(Debug, Default)]
pub struct SectionBytes {
    bytes: Vec<u8>,
    _held: Option<Held>,
}

/// Bytes that somebody else counts.
impl From<Vec<u8>> for SectionBytes {
    fn from(bytes: Vec<u8>) -> Self {
        Self { bytes, _held: None }
    }
}

impl Deref for SectionBytes {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.bytes
    }
}

impl Elf {
    /// A section, to be read by any thread that is free; `None` if there is none, or none in the file.
    pub fn raw_section(&self, name: &str) -> Option<RawSection> {
        let (range, index) = match self.headers().ok()?.section(name) {
            FoundSection::Plain(plain) => {
                let range = Some((plain.offset, plain.len));
                (CompressedFileRange::none(range), 0)
            }
            FoundSection::Absent => return None,
            FoundSection::Compressed => {
                let file = self.object().ok()?;
                let section = file.section_by_name(name)?;
                let range = section.compressed_file_range().ok()?;
                (range, section.index().0)
            }
        };
        let data = self.data();
        let end = range.offset.checked_add(range.compressed_size)?;
        if range.compressed_size == 0 || end > data.len().ok()? {
            return None;
        }
        if !data.has(range.offset, range.compressed_size) {
            return None;
        }
        let mut held = data.hold_apart(range.compressed_size).ok()?;
        if range.format != CompressionFormat::None {
            self.make_room(index, &range)?;
            data.grow(&mut held, range.uncompressed_size).ok()?;
        }
        let bytes = match data.file() {
            Some(file) => {
                let len = usize::try_from(range.compressed_size).ok()?;
                Bytes::File(Arc::clone(file), range.offset, len)
            }
            None => {
                let bytes = data.read_bytes_at(range.offset, range.compressed_size);
                Bytes::Memory(bytes.ok()?.to_vec())
            }
        };
        Some(RawSection {
            bytes,
            format: range.format,
            decompressed_len: range.uncompressed_size,
            held,
        })
    }
}

impl RawSection {
    /// Bytes of it when it is decompressed, as far as the file is right about that.
    pub fn decompressed_len(&self) -> u64 {
        self.decompressed_len
    }

    /// Its contents; `None` if they cannot be read, or are damaged.
    pub fn decompress(mut self) -> Option<SectionBytes> {
        let bytes = match self.bytes {
            Bytes::File(file, at, len) => {
                let mut bytes = zeros(len)?;
                file.read_exact_at(&mut bytes, at).ok()?;
                bytes
            }
            Bytes::Memory(bytes) => bytes,
        };
        let bytes = match self.format {
            CompressionFormat::None => bytes,
            format => {
                let compressed = CompressedData {
                    format,
                    data: &bytes,
                    uncompressed_size: self.decompressed_len,
                };
                let decompressed = compressed.decompress().ok().map(Cow::into_owned)?;
                self.held.give_back(bytes.len() as u64);
                decompressed
            }
        };
        Some(SectionBytes {
            bytes,
            _held: Some(self.held),
        })
    }
}

/// Memory that the kernel clears when it is first used; `None` if there is not so much.
fn zeros(len: usize) -> Option<Vec<u8>> {
    // A length that some file claims must not end the program.
    Vec::<u8>::new().try_reserve_exact(len).ok()?;
    Some(vec![0; len])
}

#[cfg(test)]
mod tests {
    use super::*;
    use rprof_untrusted::Budget;

    #[test]
    fn what_is_decompressed_is_the_section() {
        let path = std::env::current_exe().unwrap();
        let elf = Elf::open(&path, &Budget::default()).unwrap();
        let inner =
            Elf::from_memory(std::fs::read(&path).unwrap(), "x", &Budget::default()).unwrap();
        for elf in [&elf, &inner] {
            let text = elf.raw_section(".text").unwrap().decompress();
            assert_eq!(text.as_deref(), elf.section(".text").as_deref());
            assert!(elf.raw_section(".bss").is_none());
            assert!(elf.raw_section(".nothing").is_none());
        }
    }
}
