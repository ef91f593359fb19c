//! The separate debug file: by build id, by the name in `.gnu_debuglink`, or named as its program.

use crate::Recorded;
use crate::search_paths::SearchPaths;
use rprof_images::{Elf, file_checksum};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

impl SearchPaths {
    /// The debug file of a program. A name counts only if the build ids agree, or without build ids
    /// the checksum.
    pub(crate) fn debug_of(&self, binary: &Elf) -> Option<Elf> {
        let by_build_id = binary.build_id().and_then(|id| {
            let mut paths = self.by_build_id(id);
            paths.extend(self.by_name());
            self.first_debug(paths, |elf| elf.has_build_id(id))
        });
        by_build_id.or_else(|| self.debug_by_link(binary))
    }

    fn debug_by_link(&self, binary: &Elf) -> Option<Elf> {
        let link = binary.debug_link()?;
        let name = Path::new(OsStr::from_bytes(&link.name)).file_name()?;
        let mut paths = Vec::new();
        for program in self.names(&[binary]) {
            if let Some(dir) = program.parent() {
                paths.extend([dir.join(name), dir.join(".debug").join(name)]);
                paths.extend(self.in_debug_dir(&dir.join(name)));
            }
        }
        paths.extend(self.in_debug_dir(&self.path_beside(name)));
        self.first_debug(paths, |elf| match (binary.build_id(), elf.build_id()) {
            (Some(wanted), Some(found)) => found.matches(wanted),
            _ => file_checksum(elf.path(), &self.budget).is_ok_and(|crc| crc == link.crc),
        })
    }

    /// The debug file of a program that is gone: it has the same addresses.
    pub(crate) fn debug_only(&self, recorded: &Recorded<'_>) -> Option<Elf> {
        let id = recorded.build_id?;
        let mut paths = self.by_build_id(id);
        paths.extend(self.by_name());
        self.first_with(id, paths)
    }

    /// The first of these files that has what a debug file is for, and is the right one.
    fn first_debug(&self, paths: Vec<PathBuf>, is_it: impl Fn(&Elf) -> bool) -> Option<Elf> {
        let has_more = |elf: &Elf| {
            elf.has_section(".debug_info") || elf.has_symtab() || elf.has_section(".debug_frame")
        };
        self.open(paths).find(|elf| has_more(elf) && is_it(elf))
    }
}
