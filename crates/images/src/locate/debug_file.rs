//! The separate debug file: by build id, by the name in `.gnu_debuglink`, or named as its program.

use super::places::{Places, first_with};
use crate::source::Source;
use crate::{Elf, Recorded};
use std::ffi::OsStr;
use std::io::{self, Read};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

impl Places {
    /// The debug file of a program. A name counts only if the build ids agree, or without build ids
    /// the checksum.
    pub(super) fn debug_of(&self, binary: &Elf) -> Option<Elf> {
        let by_build_id = binary.build_id().and_then(|id| {
            let mut places = self.by_build_id(id);
            places.extend(self.by_name());
            first_debug(places, |elf| {
                elf.build_id().is_some_and(|found| found.same(id))
            })
        });
        by_build_id.or_else(|| self.debug_by_link(binary))
    }

    fn debug_by_link(&self, binary: &Elf) -> Option<Elf> {
        let link = binary.debug_link()?;
        let name = Path::new(OsStr::from_bytes(&link.name)).file_name()?;
        let mut places = Vec::new();
        for program in self.names(&[binary]) {
            if let Some(dir) = program.parent() {
                places.extend([dir.join(name), dir.join(".debug").join(name)]);
                places.extend(self.in_debug_dir(&dir.join(name)));
            }
        }
        places.extend(self.in_debug_dir(&self.path_beside(name)));
        first_debug(places, |elf| match (binary.build_id(), elf.build_id()) {
            (Some(wanted), Some(found)) => found.same(wanted),
            _ => crc_of(elf.path()).is_ok_and(|crc| crc == link.crc),
        })
    }

    /// What stands in for a program that is gone: a debug file has the same addresses.
    pub(super) fn instead_of(&self, recorded: &Recorded<'_>) -> Option<Elf> {
        let id = recorded.build_id?;
        let mut places = self.by_build_id(id);
        places.extend(self.by_name());
        first_with(id, places)
    }
}

/// The first of these files that has what a debug file is for, and is the right one.
fn first_debug(places: Vec<PathBuf>, is_it: impl Fn(&Elf) -> bool) -> Option<Elf> {
    let has_more = |elf: &Elf| {
        elf.has_section(".debug_info") || elf.has_symtab() || elf.has_section(".debug_frame")
    };
    let mut open = places.into_iter().filter_map(|path| Elf::open(&path).ok());
    open.find(|elf| has_more(elf) && is_it(elf))
}

/// CRC-32 (IEEE, reflected) of a file, as `.gnu_debuglink` has it.
fn crc_of(path: &Path) -> io::Result<u32> {
    let mut file = Source::open(path)?;
    let mut bytes = vec![0; 1 << 16];
    let mut crc = u32::MAX;
    loop {
        let n = file.read(&mut bytes)?;
        if n == 0 {
            return Ok(!crc);
        }
        for &byte in bytes.get(..n).unwrap_or_default() {
            let low = (crc ^ u32::from(byte)) & 0xff;
            crc = crc >> 8 ^ CRC[low as usize];
        }
    }
}

/// What each byte adds.
const CRC: [u32; 256] = {
    let mut table = [0; 256];
    let mut byte = 0u32;
    while byte < 256 {
        let mut crc = byte;
        let mut bit = 0;
        while bit < 8 {
            crc = crc >> 1 ^ (if crc & 1 == 1 { 0xedb8_8320 } else { 0 });
            bit += 1;
        }
        table[byte as usize] = crc;
        byte += 1;
    }
    table
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_checksum_is_that_of_debuglink() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("x");
        std::fs::write(&path, b"123456789").unwrap();
        assert_eq!(crc_of(&path).unwrap(), 0xcbf4_3926);
        assert!(crc_of(dir.path()).is_err(), "a folder has none");
    }
}
