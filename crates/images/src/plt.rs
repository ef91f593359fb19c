//! Procedure linkage: stubs that jump to functions of other libraries. They have no symbols; the
//! relocations of their slots say whose they are.

use crate::{Elf, Svma};
use object::{Object, ObjectSection, ObjectSymbol, ObjectSymbolTable, SymbolIndex};

/// One stub.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PltEntry {
    /// Its address.
    pub address: Svma,
    /// Bytes.
    pub size: u64,
    /// Name of the function that it jumps to, mangled.
    pub function: Vec<u8>,
}

/// Bytes of a stub, on x86-64 and on aarch64.
const ENTRY: u64 = 16;

impl Elf {
    /// The stubs, in the order of their slots. None for architectures whose layout is not known
    /// here, or if a table is damaged.
    pub fn plt_entries(&self) -> Vec<PltEntry> {
        self.read_plt().unwrap_or_default()
    }

    fn read_plt(&self) -> Option<Vec<PltEntry>> {
        let file = self.object().ok()?;
        // Before the stubs of .plt stands code that calls the loader; .plt.sec has none of it.
        let header = match (file.architecture(), file.is_little_endian()) {
            (object::Architecture::X86_64, true) => ENTRY,
            (object::Architecture::Aarch64, true) => 2 * ENTRY,
            _ => return None,
        };
        let (stubs, header) = match file.section_by_name(".plt.sec") {
            Some(section) => (section, 0),
            None => (file.section_by_name(".plt")?, header),
        };
        let first = stubs.address().checked_add(header)?;
        let end = stubs.address().checked_add(stubs.size())?;
        let slots = self.section(".rela.plt")?;
        let symbols = file.dynamic_symbol_table()?;
        let addresses = (first..end).step_by(16);
        let (slots, _) = slots.as_chunks::<24>();
        let entries = addresses.zip(slots).filter_map(|(address, slot)| {
            // Elf64_Rela: offset, info (its upper half the symbol), addend.
            let index = u32::from_le_bytes(*slot.get(12..)?.first_chunk()?);
            let symbol = symbols.symbol_by_index(SymbolIndex(index as usize)).ok()?;
            let function = symbol.name_bytes().ok().filter(|name| !name.is_empty())?;
            Some(PltEntry {
                address: Svma(address),
                size: ENTRY,
                function: function.to_vec(),
            })
        });
        Some(entries.collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    #[test]
    fn a_shell_calls_other_libraries_through_stubs() {
        let elf = Elf::open(Path::new("/bin/sh")).unwrap();
        let entries = elf.plt_entries();
        // Some systems link everything without stubs.
        if elf.has_section(".rela.plt") && elf.has_section(".plt") {
            assert!(entries.iter().all(|entry| !entry.function.is_empty()));
            assert!(
                entries
                    .windows(2)
                    .all(|pair| pair[0].address < pair[1].address)
            );
        }
    }
}
