//! Names of the recorded kernel's static data, by the list of its symbols.

use super::kernel::Kernel;
use crate::recording::Recording;
use rprof_images::Kallsym;
use rprof_untrusted::printable;

/// The static data of the kernel itself: of modules and of what is allocated, nothing is known.
#[derive(Debug, Default)]
pub(crate) struct KernelData {
    /// All symbols of its image by address, with names of those that are data.
    symbols: Vec<(u64, Option<String>)>,
    /// Where the image ends.
    end: u64,
}

/// Without `CONFIG_KALLSYMS_ALL`, a list has few symbols that are no functions, and each would seem to reach up to the
/// next.
const LEAST_DATA: usize = 1000;

/// Symbols of the linker's script: what begins there has a name of its own.
const OF_LINKER: [&[u8]; 5] = [b"__start_", b"__stop_", b"__end_", b"__bss_", b"__init_"];

impl KernelData {
    /// That of a recording's kernel, if the list is of this kernel and boot; else none.
    pub(crate) fn of(recording: &Recording<'_>) -> Self {
        let kernel = Kernel::of(recording);
        let list = kernel.list_of_boot();
        list.map_or_else(Self::default, |list| Self::of_symbols(list.symbols()))
    }

    fn of_symbols<'k>(all: impl Iterator<Item = Kallsym<'k>>) -> Self {
        let mut end = None;
        let mut symbols: Vec<(u64, bool, Option<String>)> = Vec::new();
        for symbol in all.filter(|symbol| symbol.module.is_none()) {
            if symbol.name == b"_end" {
                end = Some(symbol.address);
            }
            let is_of_linker = OF_LINKER.iter().any(|start| symbol.name.starts_with(start));
            symbols.push((symbol.address, !is_of_linker, data_name(&symbol)));
        }
        // Of several at one address, the last counts.
        symbols.sort_unstable();
        let n_data = symbols.iter().filter(|(.., name)| name.is_some()).count();
        match end {
            Some(end) if n_data >= LEAST_DATA => Self {
                end,
                symbols: symbols
                    .into_iter()
                    .map(|(start, _, name)| (start, name))
                    .collect(),
            },
            _ => Self::default(),
        }
    }

    /// What is at an address: the name of an object, and how far it is into that.
    pub(crate) fn name(&self, address: u64) -> Option<String> {
        if address >= self.end {
            return None;
        }
        let after = self.symbols.partition_point(|(start, _)| *start <= address);
        let (start, name) = self.symbols.get(after.checked_sub(1)?)?;
        let name = name.as_ref()?;
        Some(match address - start {
            0 => name.clone(),
            offset => format!("{name}+{offset:#x}"),
        })
    }
}

/// The name of a symbol, if it is data.
fn data_name(symbol: &Kallsym<'_>) -> Option<String> {
    let is_data = matches!(symbol.kind.to_ascii_uppercase(), b'D' | b'B' | b'R');
    let name = String::from_utf8_lossy(symbol.name);
    is_data.then(|| printable(&name).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn data(n_more: usize) -> KernelData {
        let symbol = |address, kind, name| Kallsym {
            address,
            kind,
            name,
            module: None,
        };
        let of_kernel = [
            symbol(0x10_0000, b'T', &b"_text"[..]),
            symbol(0x10_1000, b'T', b"_etext"),
            symbol(0x10_2000, b'D', b"__start_ro_after_init"),
            symbol(0x10_2000, b'd', b"the_lock"),
            symbol(0x10_2040, b'b', b"other"),
            symbol(0x10_5000, b'B', b"_end"),
        ];
        let of_module = Kallsym {
            module: Some(b"mod"),
            ..symbol(0x10_2050, b'd', b"of_a_module")
        };
        let more = (0..n_more as u64).map(|nth| symbol(0x10_3000 + nth, b'd', b"more"));
        KernelData::of_symbols(of_kernel.into_iter().chain([of_module]).chain(more))
    }

    #[test]
    fn static_data_is_named_within_the_image_of_the_kernel() {
        let data = data(LEAST_DATA);
        assert_eq!(data.name(0x10_2000).as_deref(), Some("the_lock"));
        assert_eq!(data.name(0x10_2010).as_deref(), Some("the_lock+0x10"));
        assert_eq!(data.name(0x10_2040).as_deref(), Some("other"));
        // Code, what lies behind the image, what lies before all.
        for address in [0x10_0004, 0x10_5000, 0x20_0000, 0x10] {
            assert_eq!(data.name(address), None, "{address:#x}");
        }
    }

    #[test]
    fn a_list_of_functions_names_no_data() {
        let data = data(0);
        assert_eq!(data.name(0x10_2000), None);
    }
}
