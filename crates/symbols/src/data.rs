//! Naming static data by symbols of objects.

use crate::Demangling;
use crate::functions::STT_OBJECT;
use crate::table::{Symbol, Table};
use rprof_base::Svma;
use rprof_images::{ElfSymbol, Located, SymbolTable};

/// Where an address is in what has a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedData {
    /// The name, as it is to be read.
    pub name: String,
    /// Bytes from where that begins.
    pub offset: u64,
}

/// Names addresses of static data, in their order: each by the innermost object that it is in. Objects without a size
/// may end anywhere, and name nothing; nor do thread-local ones, whose symbols say no addresses.
pub fn name_data(
    located: &Located,
    addresses: &[Svma],
    demangling: Demangling,
) -> Vec<Option<NamedData>> {
    let mut asked: Vec<u64> = addresses.iter().map(|address| address.0).collect();
    asked.sort_unstable();
    let mini = located.mini();
    let mut symbols: Vec<Symbol<'_>> = Vec::new();
    let Located { debug, binary, .. } = located;
    for file in debug.iter().chain([binary]).chain(&mini) {
        for which in [SymbolTable::Static, SymbolTable::Dynamic] {
            // A damaged table names what came before the damage.
            let _ = file.for_each_wanted_symbol(
                which,
                |symbol| is_object_with(symbol, &asked),
                |symbol| symbols.push(Symbol::from_elf(&symbol)),
            );
        }
    }
    let table = Table::new(symbols);
    if located.has_changed() {
        return vec![None; addresses.len()];
    }
    let named = addresses.iter().map(|address| {
        let symbol = table.find(address.0)?;
        Some(NamedData {
            name: demangling.of(symbol.name),
            offset: address.0.checked_sub(symbol.start)?,
        })
    });
    named.collect()
}

/// Whether a symbol is of an object that one of some addresses, sorted, is in.
fn is_object_with(symbol: &ElfSymbol<'_>, asked: &[u64]) -> bool {
    let start = symbol.address.0;
    let first = || asked.get(asked.partition_point(|&address| address < start));
    let is_asked = || first().is_some_and(|&first| first - start < symbol.size);
    symbol.kind == STT_OBJECT && symbol.size != 0 && is_asked()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn symbol(kind: u8, start: u64, size: u64) -> ElfSymbol<'static> {
        ElfSymbol {
            name: b"data",
            address: Svma(start),
            size,
            section_end: Svma(0x1000),
            kind,
            binding: 1,
            visibility: 0,
            in_code: false,
        }
    }

    #[test]
    fn only_objects_with_a_size_name_what_is_in_them() {
        const FUNC: u8 = 2;
        const TLS: u8 = 6;
        let names = |symbol, address| is_object_with(&symbol, &[8, address, 0x900]);
        let data = symbol(STT_OBJECT, 0x100, 0x28);
        assert!(names(data, 0x100) && names(data, 0x127));
        assert!(!names(data, 0xff) && !names(data, 0x128));
        assert!(!names(symbol(STT_OBJECT, 0x100, 0), 0x100));
        assert!(!names(symbol(FUNC, 0x100, 0x28), 0x100));
        assert!(!names(symbol(TLS, 0x100, 0x28), 0x100));
        assert!(!names(symbol(STT_OBJECT, u64::MAX, u64::MAX), 0x100));
    }
}
