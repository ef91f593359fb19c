//! Functions of a file, under the names that people write.

use crate::{Elf, SymbolTable};
use rprof_base::Svma;

/// `STT_FUNC`, `STT_GNU_IFUNC` of the ELF specification and its GNU extensions.
const FUNC: u8 = 2;
const IFUNC: u8 = 10;

/// A symbol of a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ElfFunction<'a> {
    /// Its name, mangled, without the version (`name@@VERSION`).
    pub name: &'a str,
    /// Its address.
    pub address: Svma,
    /// Bytes; 0 if it does not say.
    pub size: u64,
    /// It is what chooses a function at start (GNU ifunc).
    pub is_indirect: bool,
}

impl Elf {
    /// Symbols of functions, in both tables: programs without debug symbols still say what others may call.
    pub fn for_each_function(&self, visit: &mut dyn FnMut(ElfFunction<'_>)) {
        for table in [SymbolTable::Static, SymbolTable::Dynamic] {
            // A table that is absent or damaged has nothing to say.
            let _ = self.for_each_wanted_symbol(
                table,
                |symbol| symbol.in_code && matches!(symbol.kind, FUNC | IFUNC),
                |symbol| {
                    let Ok(name) = std::str::from_utf8(symbol.name) else {
                        return;
                    };
                    visit(ElfFunction {
                        name: name.split('@').next().unwrap_or_default(),
                        address: symbol.address,
                        size: symbol.size,
                        is_indirect: symbol.kind == IFUNC,
                    });
                },
            );
        }
    }
}
