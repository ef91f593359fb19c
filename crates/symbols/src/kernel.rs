//! Naming addresses of the kernel.

use crate::batch::Batch;
use crate::function_index::FunctionIndex;
use crate::functions::{STT_FUNC, STT_NOTYPE};
use crate::symbolized::{Frame, Symbolized};
use crate::table::{Symbol, Table};
use crate::{Demangling, dwarf};
use rprof_base::{Avma, ReferenceSymbol, Svma};
use rprof_images::{Elf, Kallsym, Kallsyms, SymbolTable};

/// A file of the kernel, and how far from the file's addresses it was in memory.
#[derive(Clone, Copy, Debug)]
pub struct KernelCode<'e> {
    /// vmlinux, or a module.
    pub elf: &'e Elf,
    /// What is added to the file's addresses.
    pub shift: u64,
}

impl<'e> KernelCode<'e> {
    /// A vmlinux whose reference symbol is known; `None` if it has no such symbol.
    pub fn at(elf: &'e Elf, reference: ReferenceSymbol<'_>) -> Option<Self> {
        let mut found = None;
        // A damaged table has what came before the damage.
        let _ = elf.for_each_symbol(SymbolTable::Static, |symbol| {
            if symbol.name == reference.name {
                found = Some(symbol.address);
            }
        });
        let shift = reference.avma.0.wrapping_sub(found?.0);
        Some(Self { elf, shift })
    }
}

/// The functions of a symbol list or a file, ready for look-up.
#[derive(Debug)]
pub struct KernelSymbols<'k> {
    table: Table<'k>,
    shift: u64,
    /// Whether all symbols are a module's.
    of_module: bool,
}

impl<'k> KernelSymbols<'k> {
    /// Takes a symbol list; the recorded reference symbol tells how far the kernel of that boot was from
    /// the list's.
    pub fn new(kallsyms: &'k Kallsyms, reference: Option<ReferenceSymbol<'_>>) -> Self {
        Self::of_list(kallsyms, reference, |_| true)
    }

    /// Takes of a list what belongs to one module.
    pub fn of_module(kallsyms: &'k Kallsyms, module: &[u8]) -> Self {
        Self {
            of_module: true,
            ..Self::of_list(kallsyms, None, |symbol| symbol.module == Some(module))
        }
    }

    fn of_list(
        kallsyms: &'k Kallsyms,
        reference: Option<ReferenceSymbol<'_>>,
        counts: impl Fn(&Kallsym<'k>) -> bool,
    ) -> Self {
        let mut shift = 0;
        let mut entries = Vec::new();
        for symbol in kallsyms.symbols() {
            if !counts(&symbol) {
                continue;
            }
            if let Some(reference) = reference
                && symbol.name == reference.name
            {
                shift = reference.avma.0.wrapping_sub(symbol.address);
            }
            if !matches!(symbol.kind.to_ascii_uppercase(), b'T' | b'W' | b'D' | b'B')
                || symbol.name.starts_with(b"$")
            {
                continue;
            }
            entries.push(Symbol {
                start: symbol.address,
                end: u64::MAX,
                has_size: false,
                name: symbol.name,
                binding: binding_of(symbol.kind),
                in_module: symbol.module.is_some(),
            });
        }
        Self {
            table: Table::new(entries),
            shift,
            of_module: false,
        }
    }

    /// Takes a file's own symbols.
    pub fn of_code(code: KernelCode<'k>) -> Self {
        let mut entries = Vec::new();
        // A damaged table names what came before the damage.
        let _ = code.elf.for_each_wanted_symbol(
            SymbolTable::Static,
            |symbol| symbol.in_code && matches!(symbol.kind, STT_NOTYPE | STT_FUNC),
            |symbol| entries.push(Symbol::from_elf(&symbol)),
        );
        Self {
            table: Table::new(entries),
            shift: code.shift,
            of_module: false,
        }
    }

    /// The name of the function at an address, and bytes from its start to there.
    pub fn name(&self, address: Avma) -> Option<(&'k [u8], u64)> {
        let (symbol, offset) = self.find(address)?;
        Some((symbol.name, offset))
    }

    /// The symbol of the function at an address, and bytes from its start to there.
    fn find(&self, address: Avma) -> Option<(&Symbol<'k>, u64)> {
        let address = address.0.wrapping_sub(self.shift);
        let symbol = self.table.find(address)?;
        Some((symbol, address.wrapping_sub(symbol.start)))
    }

    /// All of them, by address in memory.
    pub fn index(&self) -> Option<FunctionIndex> {
        FunctionIndex::of(&self.table, None, |entry| {
            // A module's place is another's some day.
            let is_own = entry.in_module == self.of_module;
            let start = entry.start.wrapping_add(self.shift);
            is_own.then_some((start, start))
        })
    }

    /// Names a batch, with inlined functions and lines by the DWARF of a file if there is one, on
    /// at most this many threads.
    pub fn symbolize(
        &self,
        addresses: &[Avma],
        code: Option<KernelCode<'_>>,
        n_threads: usize,
    ) -> Symbolized {
        let packed = code.map(|code| dwarf::Packed::of(code.elf, None, None));
        let (sections, ()) = dwarf::unpack(packed, n_threads, || ());
        let shift = code.map_or(0, |code| code.shift);
        let sections = sections.as_ref();
        let shares = dwarf::name_all(sections, addresses, n_threads, |address, context, batch| {
            let Some((symbol, offset)) = self.find(*address) else {
                return;
            };
            let start = address.0.wrapping_sub(offset);
            let outermost = context.map(|context| {
                let svma = Svma(address.0.wrapping_sub(shift));
                dwarf::inlined_frames(context, svma, Some(start.wrapping_sub(shift)), batch)
            });
            let name = batch.readable(symbol.name);
            let line = outermost.and_then(|outermost| outermost.line);
            batch.frame(Frame {
                start,
                offset,
                ..symbol.frame(name, symbol.start, line)
            });
        });
        let mut symbolized = Batch::join(shares, Demangling::default(), n_threads);
        symbolized.note_over_budget(code.is_some_and(|code| code.elf.is_over_budget()));
        symbolized
    }
}

/// perf's `kallsyms2elf_binding`.
fn binding_of(kind: u8) -> u8 {
    match kind {
        b'W' => 2,
        kind if kind.is_ascii_uppercase() => 1,
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kernel_addresses_are_named_also_of_another_boot() {
        let dir = std::env::temp_dir().join(format!("rprof-kallsyms-{}", std::process::id()));
        let text = "ffffffff81000000 T _text\nffffffff81000000 T startup_64\nffffffff81000100 t do_it\nffffffff81000200 D data\n";
        std::fs::write(&dir, text).unwrap();
        let kallsyms = Kallsyms::read(&dir).unwrap();
        std::fs::remove_file(&dir).unwrap();
        let ask = |reference, address| {
            let symbolized =
                KernelSymbols::new(&kallsyms, reference).symbolize(&[Avma(address)], None, 1);
            symbolized
                .frames(0)
                .first()
                .map(|frame| symbolized.name(frame.name).to_owned())
        };
        assert_eq!(ask(None, 0xffff_ffff_8100_0150).as_deref(), Some("do_it"));
        assert_eq!(
            ask(None, 0xffff_ffff_8100_0000).as_deref(),
            Some("startup_64")
        );
        assert_eq!(ask(None, 0x1000), None);
        let elsewhere = Some(ReferenceSymbol {
            name: b"_text",
            avma: Avma(0xffff_ffff_9100_0000),
        });
        assert_eq!(
            ask(elsewhere, 0xffff_ffff_9100_0150).as_deref(),
            Some("do_it")
        );
        assert_eq!(ask(elsewhere, 0xffff_ffff_8100_0150), None);
    }

    #[test]
    fn a_module_has_its_own_symbols_only() {
        let dir = std::env::temp_dir().join(format!("rprof-modules-{}", std::process::id()));
        let text = "ffffffffc0000000 t one_of_a\t[a]\nffffffffc0001000 t one_of_b\t[b]\n";
        std::fs::write(&dir, text).unwrap();
        let kallsyms = Kallsyms::read(&dir).unwrap();
        std::fs::remove_file(&dir).unwrap();
        let names = KernelSymbols::of_module(&kallsyms, b"a");
        let ask = |address| names.name(Avma(address)).map(|(name, _)| name);
        assert_eq!(ask(0xffff_ffff_c000_0010), Some(&b"one_of_a"[..]));
        assert_eq!(ask(0xffff_ffff_c000_1010), None);
    }
}
