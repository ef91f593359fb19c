//! Naming addresses of the kernel.

use crate::answers::{Answers, Collector, Frame};
use crate::table::{Entry, Table};
use rprof_images::{Avma, Kallsyms};

/// The functions of a symbol list, ready for look-up.
#[derive(Debug)]
pub struct KernelSymbols<'k> {
    table: Table<'k>,
    shift: u64,
}

impl<'k> KernelSymbols<'k> {
    /// Takes a symbol list; `reference` is what the recording says of the kernel's reference
    /// symbol (its name and where it was), which tells how far that boot's kernel was from the
    /// list's.
    pub fn new(kallsyms: &'k Kallsyms, reference: Option<(&[u8], Avma)>) -> Self {
        let mut shift = 0;
        let mut entries = Vec::new();
        for symbol in kallsyms.symbols() {
            if let Some((name, avma)) = reference
                && symbol.name == name
            {
                shift = avma.0.wrapping_sub(symbol.address);
            }
            if !matches!(symbol.kind.to_ascii_uppercase(), b'T' | b'W' | b'D' | b'B')
                || symbol.name.starts_with(b"$")
            {
                continue;
            }
            entries.push(Entry {
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
        }
    }

    /// The name of the function at an address, and bytes from its start to there.
    pub fn name(&self, address: Avma) -> Option<(&'k [u8], u64)> {
        let address = address.0.wrapping_sub(self.shift);
        let symbol = self.table.find(address)?;
        Some((symbol.name, address.wrapping_sub(symbol.start)))
    }

    /// Names a batch.
    pub fn symbolize(&self, addresses: &[Avma]) -> Answers {
        let mut collector = Collector::default();
        for &address in addresses {
            if let Some((name, offset)) = self.name(address) {
                let name = collector.name(name, |name| String::from_utf8_lossy(name).into_owned());
                collector.frame(Frame {
                    name,
                    start: address.0.wrapping_sub(offset),
                    offset,
                    is_inlined: false,
                    line: None,
                });
            }
            collector.end_address();
        }
        collector.finish()
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
            let answers = KernelSymbols::new(&kallsyms, reference).symbolize(&[Avma(address)]);
            answers
                .frames(0)
                .first()
                .map(|frame| answers.name(frame.name).to_owned())
        };
        assert_eq!(ask(None, 0xffff_ffff_8100_0150).as_deref(), Some("do_it"));
        assert_eq!(
            ask(None, 0xffff_ffff_8100_0000).as_deref(),
            Some("startup_64")
        );
        assert_eq!(ask(None, 0x1000), None);
        let elsewhere = Some((&b"_text"[..], Avma(0xffff_ffff_9100_0000)));
        assert_eq!(
            ask(elsewhere, 0xffff_ffff_9100_0150).as_deref(),
            Some("do_it")
        );
        assert_eq!(ask(elsewhere, 0xffff_ffff_8100_0150), None);
    }
}
