//! Naming by a list of symbols that a recording brings along.

use crate::Demangling;
use crate::symbolized::{Collector, Symbolized};
use crate::table::{Symbol, Table};
use rprof_base::Svma;

/// A symbol of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Listed<'a> {
    /// Its address.
    pub start: Svma,
    /// Bytes.
    pub len: u64,
    /// Its name, mangled.
    pub name: &'a [u8],
}

/// Names addresses by a list, with names read as asked.
pub fn symbolize_listed<'a>(
    symbols: impl Iterator<Item = Listed<'a>>,
    addresses: impl Iterator<Item = Svma>,
    demangling: Demangling,
) -> Symbolized {
    let entries = symbols.map(|symbol| Symbol {
        start: symbol.start.0,
        end: symbol.start.0.saturating_add(symbol.len),
        has_size: symbol.len != 0,
        name: symbol.name,
        binding: 0,
        in_module: false,
    });
    let table = Table::new(entries.collect());
    let mut collector = Collector::default();
    for address in addresses {
        if let Some(symbol) = table.find(address.0) {
            let name = collector.name(symbol.name, |name| demangling.of(name));
            collector.frame(symbol.frame(name, address.0, None));
        }
        collector.end_address();
    }
    collector.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_names_what_it_covers() {
        let list = [Listed {
            start: Svma(0x100),
            len: 0x10,
            name: b"_ZN3foo3barEv",
        }];
        let asked = [0xff, 0x100, 0x10f, 0x110].map(Svma);
        let symbolized = symbolize_listed(list.into_iter(), asked.into_iter(), Demangling::Short);
        let names: Vec<_> = (0..4)
            .map(|at| {
                symbolized
                    .frames(at)
                    .first()
                    .map(|frame| symbolized.name(frame.name))
            })
            .collect();
        assert_eq!(names, [None, Some("foo::bar"), Some("foo::bar"), None]);
        assert_eq!(symbolized.frames(2)[0].offset, 15);
    }
}
