//! Split DWARF: units that are described in files of their own (`.dwo`), or together in a package
//! (`.dwp`). A program has only their lines, and an id for each.

use crate::dwarf::Slice;
use addr2line::{LookupContinuation, LookupResult, SplitDwarfLoad};
use gimli::{
    Dwarf, DwarfPackageSections, DwarfSections, DwoId, EndianSlice, RunTimeEndian, SectionId,
};
use rprof_images::{Elf, SplitFiles};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::{Arc, OnceLock};

/// The split DWARF of one image, read unit by unit as addresses lead there, by any thread.
#[derive(Debug)]
pub(crate) struct Split {
    files: SplitFiles,
    endian: RunTimeEndian,
    package: OnceLock<Option<DwarfPackageSections<Vec<u8>>>>,
    units: OnceLock<Box<Unit>>,
}

/// A unit that was looked for, and the one that was looked for next: what is read stays where it is
/// for as long as names are found in it.
#[derive(Debug)]
struct Unit {
    id: DwoId,
    sections: Option<DwarfSections<Vec<u8>>>,
    next: OnceLock<Box<Self>>,
}

impl Split {
    pub(crate) fn new(files: SplitFiles, endian: RunTimeEndian) -> Self {
        Self {
            files,
            endian,
            package: OnceLock::new(),
            units: OnceLock::new(),
        }
    }

    /// What a look-up leads to, with all that it asks for on its way.
    pub(crate) fn resolve<'a, L>(&'a self, mut result: LookupResult<L>) -> L::Output
    where
        L: LookupContinuation<Buf = Slice<'a>>,
    {
        loop {
            result = match result {
                LookupResult::Output(output) => return output,
                LookupResult::Load { load, continuation } => {
                    continuation.resume(self.load(&load).map(Arc::new))
                }
            };
        }
    }

    fn load<'a>(&'a self, load: &SplitDwarfLoad<Slice<'a>>) -> Option<Dwarf<Slice<'a>>> {
        let slice = |bytes: &'a Vec<u8>| EndianSlice::new(bytes, self.endian);
        if let Some(package) = self.package.get_or_init(|| self.read_package()) {
            let empty = EndianSlice::new(&[], self.endian);
            let package = package.borrow(slice, empty).ok();
            let unit = package.and_then(|package| package.find_cu(load.dwo_id, &load.parent).ok());
            if let Some(unit) = unit.flatten() {
                return Some(unit);
            }
        }
        let mut dwarf = self.unit(load)?.borrow(slice);
        dwarf.make_dwo(&load.parent);
        Some(dwarf)
    }

    fn read_package(&self) -> Option<DwarfPackageSections<Vec<u8>>> {
        let elf = self.files.package()?;
        DwarfPackageSections::load(|id| read(&elf, id)).ok()
    }

    /// The sections of one unit's own file.
    fn unit<'a>(&'a self, load: &SplitDwarfLoad<Slice<'a>>) -> Option<&'a DwarfSections<Vec<u8>>> {
        let mut at = &self.units;
        loop {
            let unit = at.get_or_init(|| {
                Box::new(Unit {
                    id: load.dwo_id,
                    sections: self.read_unit(load),
                    next: OnceLock::new(),
                })
            });
            if unit.id == load.dwo_id {
                return unit.sections.as_ref();
            }
            at = &unit.next;
        }
    }

    fn read_unit(&self, load: &SplitDwarfLoad<Slice<'_>>) -> Option<DwarfSections<Vec<u8>>> {
        fn path<'p>(text: &Slice<'p>) -> &'p Path {
            Path::new(OsStr::from_bytes(text.slice()))
        }
        let name = path(load.path.as_ref()?);
        let folder = load.comp_dir.as_ref().map_or(Path::new(""), path);
        self.files.units(folder, name).find_map(|elf| {
            let sections = DwarfSections::load(|id| read(&elf, id)).ok()?;
            let is_it = self.id_of(&sections, &load.parent) == Some(load.dwo_id);
            is_it.then_some(sections)
        })
    }

    /// The id of the unit that a file has.
    fn id_of(&self, sections: &DwarfSections<Vec<u8>>, parent: &Dwarf<Slice<'_>>) -> Option<DwoId> {
        let mut dwarf = sections.borrow(|bytes| EndianSlice::new(bytes, self.endian));
        dwarf.make_dwo(parent);
        let header = dwarf.units().next().ok()??;
        dwarf.unit(header).ok()?.dwo_id
    }
}

/// A section of such a file; what is absent or damaged is empty.
fn read(elf: &Elf, id: SectionId) -> Result<Vec<u8>, gimli::Error> {
    let section = id.dwo_name().and_then(|name| elf.section(name));
    Ok(section
        .map(std::borrow::Cow::into_owned)
        .unwrap_or_default())
}
