//! The files of one image, open, and those that they name.

use crate::Elf;
use rprof_untrusted::Author;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// Where a file's contents are from.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct FileOrigin {
    /// The path that it was opened by.
    pub path: PathBuf,
    /// Who may have written it, as far as the open file tells.
    pub author: Author,
}

/// Origins of files, noted from any thread.
#[derive(Clone, Debug, Default)]
struct Origins(Arc<Mutex<BTreeSet<FileOrigin>>>);

impl Origins {
    fn note(&self, elf: &Elf) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.insert(elf.origin());
    }
}

/// Finds what a debug file leaves to others: what `dwz` found in several of them, and split DWARF.
pub trait LinkedFiles: std::fmt::Debug + Send + Sync {
    /// The file with what several debug files share, by this one's `.gnu_debugaltlink`.
    fn alternate(&self, dwarf: &Elf) -> Option<Elf>;

    /// Where split DWARF of these files may be.
    fn split_files(&self, files: &Located) -> Box<dyn SplitFiles>;
}

/// Finds the split DWARF of an image. What it finds has to prove by its id that it is the right one.
pub trait SplitFiles: std::fmt::Debug + Send + Sync {
    /// The package with all of it (`PROGRAM.dwp`), if there is one.
    fn package(&self) -> Option<Elf>;

    /// Files that may be one unit's (`.dwo`): where its compiler was told to put it, or beside the
    /// program.
    fn units<'s>(&'s self, folder: &Path, name: &Path) -> Box<dyn Iterator<Item = Elf> + 's>;
}

/// The files of an image.
#[derive(Debug)]
pub struct Located {
    /// The file itself; where only its debug file was found, that one (same addresses).
    pub binary: Elf,
    /// A separate file with `.symtab` and DWARF.
    pub debug: Option<Elf>,
    /// Where files that these name may be.
    linked: Option<Box<dyn LinkedFiles>>,
    /// Of those that were asked for.
    origins: Origins,
}

impl From<Elf> for Located {
    /// A file that has everything in it.
    fn from(binary: Elf) -> Self {
        Self {
            binary,
            debug: None,
            linked: None,
            origins: Origins::default(),
        }
    }
}

impl Located {
    /// With a debug file beside it.
    #[must_use]
    pub fn with_debug(self, debug: Option<Elf>) -> Self {
        Self { debug, ..self }
    }

    /// With the program itself, where only a debug file was found before.
    #[must_use]
    pub fn completed(self, binary: Elf) -> Self {
        Self {
            binary,
            debug: self.debug.or(Some(self.binary)),
            ..self
        }
    }

    /// With a way to files that these name.
    #[must_use]
    pub fn with_linked(self, linked: Box<dyn LinkedFiles>) -> Self {
        let linked = Some(linked);
        Self { linked, ..self }
    }

    /// The file itself, and its debug file.
    pub fn files(&self) -> impl Iterator<Item = &Elf> {
        std::iter::once(&self.binary).chain(&self.debug)
    }

    /// The file with what several debug files share (`.gnu_debugaltlink`, made by `dwz -m`).
    pub fn alternate(&self) -> Option<Elf> {
        let alternate = self.linked.as_ref()?.alternate(self.dwarf()?);
        alternate.inspect(|elf| self.origins.note(elf))
    }

    /// Where split DWARF may be.
    pub fn split_files(&self) -> Option<Box<dyn SplitFiles>> {
        let files = self.linked.as_ref()?.split_files(self);
        let origins = self.origins.clone();
        Some(Box::new(Noted { files, origins }))
    }

    /// Where the contents of all files are from that were asked for so far: of these, and of those that they name.
    pub fn origins(&self) -> Vec<FileOrigin> {
        let linked = self.origins.0.lock();
        let linked = linked.unwrap_or_else(PoisonError::into_inner).clone();
        self.files().map(Elf::origin).chain(linked).collect()
    }

    /// The file to take DWARF from.
    pub fn dwarf(&self) -> Option<&Elf> {
        self.files().find(|elf| elf.has_section(".debug_info"))
    }

    /// Whether only a debug file was found, not the program itself: it has no code, and does not say
    /// how stacks are unwound.
    pub fn is_debug_only(&self) -> bool {
        !self.binary.has_section(".text")
    }

    /// Whether something of the files was left out because it takes more memory than the budget had.
    pub fn is_over_budget(&self) -> bool {
        self.files().any(Elf::is_over_budget)
    }

    /// Whether one of the files was written to since it was opened: nothing that was read of them
    /// can be relied on.
    pub fn has_changed(&self) -> bool {
        self.files().any(Elf::has_changed)
    }
}

/// Split DWARF, with origins noted of what is opened.
#[derive(Debug)]
struct Noted {
    files: Box<dyn SplitFiles>,
    origins: Origins,
}

impl SplitFiles for Noted {
    fn package(&self) -> Option<Elf> {
        let package = self.files.package();
        package.inspect(|elf| self.origins.note(elf))
    }

    fn units<'s>(&'s self, folder: &Path, name: &Path) -> Box<dyn Iterator<Item = Elf> + 's> {
        let units = self.files.units(folder, name);
        Box::new(units.inspect(|elf| self.origins.note(elf)))
    }
}
