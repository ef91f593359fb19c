//! The functions of an ELF file: its symbols, as perf takes them, and its stubs.

use crate::table::{Entry, STB_GLOBAL, Table};
use crate::wanted::Wanted;
use rprof_base::Svma;
use rprof_images::{Elf, ElfSymbol, Located, PltEntry, SymbolTable};

pub(crate) const STT_NOTYPE: u8 = 0;
const STT_OBJECT: u8 = 1;
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

/// All stubs.
pub(crate) fn stubs_of(binary: &Elf) -> Vec<Stub> {
    let named = |mut place: PltEntry| Stub {
        name: match place.function.take() {
            Some(function) => [&function, &b"@plt"[..]].concat(),
            None => b".plt".to_vec(),
        },
        place,
    };
    binary.plt_entries().into_iter().map(named).collect()
}

/// What can have the names of addresses: symbols and stubs. `None` if there are none at all.
pub(crate) fn table_of<'e>(
    located: &'e Located,
    mini: Option<&'e Elf>,
    stubs: &'e [Stub],
    addresses: &[Option<Svma>],
) -> Option<Table<'e>> {
    let mut wanted = Wanted::new(addresses);
    for_each_entry(located, mini, stubs, |entry| wanted.see(&entry));
    wanted.sort();
    let mut entries: Vec<Entry<'e>> = Vec::new();
    for_each_entry(located, mini, stubs, |entry| {
        entries.extend(Some(entry).filter(|entry| wanted.takes(entry)));
    });
    end_at_functions(&mut entries, &located.binary);
    wanted.has_seen().then(|| Table::new(entries))
}

/// The same with all that have names.
pub(crate) fn whole_table_of<'e>(
    located: &'e Located,
    mini: Option<&'e Elf>,
    stubs: &'e [Stub],
) -> Option<Table<'e>> {
    let mut entries: Vec<Entry<'e>> = Vec::new();
    for_each_entry(located, mini, stubs, |entry| entries.push(entry));
    end_at_functions(&mut entries, &located.binary);
    (!entries.is_empty()).then(|| Table::new(entries))
}

/// Everything that has a name: the stubs, then `.symtab` and `.dynsym`, of the debug file first, and
/// what the program has inside (`mini`).
fn for_each_entry<'e>(
    located: &'e Located,
    mini: Option<&'e Elf>,
    stubs: &'e [Stub],
    mut visit: impl FnMut(Entry<'e>),
) {
    for stub in stubs {
        visit(Entry {
            start: stub.place.address.0,
            end: stub.place.address.0.saturating_add(stub.place.size),
            has_size: true,
            name: &stub.name,
            binding: STB_GLOBAL,
            in_module: false,
        });
    }
    // As perf reads them: where two tables say the same, the first one counts.
    let files = located.debug.iter().chain([&located.binary]).chain(mini);
    for file in files {
        for which in [SymbolTable::Static, SymbolTable::Dynamic] {
            // A damaged table names what came before the damage.
            let _ = file.for_each_symbol(which, |symbol| {
                entry(&symbol).into_iter().for_each(&mut visit);
            });
        }
    }
}

/// A symbol as perf takes it, if it does.
fn entry<'e>(symbol: &ElfSymbol<'e>) -> Option<Entry<'e>> {
    let is_label = symbol.kind == STT_NOTYPE
        && symbol.in_code
        && !matches!(symbol.visibility, STV_INTERNAL | STV_HIDDEN);
    if !matches!(symbol.kind, STT_FUNC | STT_OBJECT | STT_GNU_IFUNC) && !is_label {
        return None;
    }
    Some(Entry::of(symbol))
}

/// Lets symbols without a size end where unwind tables say that another function begins: of a
/// stripped library, the next symbol may be many functions away. Code without such tables, as
/// assembly may be, is its symbol's up to the next one.
fn end_at_functions(entries: &mut [Entry<'_>], binary: &Elf) {
    if entries.iter().all(|entry| entry.has_size) {
        return;
    }
    let Some(start_after) = binary.function_starts() else {
        return;
    };
    for entry in entries.iter_mut().filter(|entry| !entry.has_size) {
        if let Some(next) = start_after(Svma(entry.start)) {
            entry.end = entry.end.min(next.0);
        }
    }
}
