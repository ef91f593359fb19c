//! Naming addresses of a user-space image.

use crate::batch::Batch;
use crate::chain::Outermost;
use crate::function_index::FunctionIndex;
use crate::functions::NamedCode;
use crate::nameless::add_function_starts;
use crate::symbolized::Symbolized;
use crate::table::Table;
use crate::{Demangling, Reason, dwarf, go};
use rprof_base::{FileOffset, Svma};
use rprof_images::{Elf, GoTable, Located};

/// How much to find out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Detail {
    /// Only the function.
    Functions,
    /// Inlined functions, too.
    Inlines,
    /// Inlined functions and source lines.
    Lines,
}

/// What is asked of a batch, and what it may take.
#[derive(Clone, Copy, Debug)]
pub struct Request {
    /// How much to find out.
    pub detail: Detail,
    /// How names are to read.
    pub demangling: Demangling,
    /// Where functions without names begin, too, as FDEs have it.
    pub fde: bool,
    /// All functions of the image, too ([`Symbolized::take_index`]), if they alone are asked for.
    pub index: bool,
    /// Threads that may work on one batch.
    pub n_threads: usize,
}

impl Default for Request {
    fn default() -> Self {
        Self {
            detail: Detail::Functions,
            demangling: Demangling::default(),
            fde: false,
            index: false,
            n_threads: 1,
        }
    }
}

/// Names places in a file, which should be sorted: for each the function by the symbol table and,
/// if asked, what was inlined there by DWARF.
///
/// # Errors
/// [`Reason::Stripped`] if the file has neither symbols nor DWARF, and functions without names are not
/// asked for.
pub fn symbolize_user(
    located: &Located,
    offsets: &[FileOffset],
    request: Request,
) -> Result<Symbolized, Reason> {
    let named = name_places(located, offsets, request);
    if !request.fde {
        return named;
    }
    // What names were made of is not in memory any more.
    let mut symbolized = match named {
        Err(Reason::Stripped) => Symbolized::unnamed(Reason::Stripped),
        other => other?,
    };
    add_function_starts(located, offsets, &mut symbolized);
    if located.has_changed() {
        return Err(Reason::NoFile(rprof_images::NoFile::BeingWritten));
    }
    Ok(symbolized)
}

/// Names addresses of a file, code or data, by symbols and stubs alone; they need not be in the file (`.bss`).
pub fn name_addresses(located: &Located, addresses: &[Svma], demangling: Demangling) -> Symbolized {
    let addresses: Vec<Option<Svma>> = addresses.iter().copied().map(Some).collect();
    let code = NamedCode::open(located, Some(&addresses));
    let table = code.table(&addresses).unwrap_or_default();
    let sources = Sources {
        table: &table,
        go: None,
        detail: Detail::Functions,
    };
    Batch::join(sources.name_all(None, &addresses, 1), demangling, 1)
}

/// Names what has a name.
fn name_places(
    located: &Located,
    offsets: &[FileOffset],
    request: Request,
) -> Result<Symbolized, Reason> {
    let dwarf = packed_dwarf(located, request.detail);
    let binary = &located.binary;
    let addresses: Vec<_> = offsets.iter().map(|&one| binary.svma(one)).collect();
    let wants_index = request.index && request.detail == Detail::Functions;
    let code = NamedCode::open(located, Some(&addresses[..]).filter(|_| !wants_index));
    let read_table = || {
        if wants_index {
            code.whole_table()
        } else {
            code.table(&addresses)
        }
    };
    let (sections, table) = dwarf::unpack(dwarf, request.n_threads, read_table);
    let sections = sections.as_ref();
    let has_dwarf = located.dwarf().is_some();
    let go = (!has_dwarf).then(|| GoTable::of(binary)).flatten();
    let is_dwarf_over = || sections.is_some_and(dwarf::Sections::is_over_budget);
    let is_over_budget = || located.is_over_budget() || is_dwarf_over();
    if table.is_none() && !has_dwarf && go.is_none() {
        return Err(if is_over_budget() {
            Reason::OverBudget
        } else {
            Reason::Stripped
        });
    }
    let table = table.unwrap_or_default();
    let sources = Sources {
        table: &table,
        go: go.as_ref(),
        detail: request.detail,
    };
    let shares = sources.name_all(sections, &addresses, request.n_threads);
    if located.has_changed() {
        return Err(Reason::NoFile(rprof_images::NoFile::BeingWritten));
    }
    let mut symbolized = Batch::join(shares, request.demangling, request.n_threads);
    let is_mini_over = code.mini.as_ref().is_some_and(Elf::is_over_budget);
    symbolized.note_over_budget(is_over_budget() || is_mini_over);
    if wants_index && go.is_none() {
        symbolized.set_index(index_of(binary, &table, request.demangling));
    }
    if !has_dwarf && go.is_none() && code.mini.is_none() {
        explain(located, &mut symbolized);
    }
    Ok(symbolized)
}

/// All functions by their places in the file.
fn index_of(binary: &Elf, table: &Table<'_>, demangling: Demangling) -> Option<FunctionIndex> {
    FunctionIndex::of(table, Some(demangling), |symbol| {
        let at = binary.file_offset(Svma(symbol.start))?;
        Some((at.0, symbol.start))
    })
}

/// The DWARF that inlined functions and lines are in, if they are asked for.
fn packed_dwarf(located: &Located, detail: Detail) -> Option<dwarf::Packed> {
    if detail == Detail::Functions {
        return None;
    }
    let (elf, alternate) = (located.dwarf()?, located.alternate());
    Some(dwarf::Packed::of(
        elf,
        alternate.as_ref(),
        located.split_files(),
    ))
}

/// Says what symbols are missing where there are no other names.
fn explain(located: &Located, symbolized: &mut Symbolized) {
    if located.files().any(Elf::has_symtab) {
        return;
    }
    // A static program has stubs that are named all the same.
    symbolized.explain(if located.binary.has_section(".dynsym") {
        Reason::OnlyExported
    } else {
        Reason::Stripped
    });
}

/// Where names are from, beside DWARF.
struct Sources<'s, 'a> {
    table: &'s Table<'a>,
    /// Of Go programs without DWARF.
    go: Option<&'a GoTable>,
    detail: Detail,
}

impl<'a> Sources<'_, 'a> {
    /// Names addresses on up to this many threads.
    fn name_all(
        &self,
        dwarf: Option<&'a dwarf::Sections>,
        addresses: &[Option<Svma>],
        n_threads: usize,
    ) -> Vec<Batch<'a>> {
        dwarf::name_all(dwarf, addresses, n_threads, |address, context, batch| {
            if let &Some(address) = address {
                self.name(address, context, batch);
            }
        })
    }

    /// Adds the frames at one address.
    fn name(&self, address: Svma, dwarf: Option<&dwarf::Context<'a>>, batch: &mut Batch<'a>) {
        let symbol = self.table.find(address.0);
        let start = symbol.map(|symbol| symbol.start);
        let outermost = match (dwarf, self.go) {
            (Some(context), _) => dwarf::inlined_frames(context, address, start, batch),
            (None, Some(go)) => go::inlined_frames(go, self.detail, address, start, batch),
            (None, None) => Outermost::default(),
        };
        let frame = match symbol {
            Some(symbol) => {
                let name = batch.function(symbol.name);
                Some(symbol.frame(name, address.0, outermost.line))
            }
            // A function that the symbol table does not know.
            None => outermost.frame,
        };
        frame.into_iter().for_each(|frame| batch.frame(frame));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rprof_images::SymbolTable;
    use rprof_locate::{Locator, Recorded};
    use std::os::unix::ffi::OsStrExt;

    #[inline(never)]
    fn a_function_to_be_found() -> u32 {
        std::hint::black_box(7)
    }

    #[test]
    fn our_own_code_is_named() {
        assert_eq!(a_function_to_be_found(), 7);
        let exe = std::env::current_exe().unwrap();
        let located = Locator::default()
            .locate(Recorded {
                path: exe.as_os_str().as_bytes(),
                ..Recorded::default()
            })
            .unwrap();
        let mut address = None;
        located
            .binary
            .for_each_symbol(SymbolTable::Static, |symbol| {
                if symbol
                    .name
                    .windows(22)
                    .any(|part| part == b"a_function_to_be_found")
                    && symbol.in_code
                {
                    address = Some(symbol.address);
                }
            })
            .unwrap();
        let offset = located.binary.file_offset(address.unwrap()).unwrap();
        for detail in [Detail::Functions, Detail::Inlines] {
            let request = Request {
                detail,
                ..Request::default()
            };
            let offsets = [offset, FileOffset(u64::MAX)];
            let symbolized = symbolize_user(&located, &offsets, request).unwrap();
            let frames = symbolized.frames(0);
            let name = symbolized.name(frames.last().unwrap().name);
            assert!(name.ends_with("tests::a_function_to_be_found"), "{name}");
            assert!(symbolized.frames(1).is_empty());
        }
    }
}
