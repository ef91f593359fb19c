//! What a debug file leaves to others: what `dwz` found in several of them, and split DWARF.

use super::Located;
use super::places::appended;
use crate::Elf;
use std::path::{Path, PathBuf};

impl Located {
    /// The file with what several debug files share (`.gnu_debugaltlink`, made by `dwz -m`).
    pub fn alternate(&self) -> Option<Elf> {
        let dwarf = self.dwarf()?;
        let (name, id) = dwarf.alternate_link()?;
        let mut places = Vec::new();
        if name.is_absolute() {
            places.extend(self.places.under(&name));
        } else {
            // Links in .build-id lead to the file that the name is relative to.
            let real = std::fs::canonicalize(dwarf.path()).ok();
            let files = [Some(dwarf.path().to_owned()), real].into_iter().flatten();
            places.extend(files.filter_map(|file| Some(file.parent()?.join(&name))));
        }
        // Behind `.dwz` there may be a folder for the machine.
        let mut parts = name.components();
        let below = parts.by_ref().find(|part| part.as_os_str() == ".dwz");
        let below = below.map(|_| Path::new(".dwz").join(parts.as_path()));
        let plain = name.file_name().map(|name| Path::new(".dwz").join(name));
        for name in [below, plain].into_iter().flatten() {
            places.extend(self.places.in_debug_dir(&name));
        }
        places.extend(self.places.by_build_id(&id));
        self.places.first_with(&id, places)
    }

    /// Where split DWARF may be.
    pub fn split_files(&self) -> SplitFiles {
        let found: Vec<&Elf> = [Some(&self.binary), self.debug.as_ref()]
            .into_iter()
            .flatten()
            .collect();
        let names = self.places.names(&found);
        let mut packages: Vec<PathBuf> = Vec::new();
        for name in &names {
            packages.push(appended(name, ".dwp"));
            if name.extension().is_some_and(|ending| ending == "debug") {
                packages.push(name.with_extension("dwp"));
            }
        }
        if let Some(id) = self.binary.build_id() {
            packages.extend(self.places.packages(id));
        }
        let dirs = names.iter().filter_map(|name| name.parent());
        let mut folders: Vec<PathBuf> = dirs.map(Path::to_owned).collect();
        folders.dedup();
        SplitFiles {
            packages,
            folders,
            places: self.places.clone(),
        }
    }
}

/// Where the split DWARF of an image may be. What is found there has to prove by its id that it is
/// the right one.
#[derive(Clone, Debug, Default)]
pub struct SplitFiles {
    packages: Vec<PathBuf>,
    folders: Vec<PathBuf>,
    places: super::places::Places,
}

impl SplitFiles {
    /// The package with all of it (`PROGRAM.dwp`), if there is one.
    pub fn package(&self) -> Option<Elf> {
        let mut open = self.places.open(self.packages.clone());
        open.find(|elf| elf.has_section(".debug_info.dwo"))
    }

    /// Files that may be one unit's (`.dwo`): where its compiler was told to put it, or beside the
    /// program.
    pub fn units<'s>(&'s self, folder: &Path, name: &Path) -> impl Iterator<Item = Elf> + 's {
        let as_compiled = self.places.under(&folder.join(name));
        let beside = self.folders.iter().flat_map(|folder| {
            let last = name.file_name().map(|last| folder.join(last));
            [Some(folder.join(name)), last].into_iter().flatten()
        });
        let places: Vec<PathBuf> = as_compiled.into_iter().chain(beside).collect();
        let open = self.places.open(places);
        open.filter(|elf| elf.has_section(".debug_info.dwo"))
    }
}
