//! A symbol table sorted for look-ups, with perf's choice among aliases.
//!
//! perf (tools/perf/util/symbol.c, v6.1) sorts symbols by address, lets those without a size
//! reach to the next one (`symbols__fixup_end`), then keeps one of each address
//! (`symbols__fixup_duplicate`, `choose_best_symbol`). Doing the same is what makes reports equal.

use rprof_images::ElfSymbol;
use std::num::NonZeroU32;

/// `STB_LOCAL`, `STB_GLOBAL`, `STB_WEAK`.
pub(crate) const STB_GLOBAL: u8 = 1;
const STB_WEAK: u8 = 2;

const PAGE: u64 = 4096;

/// A symbol of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Symbol<'a> {
    pub(crate) start: u64,
    /// First address after it; without a size, as far as it can reach.
    pub(crate) end: u64,
    pub(crate) has_size: bool,
    pub(crate) name: &'a [u8],
    pub(crate) binding: u8,
    /// Whether it is a kernel module's.
    pub(crate) in_module: bool,
}

impl<'a> Symbol<'a> {
    /// Bytes, if there are any.
    pub(crate) fn size(&self) -> Option<NonZeroU32> {
        size_between(self.start, self.end)
    }

    /// A symbol of a file.
    pub(crate) fn from_elf(symbol: &ElfSymbol<'a>) -> Self {
        Self {
            start: symbol.address.0,
            end: match symbol.size {
                0 => symbol.section_end.0,
                size => symbol.address.0.saturating_add(size),
            },
            has_size: symbol.size != 0,
            name: symbol.name,
            binding: symbol.binding,
            in_module: false,
        }
    }
}

/// Bytes between two addresses, if there are any.
pub(crate) fn size_between(start: u64, end: u64) -> Option<NonZeroU32> {
    let size = end.saturating_sub(start);
    NonZeroU32::new(u32::try_from(size).unwrap_or(u32::MAX))
}

/// Sorted, without aliases.
#[derive(Debug, Default)]
pub(crate) struct Table<'a> {
    symbols: Vec<Symbol<'a>>,
    /// For each symbol, the nearest one before it that reaches beyond its start.
    around: Vec<u32>,
}

/// No symbol.
const NONE: u32 = u32::MAX;

impl<'a> Table<'a> {
    /// Builds the table from symbols in their file's order.
    pub(crate) fn new(mut symbols: Vec<Symbol<'a>>) -> Self {
        symbols.sort_by_key(|symbol| symbol.start);
        fix_ends(&mut symbols);
        keep_best(&mut symbols);
        let around = enclosing(&symbols);
        Self { symbols, around }
    }

    /// Each symbol with the end of where it is the answer from its start on.
    pub(crate) fn alone(&self) -> impl Iterator<Item = (&Symbol<'a>, u64)> {
        let next = self.symbols.iter().skip(1).map(Some).chain([None]);
        self.symbols.iter().zip(next).filter_map(|(symbol, next)| {
            // One before a symbol may be that symbol's.
            let end = next.map_or(symbol.end, |next| {
                symbol.end.min(next.start.saturating_sub(1))
            });
            (end > symbol.start && !symbol.name.is_empty()).then_some((symbol, end))
        })
    }

    /// The innermost symbol that covers an address, or that begins right after it and is entered
    /// without a call.
    pub(crate) fn find(&self, address: u64) -> Option<&Symbol<'a>> {
        let after = self
            .symbols
            .partition_point(|symbol| symbol.start <= address);
        let before = after.checked_sub(1).and_then(|at| self.symbols.get(at));
        if let Some(next) = self.symbols.get(after)
            && address.checked_add(1) == Some(next.start)
            && (is_signal_return(next.name) || before.is_some_and(|symbol| is_padding(symbol.name)))
        {
            return Some(next);
        }
        let mut at = after.checked_sub(1)?;
        loop {
            let symbol = self.symbols.get(at)?;
            if address < symbol.end {
                // One without a name still is no code of the one around it.
                return (!symbol.name.is_empty()).then_some(symbol);
            }
            at = self.around[at] as usize;
        }
    }
}

/// Code that a signal handler returns to, and that nothing has called: one byte before the return
/// address nobody is.
fn is_signal_return(name: &[u8]) -> bool {
    matches!(
        name,
        b"__restore_rt" | b"__restore" | b"__kernel_rt_sigreturn" | b"__kernel_sigreturn"
    )
}

/// The kernel's symbols for what it puts in front of functions, where nothing is executed.
fn is_padding(name: &[u8]) -> bool {
    name.starts_with(b"__pfx_")
}

/// Whatever covers an address and starts before a symbol was still open at its start: so the
/// open ones, kept on a stack, are all that a look-up needs to try.
fn enclosing(symbols: &[Symbol<'_>]) -> Vec<u32> {
    let mut open: Vec<u32> = Vec::new();
    let mut around = Vec::with_capacity(symbols.len());
    for (idx, symbol) in (0u32..).zip(symbols) {
        while open
            .last()
            .is_some_and(|&last| symbols[last as usize].end <= symbol.start)
        {
            open.pop();
        }
        around.push(open.last().copied().unwrap_or(NONE));
        open.push(idx);
    }
    around
}

fn fix_ends(symbols: &mut [Symbol<'_>]) {
    let up = |address: u64| address.checked_next_multiple_of(PAGE).unwrap_or(u64::MAX);
    let mut next: Option<Symbol<'_>> = None;
    for symbol in symbols.iter_mut().rev() {
        if !symbol.has_size {
            let end = match next {
                // The gap between kernel and modules belongs to nobody.
                Some(next) if symbol.in_module != next.in_module => {
                    up(symbol.start.saturating_add(PAGE))
                }
                Some(next) => next.start,
                None => up(symbol.start).saturating_add(PAGE),
            };
            symbol.end = symbol.end.min(end);
        }
        next = Some(*symbol);
    }
}

fn keep_best(symbols: &mut Vec<Symbol<'_>>) {
    symbols.dedup_by(|later, kept| {
        if later.start != kept.start {
            return false;
        }
        if !is_better(kept, later) {
            *kept = *later;
        }
        true
    });
}

/// Whether perf prefers `a` to `b`.
fn is_better(a: &Symbol<'_>, b: &Symbol<'_>) -> bool {
    let is_empty = |symbol: &Symbol<'_>| symbol.start == symbol.end;
    if is_empty(a) != is_empty(b) {
        return !is_empty(a);
    }
    if a.name.is_empty() != b.name.is_empty() {
        return !a.name.is_empty();
    }
    let is_weak = |symbol: &Symbol<'_>| symbol.binding == STB_WEAK;
    if is_weak(a) != is_weak(b) {
        return !is_weak(a);
    }
    let is_global = |symbol: &Symbol<'_>| symbol.binding == STB_GLOBAL;
    if is_global(a) != is_global(b) {
        return is_global(a);
    }
    let underscores =
        |symbol: &Symbol<'_>| symbol.name.iter().take_while(|&&byte| byte == b'_').count();
    if underscores(a) != underscores(b) {
        return underscores(a) < underscores(b);
    }
    if a.name.len() != b.name.len() {
        return a.name.len() > b.name.len();
    }
    // Kernel system calls: the "SyS" alias is the worse one.
    !a.name.starts_with(b"SyS") && !a.name.starts_with(b"compat_SyS")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn symbol(start: u64, end: u64, name: &'static str, binding: u8) -> Symbol<'static> {
        Symbol {
            start,
            end: if end == start { u64::MAX } else { end },
            has_size: end != start,
            name: name.as_bytes(),
            binding,
            in_module: false,
        }
    }

    fn name<'a>(table: &Table<'a>, address: u64) -> Option<&'a str> {
        table
            .find(address)
            .map(|symbol| std::str::from_utf8(symbol.name).unwrap())
    }

    #[test]
    fn the_alias_is_perfs_choice() {
        for (a, b, best) in [
            (symbol(0, 9, "weak", 2), symbol(0, 9, "global", 1), "global"),
            (
                symbol(0, 9, "local_longer", 0),
                symbol(0, 9, "global", 1),
                "global",
            ),
            (symbol(0, 9, "__read", 1), symbol(0, 9, "read", 1), "read"),
            (
                symbol(0, 9, "fopen", 1),
                symbol(0, 9, "fopen64", 1),
                "fopen64",
            ),
            (
                symbol(0, 5, "sized", 0),
                symbol(0, 9, "global", 1),
                "global",
            ),
            (symbol(0, 9, "SyS_x", 1), symbol(0, 9, "sys_x", 1), "sys_x"),
        ] {
            assert_eq!(name(&Table::new(vec![a, b]), 1), Some(best));
            assert_eq!(name(&Table::new(vec![b, a]), 1), Some(best));
        }
    }

    #[test]
    fn symbols_without_size_reach_to_the_next_and_the_last_alias_wins() {
        let table = Table::new(vec![
            symbol(10, 10, "a", 1),
            symbol(10, 10, "bb", 1),
            symbol(20, 20, "c", 1),
        ]);
        assert_eq!(name(&table, 15), Some("bb"));
        assert_eq!(name(&table, 25), Some("c"));
        assert_eq!(name(&table, 9), None);
        assert_eq!(name(&table, 20_000), None);
    }

    #[test]
    fn symbols_without_size_end_with_their_section() {
        let init = Symbol {
            end: 30,
            ..symbol(10, 10, "_init", 1)
        };
        let table = Table::new(vec![init, symbol(100, 110, "main", 1)]);
        assert_eq!((name(&table, 29), name(&table, 30)), (Some("_init"), None));
    }

    #[test]
    fn one_before_what_nothing_calls_is_that_itself() {
        let table = Table::new(vec![
            symbol(10, 20, "before", 1),
            symbol(32, 41, "__restore_rt", 0),
            symbol(48, 64, "__pfx_ret_from_fork_asm", 0),
            symbol(64, 80, "ret_from_fork_asm", 1),
            symbol(80, 96, "next", 1),
        ]);
        assert_eq!(name(&table, 31), Some("__restore_rt"));
        assert_eq!(name(&table, 63), Some("ret_from_fork_asm"));
        assert_eq!((name(&table, 30), name(&table, 41)), (None, None));
        assert_eq!(name(&table, 62), Some("__pfx_ret_from_fork_asm"));
        assert_eq!(name(&table, 79), Some("ret_from_fork_asm"));
        assert_eq!((name(&table, 9), name(&table, u64::MAX)), (None, None));
    }

    #[test]
    fn holes_have_no_name_and_enclosing_symbols_are_found() {
        let table = Table::new(vec![
            symbol(0, 100, "outer", 1),
            symbol(10, 20, "inner", 0),
            symbol(200, 210, "far", 1),
        ]);
        assert_eq!(name(&table, 15), Some("inner"));
        assert_eq!(name(&table, 50), Some("outer"));
        assert_eq!(name(&table, 150), None);
    }
}
