//! Procedure linkage: stubs that jump to functions of other libraries, or to one of several that
//! a resolver chooses (GNU ifunc). They have no symbols; the relocations of the slots that they jump
//! through say whose they are.

use crate::elf::ObjectFile;
use crate::{Elf, SymbolTable};
use object::elf::RelocationType;
use object::{Object, ObjectSymbol, ObjectSymbolTable, SymbolIndex};
use rprof_base::Svma;
use std::collections::HashMap;
use std::ops::Range;

/// One stub.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PltEntry {
    /// Its address.
    pub address: Svma,
    /// Bytes.
    pub size: u64,
    /// Name of the function that it jumps to, mangled; `None` for the code in front of the others,
    /// which calls the loader.
    pub function: Option<Vec<u8>>,
}

const STT_GNU_IFUNC: u8 = 10;

/// A stub as its code has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stub {
    pub(crate) address: Svma,
    /// Bytes.
    pub(crate) size: u64,
    /// Address of the slot that it jumps through.
    pub(crate) slot: u64,
}

/// Relocations of words, by what the loader writes there.
pub(crate) struct WordRelocations {
    /// An address of this file.
    pub(crate) relative: RelocationType,
    /// The function that a resolver in this file chooses.
    pub(crate) chosen: RelocationType,
    /// What has a name, into a slot of the global offset table.
    pub(crate) named: &'static [RelocationType],
}

/// An `Elf64_Rela`.
pub(crate) struct Relocation {
    /// What is relocated: a slot.
    pub(crate) address: u64,
    pub(crate) kind: RelocationType,
    pub(crate) symbol: usize,
    pub(crate) addend: u64,
}

impl Relocation {
    fn parse(bytes: &[u8; 24]) -> Self {
        let word = |at: usize| {
            let word = bytes.get(at..).and_then(<[u8]>::first_chunk);
            word.copied().map_or(0, u64::from_le_bytes)
        };
        let info = word(8);
        Self {
            address: word(0),
            kind: RelocationType((info & 0xffff_ffff) as u32),
            symbol: usize::try_from(info >> 32).unwrap_or(usize::MAX),
            addend: word(16),
        }
    }
}

/// Where linkers put stubs.
pub(crate) const SECTIONS: [&str; 3] = [".plt", ".plt.got", ".plt.sec"];

impl Elf {
    /// Where stubs may be.
    pub fn stub_ranges(&self) -> Vec<Range<Svma>> {
        let ranges = SECTIONS.iter();
        ranges
            .filter_map(|section| self.section_range(section))
            .collect()
    }

    pub(crate) fn relocations(&self, section: &str) -> Vec<Relocation> {
        let mut all = Vec::new();
        self.for_each_relocation(section, |one| all.push(one));
        all
    }

    fn for_each_relocation(&self, section: &str, visit: impl FnMut(Relocation)) {
        let bytes = self.section(section).unwrap_or_default();
        let (all, _) = bytes.as_chunks::<24>();
        all.iter().map(Relocation::parse).for_each(visit);
    }

    /// The stubs whose slots are relocated to functions. `header` is the code in front that calls the loader.
    pub(crate) fn stubs_by_slot(
        &self,
        header: Option<PltEntry>,
        stubs: Vec<Stub>,
    ) -> Vec<PltEntry> {
        let kinds = self.word_relocations().filter(|_| !stubs.is_empty());
        let Some(kinds) = kinds else {
            return header.into_iter().collect();
        };
        let wanted = stubs.iter().map(|stub| (stub.slot, None));
        let mut slots: HashMap<u64, Option<Relocation>> = wanted.collect();
        for section in [".rela.dyn", ".rela.plt"] {
            // Of a large library, most of a million relocations are of data.
            self.for_each_relocation(section, |one| {
                if (kinds.named.contains(&one.kind) || one.kind == kinds.chosen)
                    && let Some(slot) = slots.get_mut(&one.address)
                {
                    *slot = Some(one);
                }
            });
        }
        let mut known = slots.values().flatten();
        let has_chosen = known.any(|one| one.kind == kinds.chosen);
        let chosen = if has_chosen {
            self.chosen_at_start()
        } else {
            HashMap::new()
        };
        // Opened once: a library may have thousands of stubs.
        let file = self.object().ok();
        let name = |slot: u64| match slots.get(&slot)?.as_ref()? {
            one if one.kind == kinds.chosen => Some(match chosen.get(&one.addend) {
                Some(name) => name.clone(),
                // As objdump calls it.
                None => format!("*ABS*+{:#x}", one.addend).into_bytes(),
            }),
            one => dynamic_name(file.as_ref()?, one.symbol),
        };
        let entries = stubs.into_iter().filter_map(|stub| {
            Some(PltEntry {
                address: stub.address,
                size: stub.size,
                function: Some(name(stub.slot)?),
            })
        });
        let mut entries: Vec<PltEntry> = header.into_iter().chain(entries).collect();
        entries.sort_by_key(|entry| entry.address);
        entries
    }

    /// Names of functions that a resolver chooses, by the resolver's address.
    fn chosen_at_start(&self) -> HashMap<u64, Vec<u8>> {
        let mut names = HashMap::new();
        for table in [SymbolTable::Static, SymbolTable::Dynamic] {
            // What comes before damage counts.
            let _ = self.for_each_wanted_symbol(
                table,
                |symbol| symbol.kind == STT_GNU_IFUNC,
                |symbol| {
                    let name = || symbol.name.to_vec();
                    names.entry(symbol.address.0).or_insert_with(name);
                },
            );
        }
        names
    }
}

/// Name of a symbol in `.dynsym`.
pub(crate) fn dynamic_name(file: &ObjectFile<'_>, index: usize) -> Option<Vec<u8>> {
    let symbols = file.dynamic_symbol_table()?;
    let symbol = symbols.symbol_by_index(SymbolIndex(index)).ok()?;
    let name = symbol.name_bytes().ok().filter(|name| !name.is_empty())?;
    Some(name.to_vec())
}

impl PltEntry {
    /// The code in front of the others.
    pub(crate) fn header(address: Svma, size: u64) -> Self {
        Self {
            address,
            size,
            function: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    #[test]
    fn a_shell_calls_other_libraries_through_stubs() {
        let elf = Elf::open(Path::new("/bin/sh"), &rprof_untrusted::Budget::default()).unwrap();
        let entries = elf.plt_entries();
        // Some systems link everything without stubs.
        if elf.has_section(".rela.plt") && elf.has_section(".plt") {
            let named =
                |entry: &PltEntry| entry.function.as_ref().is_none_or(|name| !name.is_empty());
            assert!(entries.iter().all(named));
            assert!(
                entries
                    .windows(2)
                    .all(|pair| pair[0].address < pair[1].address)
            );
        }
    }
}
