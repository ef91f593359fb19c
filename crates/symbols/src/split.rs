//! Split DWARF: units that are described in files of their own (`.dwo`), or together in a package
//! (`.dwp`). A program has only their lines, and an id for each.

use crate::dwarf::{Slice, read};
use addr2line::{LookupContinuation, LookupResult, SplitDwarfLoad};
use gimli::{Dwarf, DwarfPackageSections, DwarfSections, DwoId, RunTimeEndian};
use rprof_images::{Elf, SectionBytes, SplitFiles};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

/// The split DWARF of one image, read unit by unit as addresses lead there, by any thread.
#[derive(Debug)]
pub(crate) struct Split {
    files: Option<Box<dyn SplitFiles>>,
    endian: RunTimeEndian,
    package: OnceLock<Option<DwarfPackageSections<SectionBytes>>>,
    units: Units<DwarfSections<SectionBytes>>,
    is_over_budget: AtomicBool,
}

/// Units that were looked for: what is read stays where it is for as long as names are found in
/// it. Each leads on to the next by two bits of their ids, so that no way is longer than an id,
/// however many they are.
#[derive(Debug)]
struct Units<T>(OnceLock<Box<Unit<T>>>);

#[derive(Debug)]
struct Unit<T> {
    id: DwoId,
    found: Option<Box<T>>,
    next: [OnceLock<Box<Self>>; 4],
}

impl<T> Units<T> {
    /// The unit with this id, which is looked for once.
    fn get(&self, id: DwoId, look: impl Fn() -> Option<T>) -> Option<&T> {
        let mut at = &self.0;
        let mut bits = id.0;
        loop {
            let unit = at.get_or_init(|| {
                Box::new(Unit {
                    id,
                    found: look().map(Box::new),
                    next: Default::default(),
                })
            });
            if unit.id == id {
                return unit.found.as_deref();
            }
            let [zero, one, two, three] = &unit.next;
            at = match bits & 3 {
                0 => zero,
                1 => one,
                2 => two,
                _ => three,
            };
            bits >>= 2;
        }
    }
}

impl Split {
    pub(crate) fn new(files: Option<Box<dyn SplitFiles>>, endian: RunTimeEndian) -> Self {
        Self {
            files,
            endian,
            package: OnceLock::new(),
            units: Units(OnceLock::new()),
            is_over_budget: AtomicBool::new(false),
        }
    }

    /// Byte order of the units.
    pub(crate) fn endian(&self) -> RunTimeEndian {
        self.endian
    }

    /// Whether something was left out because it did not fit into the budget.
    pub(crate) fn is_over_budget(&self) -> bool {
        self.is_over_budget.load(Ordering::Relaxed)
    }

    fn note(&self, elf: &Elf) {
        self.is_over_budget
            .fetch_or(elf.is_over_budget(), Ordering::Relaxed);
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
        let slice = |bytes: &'a SectionBytes| Slice::new(bytes, self.endian);
        if let Some(package) = self.package.get_or_init(|| self.read_package()) {
            let empty = Slice::new(&[], self.endian);
            let package = package.borrow(slice, empty).ok();
            let unit = package.and_then(|package| package.find_cu(load.dwo_id, &load.parent).ok());
            if let Some(unit) = unit.flatten() {
                return Some(unit);
            }
        }
        let unit = self.units.get(load.dwo_id, || self.read_unit(load));
        let mut dwarf = unit?.borrow(slice);
        dwarf.make_dwo(&load.parent);
        Some(dwarf)
    }

    fn read_package(&self) -> Option<DwarfPackageSections<SectionBytes>> {
        let elf = self.files.as_ref()?.package()?;
        let sections = DwarfPackageSections::load(|id| read(&elf, id.dwo_name())).ok();
        self.note(&elf);
        sections
    }

    /// The sections of one unit's own file.
    fn read_unit(&self, load: &SplitDwarfLoad<Slice<'_>>) -> Option<DwarfSections<SectionBytes>> {
        fn path<'p>(text: &Slice<'p>) -> &'p Path {
            Path::new(OsStr::from_bytes(text.slice()))
        }
        let name = path(load.path.as_ref()?);
        let folder = load.comp_dir.as_ref().map_or(Path::new(""), path);
        let mut units = self.files.as_ref()?.units(folder, name);
        units.find_map(|elf| {
            let sections = DwarfSections::load(|id| read(&elf, id.dwo_name())).ok()?;
            self.note(&elf);
            let is_it = self.id_of(&sections, &load.parent) == Some(load.dwo_id);
            is_it.then_some(sections)
        })
    }

    /// The id of the unit that a file has.
    fn id_of(
        &self,
        sections: &DwarfSections<SectionBytes>,
        parent: &Dwarf<Slice<'_>>,
    ) -> Option<DwoId> {
        let mut dwarf = sections.borrow(|bytes| Slice::new(bytes, self.endian));
        dwarf.make_dwo(parent);
        let header = dwarf.units().next().ok()??;
        dwarf.unit(header).ok()?.dwo_id
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    #[test]
    fn very_many_units_are_found_and_dropped_on_a_small_stack() {
        let small = std::thread::Builder::new().stack_size(128 << 10);
        let asked = small.spawn(|| {
            let units = Units(OnceLock::new());
            let n_looked = Cell::new(0);
            let all = (0..20_000).flat_map(|n: u64| [n, n.reverse_bits(), n << 20]);
            let look = |id: u64| {
                let looked_up = units.get(DwoId(id), || {
                    n_looked.set(n_looked.get() + 1);
                    (id & 1 == 0).then_some(id)
                });
                assert_eq!(looked_up.copied(), (id & 1 == 0).then_some(id));
            };
            all.clone().chain(all.clone()).for_each(look);
            let distinct: std::collections::BTreeSet<u64> = all.collect();
            assert_eq!(n_looked.get(), distinct.len());
        });
        asked.unwrap().join().unwrap();
    }
}
