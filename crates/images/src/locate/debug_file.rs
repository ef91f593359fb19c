//! The separate debug file: by build id, by the name in `.gnu_debuglink`, or named as its program.

use super::places::Places;
use crate::source::Source;
use crate::{Elf, Recorded};
use flate2::Crc;
use rprof_untrusted::Budget;
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
            self.first_debug(places, |elf| {
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
        self.first_debug(places, |elf| match (binary.build_id(), elf.build_id()) {
            (Some(wanted), Some(found)) => found.same(wanted),
            _ => crc_of(elf.path(), &self.budget).is_ok_and(|crc| crc == link.crc),
        })
    }

    /// What stands in for a program that is gone: a debug file has the same addresses.
    pub(super) fn instead_of(&self, recorded: &Recorded<'_>) -> Option<Elf> {
        let id = recorded.build_id?;
        let mut places = self.by_build_id(id);
        places.extend(self.by_name());
        self.first_with(id, places)
    }

    /// The first of these files that has what a debug file is for, and is the right one.
    fn first_debug(&self, places: Vec<PathBuf>, is_it: impl Fn(&Elf) -> bool) -> Option<Elf> {
        let has_more = |elf: &Elf| {
            elf.has_section(".debug_info") || elf.has_symtab() || elf.has_section(".debug_frame")
        };
        self.open(places).find(|elf| has_more(elf) && is_it(elf))
    }
}

/// CRC-32 (IEEE, reflected) of a file, as `.gnu_debuglink` has it.
fn crc_of(path: &Path, budget: &Budget) -> io::Result<u32> {
    let mut file = Source::open(path)?;
    if file.is_mostly_hole() {
        return Err(io::Error::from(io::ErrorKind::InvalidData));
    }
    let mut bytes = vec![0; 1 << 16];
    let mut crc = Crc::new();
    loop {
        let n = file.read(&mut bytes)?;
        if n == 0 {
            return Ok(crc.sum());
        }
        budget.read(n as u64).map_err(io::Error::other)?;
        crc.update(bytes.get(..n).unwrap_or_default());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_checksum_is_that_of_debuglink() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("x");
        std::fs::write(&path, b"123456789").unwrap();
        assert_eq!(crc_of(&path, &Budget::default()).unwrap(), 0xcbf4_3926);
        assert!(
            crc_of(dir.path(), &Budget::default()).is_err(),
            "a folder has none"
        );
    }
}
