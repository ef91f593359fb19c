//! The functions of an ELF file: its symbols, as perf takes them, and its stubs.

use crate::table::{STB_GLOBAL, Symbol, Table};
use crate::wanted::Wanted;
use rprof_base::Svma;
use rprof_images::{Elf, ElfSymbol, Located, PltEntry, SymbolTable};

pub(crate) const STT_NOTYPE: u8 = 0;
pub(crate) const STT_OBJECT: u8 = 1;
pub(crate) const STT_FUNC: u8 = 2;
const STT_GNU_IFUNC: u8 = 10;
const STV_INTERNAL: u8 = 1;
const STV_HIDDEN: u8 = 2;

/// A stub under the name that perf gives it: `memcpy@plt`, and since 6.3 `.plt` for the code in front
/// of them.
#[derive(Debug)]
pub(crate) struct Stub {
    place: PltEntry,
    name: Vec<u8>,
}

/// What of an image's files can have the names of addresses: symbols and stubs.
#[derive(Debug)]
pub(crate) struct NamedCode<'l> {
    located: &'l Located,
    /// What the program has inside.
    pub(crate) mini: Option<Elf>,
    stubs: Vec<Stub>,
    /// Whether there are more stubs, where no address is.
    has_more_stubs: bool,
}

impl<'l> NamedCode<'l> {
    /// For the names of some addresses, or of all.
    pub(crate) fn open(located: &'l Located, addresses: Option<&[Option<Svma>]>) -> Self {
        let named = |mut place: PltEntry| Stub {
            name: match place.function.take() {
                Some(function) => [&function, &b"@plt"[..]].concat(),
                None => b".plt".to_vec(),
            },
            place,
        };
        let binary = &located.binary;
        let ranges = binary.stub_ranges();
        let is_in_stubs = |address: &Svma| ranges.iter().any(|range| range.contains(address));
        // To find stubs means to read all relocations.
        let stubs = match addresses {
            Some(all) if !all.iter().flatten().any(is_in_stubs) => Vec::new(),
            _ => binary.plt_entries(),
        };
        Self {
            located,
            mini: located.mini(),
            has_more_stubs: stubs.is_empty() && !ranges.is_empty(),
            stubs: stubs.into_iter().map(named).collect(),
        }
    }

    /// Those that can be the answer for some addresses. `None` if nothing at all has a name.
    pub(crate) fn table(&self, addresses: &[Option<Svma>]) -> Option<Table<'_>> {
        let mut wanted = Wanted::new(addresses);
        let see = |symbol: &Symbol<'_>| {
            wanted.see(symbol);
            false
        };
        self.for_each(see, |_| {});
        wanted.sort();
        let mut symbols: Vec<Symbol<'_>> = Vec::new();
        self.for_each(|one| wanted.takes(one), |symbol| symbols.push(symbol));
        end_at_functions(&mut symbols, &self.located.binary);
        (wanted.has_seen() || self.has_more_stubs).then(|| Table::new(symbols))
    }

    /// All of them.
    pub(crate) fn whole_table(&self) -> Option<Table<'_>> {
        let mut symbols: Vec<Symbol<'_>> = Vec::new();
        self.for_each(|_| true, |symbol| symbols.push(symbol));
        end_at_functions(&mut symbols, &self.located.binary);
        (!symbols.is_empty()).then(|| Table::new(symbols))
    }

    /// The stubs, then `.symtab` and `.dynsym`, of the debug file first: those that are wanted, which is asked while some
    /// have no names yet.
    fn for_each<'e>(
        &'e self,
        mut is_wanted: impl FnMut(&Symbol<'e>) -> bool,
        mut visit: impl FnMut(Symbol<'e>),
    ) {
        for stub in &self.stubs {
            let stub = Symbol {
                start: stub.place.address.0,
                end: stub.place.address.0.saturating_add(stub.place.size),
                has_size: true,
                name: &stub.name,
                binding: STB_GLOBAL,
                in_module: false,
            };
            if is_wanted(&stub) {
                visit(stub);
            }
        }
        let Located { debug, binary, .. } = self.located;
        // As perf reads them: where two tables say the same, the first one counts.
        for file in debug.iter().chain([binary]).chain(&self.mini) {
            for which in [SymbolTable::Static, SymbolTable::Dynamic] {
                // A damaged table names what came before the damage.
                let _ = file.for_each_wanted_entry(
                    which,
                    |symbol| is_of_code(symbol) && is_wanted(&Symbol::from_elf(symbol)),
                    |symbol| visit(Symbol::from_elf(&symbol)),
                );
            }
        }
    }
}

/// Whether perf takes a symbol for names of code.
fn is_of_code(symbol: &ElfSymbol<'_>) -> bool {
    let is_label = symbol.kind == STT_NOTYPE
        && symbol.in_code
        && !matches!(symbol.visibility, STV_INTERNAL | STV_HIDDEN);
    matches!(symbol.kind, STT_FUNC | STT_OBJECT | STT_GNU_IFUNC) || is_label
}

/// Lets symbols without a size end where unwind tables say that another function begins: of a
/// stripped library, the next symbol may be many functions away. Code without such tables, as
/// assembly may be, is its symbol's up to the next one.
fn end_at_functions(symbols: &mut [Symbol<'_>], binary: &Elf) {
    if symbols.iter().all(|symbol| symbol.has_size) {
        return;
    }
    let Some(start_after) = binary.function_starts() else {
        return;
    };
    for symbol in symbols.iter_mut().filter(|symbol| !symbol.has_size) {
        if let Some(next) = start_after(Svma(symbol.start)) {
            symbol.end = symbol.end.min(next.0);
        }
    }
}
