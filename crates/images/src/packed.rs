//! A section on its way out of the file: found by one thread, read and unpacked by any.

use crate::Elf;
use crate::elf::most_unpacked;
use object::{CompressedData, CompressionFormat, Object, ObjectSection, ReadRef};
use std::borrow::Cow;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::sync::Arc;

/// A section that was not read yet.
#[derive(Debug)]
pub struct PackedSection {
    bytes: Bytes,
    format: CompressionFormat,
    /// Bytes of it when it is unpacked.
    unpacked_len: u64,
}

#[derive(Debug)]
enum Bytes {
    /// Of a file, from an offset on, so many.
    File(Arc<File>, u64, usize),
    Memory(Vec<u8>),
}

impl Elf {
    /// A section, to be read by whoever has time; `None` if there is none, or none in the file.
    pub fn packed_section(&self, name: &str) -> Option<PackedSection> {
        let file = self.object().ok()?;
        let range = file.section_by_name(name)?.compressed_file_range().ok()?;
        let data = self.data();
        let end = range.offset.checked_add(range.compressed_size)?;
        if range.compressed_size == 0 || end > data.len().ok()? {
            return None;
        }
        // Room is made for what the section claims to become.
        let is_packed = range.format != CompressionFormat::None;
        if is_packed && range.uncompressed_size > most_unpacked(range.compressed_size) {
            return None;
        }
        let bytes = match self.file() {
            Some(file) => {
                let len = usize::try_from(range.compressed_size).ok()?;
                Bytes::File(Arc::clone(file), range.offset, len)
            }
            None => {
                let bytes = data.read_bytes_at(range.offset, range.compressed_size);
                Bytes::Memory(bytes.ok()?.to_vec())
            }
        };
        Some(PackedSection {
            bytes,
            format: range.format,
            unpacked_len: range.uncompressed_size,
        })
    }
}

impl PackedSection {
    /// Bytes of it when it is unpacked, as far as the file is right about that.
    pub fn unpacked_len(&self) -> u64 {
        self.unpacked_len
    }

    /// Its contents; `None` if they cannot be read, or are damaged.
    pub fn unpack(self) -> Option<Vec<u8>> {
        let bytes = match self.bytes {
            Bytes::File(file, at, len) => {
                let mut bytes = zeros(len)?;
                file.read_exact_at(&mut bytes, at).ok()?;
                bytes
            }
            Bytes::Memory(bytes) => bytes,
        };
        if self.format == CompressionFormat::None {
            return Some(bytes);
        }
        let packed = CompressedData {
            format: self.format,
            data: &bytes,
            uncompressed_size: self.unpacked_len,
        };
        packed.decompress().ok().map(Cow::into_owned)
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

    #[test]
    fn what_is_unpacked_is_the_section() {
        let path = std::env::current_exe().unwrap();
        let elf = Elf::open(&path).unwrap();
        let inner = Elf::from_memory(std::fs::read(&path).unwrap(), "x").unwrap();
        for elf in [&elf, &inner] {
            let text = elf.packed_section(".text").unwrap();
            assert_eq!(text.unpack().as_deref(), elf.section(".text").as_deref());
            assert!(elf.packed_section(".bss").is_none());
            assert!(elf.packed_section(".nothing").is_none());
        }
    }
}
