//! Naming addresses of a user-space image.

use crate::batch::{Batch, Outermost, n_parts};
use crate::function_index::FunctionIndex;
use crate::functions::{stubs_of, table_of, whole_table_of};
use crate::nameless::add_function_starts;
use crate::split::Split;
use crate::symbolized::{Frame, Symbolized};
use crate::table::{Entry, Table};
use crate::{Demangling, Reason, dwarf, go};
use rprof_base::{FileOffset, Svma, parallel};
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
    let named = name(located, offsets, request);
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
    let mini = located.mini();
    let stubs = stubs_of(&located.binary);
    let addresses: Vec<Option<Svma>> = addresses.iter().copied().map(Some).collect();
    let table = table_of(located, mini.as_ref(), &stubs, &addresses).unwrap_or_default();
    let sources = Sources {
        table: &table,
        dwarf: None,
        go: None,
        detail: Detail::Functions,
    };
    let mut batch = Batch::default();
    for address in addresses.into_iter().flatten() {
        sources.name(address, &mut batch);
        batch.end_address();
    }
    Batch::join(vec![batch], demangling, 1)
}

/// Names what has a name.
fn name(located: &Located, offsets: &[FileOffset], request: Request) -> Result<Symbolized, Reason> {
    let dwarf = located.dwarf();
    let alternate = match request.detail {
        Detail::Inlines | Detail::Lines => located.alternate(),
        Detail::Functions => None,
    };
    let alternate = alternate.as_ref();
    let packed = match request.detail {
        Detail::Inlines | Detail::Lines => dwarf.map(|elf| dwarf::Packed::of(elf, alternate)),
        Detail::Functions => None,
    };
    let mini = located.mini();
    let stubs = stubs_of(&located.binary);
    let addresses: Vec<Option<Svma>> = offsets
        .iter()
        .map(|&offset| located.binary.svma(offset))
        .collect();
    let wants_index = request.index && request.detail == Detail::Functions;
    let read_table = || {
        if wants_index {
            whole_table_of(located, mini.as_ref(), &stubs)
        } else {
            table_of(located, mini.as_ref(), &stubs, &addresses)
        }
    };
    let (sections, table) = match packed {
        Some(packed) => {
            let (sections, table) = packed.unpack(request.n_threads, read_table);
            (Some(sections), table)
        }
        None => (None, read_table()),
    };
    let go = match dwarf {
        Some(_) => None,
        None => GoTable::of(&located.binary),
    };
    let is_over_budget = located.is_over_budget() || alternate.is_some_and(Elf::is_over_budget);
    if table.is_none() && dwarf.is_none() && go.is_none() {
        return Err(if is_over_budget {
            Reason::OverBudget
        } else {
            Reason::Stripped
        });
    }
    let table = table.unwrap_or_default();
    let endian = sections.as_ref().map(dwarf::Sections::endian);
    let split = endian.map(|endian| Split::new(located.split_files(), endian));
    let dwarf = sections.as_ref().and_then(dwarf::Sections::dwarf);
    let n_parts = n_parts(addresses.len(), request.n_threads);
    let shares = parallel::in_parts(0..addresses.len(), n_parts, |part| {
        let sources = Sources {
            table: &table,
            dwarf: dwarf
                .as_ref()
                .zip(split.as_ref())
                .and_then(|(dwarf, split)| dwarf::context(dwarf, split)),
            go: go.as_ref(),
            detail: request.detail,
        };
        let mut batch = Batch::default();
        for &address in &addresses[part] {
            address
                .into_iter()
                .for_each(|address| sources.name(address, &mut batch));
            batch.end_address();
        }
        batch.note_stopped(dwarf.is_some() && dwarf::is_stopped());
        batch
    });
    if located.has_changed() {
        return Err(Reason::NoFile(rprof_images::NoFile::BeingWritten));
    }
    let mut symbolized = Batch::join(shares, request.demangling, request.n_threads);
    let is_split_over = split.as_ref().is_some_and(Split::is_over_budget);
    let is_mini_over = mini.as_ref().is_some_and(Elf::is_over_budget);
    symbolized.note_over_budget(is_over_budget || is_split_over || is_mini_over);
    if wants_index && go.is_none() {
        let place = |entry: &Entry<'_>| {
            let at = located.binary.file_offset(Svma(entry.start))?;
            Some((at.0, entry.start))
        };
        symbolized.set_index(FunctionIndex::of(&table, Some(request.demangling), place));
    }
    let files = [Some(&located.binary), located.debug.as_ref()];
    let has_symtab = files.into_iter().flatten().any(Elf::has_symtab);
    if located.dwarf().is_none() && go.is_none() && mini.is_none() && !has_symtab {
        // A static program has stubs that are named all the same.
        symbolized.explain(if located.binary.has_section(".dynsym") {
            Reason::OnlyExported
        } else {
            Reason::Stripped
        });
    }
    Ok(symbolized)
}

/// Where one thread takes names from.
struct Sources<'s, 'a> {
    table: &'s Table<'a>,
    dwarf: Option<dwarf::Context<'a>>,
    /// Of Go programs without DWARF.
    go: Option<&'a GoTable>,
    detail: Detail,
}

impl<'a> Sources<'_, 'a> {
    /// Adds the frames at one address.
    fn name(&self, address: Svma, batch: &mut Batch<'a>) {
        let symbol = self.table.find(address.0);
        let start = symbol.map(|symbol| symbol.start);
        let outermost = match (&self.dwarf, self.go) {
            (Some(context), _) => dwarf::inlined_frames(context, address, start, batch),
            (None, Some(go)) => go::inlined_frames(go, self.detail, address, start, batch),
            (None, None) => Outermost::default(),
        };
        let Some(symbol) = symbol else {
            // A function that the symbol table does not know.
            let frame = outermost.frame.into_iter();
            frame.for_each(|frame| batch.frame(frame));
            return;
        };
        let name = batch.function(symbol.name);
        batch.frame(Frame {
            name,
            start: symbol.start,
            offset: address.0.wrapping_sub(symbol.start),
            size: symbol.size(),
            is_inlined: false,
            line: outermost.line,
        });
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
