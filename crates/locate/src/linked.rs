//! What a debug file leaves to others: what `dwz` found in several of them, and split DWARF.

use crate::search_paths::{SearchPaths, appended};
use rprof_images::{Elf, LinkedFiles, Located, SplitFiles};
use std::path::{Path, PathBuf};

impl LinkedFiles for SearchPaths {
    fn alternate(&self, dwarf: &Elf) -> Option<Elf> {
        let (name, id) = dwarf.alternate_link()?;
        let mut paths = Vec::new();
        if name.is_absolute() {
            paths.extend(self.under(&name));
        } else {
            // Links in .build-id lead to the file that the name is relative to.
            let real = std::fs::canonicalize(dwarf.path()).ok();
            let files = [Some(dwarf.path().to_owned()), real].into_iter().flatten();
            paths.extend(files.filter_map(|file| Some(file.parent()?.join(&name))));
        }
        // Behind `.dwz` there may be a folder for the machine.
        let mut parts = name.components();
        let below = parts.by_ref().find(|part| part.as_os_str() == ".dwz");
        let below = below.map(|_| Path::new(".dwz").join(parts.as_path()));
        let plain = name.file_name().map(|name| Path::new(".dwz").join(name));
        for name in [below, plain].into_iter().flatten() {
            paths.extend(self.in_debug_dir(&name));
        }
        paths.extend(self.by_build_id(&id));
        self.first_with(&id, paths)
    }

    fn split_files(&self, files: &Located) -> Box<dyn SplitFiles> {
        let found: Vec<&Elf> = files.files().collect();
        let names = self.names(&found);
        let mut packages: Vec<PathBuf> = Vec::new();
        for name in &names {
            packages.push(appended(name, ".dwp"));
            if name.extension().is_some_and(|ending| ending == "debug") {
                packages.push(name.with_extension("dwp"));
            }
        }
        if let Some(id) = files.binary.build_id() {
            packages.extend(self.packages(id));
        }
        let dirs = names.iter().filter_map(|name| name.parent());
        let mut folders: Vec<PathBuf> = dirs.map(Path::to_owned).collect();
        folders.dedup();
        Box::new(SplitDwarf {
            packages,
            folders,
            paths: self.clone(),
        })
    }
}

/// Where the split DWARF of an image may be.
#[derive(Debug)]
struct SplitDwarf {
    packages: Vec<PathBuf>,
    folders: Vec<PathBuf>,
    paths: SearchPaths,
}

impl SplitFiles for SplitDwarf {
    fn package(&self) -> Option<Elf> {
        let mut open = self.paths.open(self.packages.clone());
        open.find(|elf| elf.has_section(".debug_info.dwo"))
    }

    fn units<'s>(&'s self, folder: &Path, name: &Path) -> Box<dyn Iterator<Item = Elf> + 's> {
        let as_compiled = self.paths.under(&folder.join(name));
        let beside = self.folders.iter().flat_map(|folder| {
            let last = name.file_name().map(|last| folder.join(last));
            [Some(folder.join(name)), last].into_iter().flatten()
        });
        let paths: Vec<PathBuf> = as_compiled.into_iter().chain(beside).collect();
        let open = self.paths.open(paths);
        Box::new(open.filter(|elf| elf.has_section(".debug_info.dwo")))
    }
}
