//! Programs whose section headers say what is not so: as they run, so they were compiled; what lies
//! about them is after everything else.

use flate2::Compression;
use flate2::write::ZlibEncoder;
use std::fs::File;
use std::io::Write;
use std::os::unix::fs::FileExt;
use std::path::Path;

const SHT_PROGBITS: u32 = 1;
const SHT_STRTAB: u32 = 3;
const SHF_COMPRESSED: u64 = 1 << 11;
const HEADER_LEN: usize = 64;

/// A section that a file is to have: one of this name, or one more.
pub(crate) struct Section<'s> {
    pub(crate) name: &'s str,
    /// Where in the file; how long; whether it is packed.
    pub(crate) contents: (u64, u64, bool),
}

/// Gives a program other section headers (ELF64, little-endian).
pub(crate) fn with_sections(path: &Path, sections: &[Section<'_>]) {
    let file = File::options().read(true).write(true).open(path).unwrap();
    let read = |at: u64, len: usize| {
        let mut bytes = vec![0; len];
        file.read_exact_at(&mut bytes, at).unwrap();
        bytes
    };
    let number = |bytes: &[u8], at: usize, len: usize| {
        let digits = bytes[at..at + len].iter().rev();
        digits.fold(0u64, |all, &byte| all << 8 | u64::from(byte))
    };
    let size = |number: u64| usize::try_from(number).unwrap();
    let head = read(0, HEADER_LEN);
    let (at, n) = (number(&head, 40, 8), size(number(&head, 60, 2)));
    let names_idx = size(number(&head, 62, 2));
    let table = read(at, n * HEADER_LEN);
    let mut headers: Vec<Vec<u8>> = table.chunks(HEADER_LEN).map(<[u8]>::to_vec).collect();
    let of_names = &headers[names_idx];
    let mut names = read(number(of_names, 24, 8), size(number(of_names, 32, 8)));
    for section in sections {
        let has_name = |header: &Vec<u8>| {
            let name = &names[size(number(header, 0, 4))..];
            name.split(|&byte| byte == 0).next() == Some(section.name.as_bytes())
        };
        let idx = headers.iter().position(has_name).unwrap_or_else(|| {
            let mut header = vec![0; HEADER_LEN];
            header[..4].copy_from_slice(&u32::try_from(names.len()).unwrap().to_le_bytes());
            header[4..8].copy_from_slice(&SHT_PROGBITS.to_le_bytes());
            header[48] = 1;
            names.extend(section.name.as_bytes());
            names.push(0);
            headers.push(header);
            headers.len() - 1
        });
        let header = &mut headers[idx];
        let (offset, len, is_packed) = section.contents;
        header[24..32].copy_from_slice(&offset.to_le_bytes());
        header[32..40].copy_from_slice(&len.to_le_bytes());
        let flags = number(header, 8, 8) & !SHF_COMPRESSED;
        let flags = flags | if is_packed { SHF_COMPRESSED } else { 0 };
        header[8..16].copy_from_slice(&flags.to_le_bytes());
    }
    let end = file.metadata().unwrap().len().next_multiple_of(8);
    file.write_all_at(&names, end).unwrap();
    let header = &mut headers[names_idx];
    header[4..8].copy_from_slice(&SHT_STRTAB.to_le_bytes());
    header[24..32].copy_from_slice(&end.to_le_bytes());
    header[32..40].copy_from_slice(&(names.len() as u64).to_le_bytes());
    let at = (end + names.len() as u64).next_multiple_of(8);
    file.write_all_at(&headers.concat(), at).unwrap();
    file.write_all_at(&at.to_le_bytes(), 40).unwrap();
    let n = u16::try_from(headers.len()).unwrap();
    file.write_all_at(&n.to_le_bytes(), 60).unwrap();
}

/// Appends a hole of `len` bytes to a file; returns where it begins.
pub(crate) fn append_hole(path: &Path, len: u64) -> u64 {
    let file = File::options().write(true).open(path).unwrap();
    let at = file.metadata().unwrap().len().next_multiple_of(4096);
    file.set_len(at + len).unwrap();
    at
}

/// Appends `len` zeros to a file, packed as a section is; returns where that is, and how long.
pub(crate) fn append_packed(path: &Path, unpacked: u64) -> (u64, u64) {
    const ELFCOMPRESS_ZLIB: u32 = 1;
    let mut packed = Vec::new();
    packed.extend(ELFCOMPRESS_ZLIB.to_le_bytes());
    packed.extend([0; 4]);
    packed.extend(unpacked.to_le_bytes());
    packed.extend(1u64.to_le_bytes());
    let mut packer = ZlibEncoder::new(packed, Compression::best());
    let zeros = vec![0; 1 << 20];
    for _ in 0..unpacked >> 20 {
        packer.write_all(&zeros).unwrap();
    }
    let packed = packer.finish().unwrap();
    let file = File::options().write(true).open(path).unwrap();
    let at = file.metadata().unwrap().len().next_multiple_of(8);
    file.write_all_at(&packed, at).unwrap();
    (at, packed.len() as u64)
}
