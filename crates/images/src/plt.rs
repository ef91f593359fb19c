//! Procedure linkage: stubs that jump to functions of other libraries, or to one of several that
//! a resolver chooses (GNU ifunc). They have no symbols; the relocations of the slots that they jump
//! through say whose they are.

use crate::{Elf, SymbolTable};
use object::{Object, ObjectSymbol, ObjectSymbolTable, SymbolIndex};
use rprof_base::Svma;
use std::collections::HashMap;

/// One stub.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PltEntry {
    /// Its address.
    pub address: Svma,
    /// Bytes.
    pub size: u64,
    /// Name of the function that it jumps to, mangled; `None` for the code in front of the others,
    /// which calls the loader.
    pub function: Option<Vec<u8>>,
}

/// Bytes of the code in front on x86-64: `push`, `jmp`, and a rest.
const X86_HEADER: u64 = 16;

/// Bytes of a stub on aarch64. Before the first one stands code that calls the loader.
const ARM_ENTRY: u64 = 16;
const ARM_HEADER: u64 = 32;

const R_X86_64_GLOB_DAT: u32 = 6;
const R_X86_64_JUMP_SLOT: u32 = 7;
const R_X86_64_RELATIVE: u32 = 8;
const R_X86_64_IRELATIVE: u32 = 37;
const R_AARCH64_RELATIVE: u32 = 1027;
const STT_GNU_IFUNC: u8 = 10;

/// An `Elf64_Rela`.
struct Relocation {
    /// What is relocated: a slot.
    address: u64,
    kind: u32,
    symbol: usize,
    addend: u64,
}

impl Relocation {
    fn parse(bytes: &[u8; 24]) -> Self {
        let word = |at: usize| {
            let word = bytes.get(at..).and_then(<[u8]>::first_chunk);
            word.copied().map_or(0, u64::from_le_bytes)
        };
        let info = word(8);
        Self {
            address: word(0),
            kind: (info & 0xffff_ffff) as u32,
            symbol: usize::try_from(info >> 32).unwrap_or(usize::MAX),
            addend: word(16),
        }
    }
}

impl Elf {
    /// The stubs. None for architectures whose layout is not known here, or if a table is damaged.
    pub fn plt_entries(&self) -> Vec<PltEntry> {
        let Ok(file) = self.object() else {
            return Vec::new();
        };
        match (file.architecture(), file.is_little_endian()) {
            (object::Architecture::X86_64, true) if file.is_64() => self.x86_64_stubs(),
            (object::Architecture::Aarch64, true) => self.aarch64_stubs().unwrap_or_default(),
            _ => Vec::new(),
        }
    }

    fn relocations(&self, section: &str) -> Vec<Relocation> {
        let bytes = self.section(section).unwrap_or_default();
        let (all, _) = bytes.as_chunks::<24>();
        all.iter().map(Relocation::parse).collect()
    }

    /// Words that are addresses wherever the file is loaded: where they are, and their values.
    pub(crate) fn relative(&self, section: &str) -> Vec<(u64, u64)> {
        let all = self.relocations(section).into_iter();
        let relative = all.filter(|one| matches!(one.kind, R_X86_64_RELATIVE | R_AARCH64_RELATIVE));
        relative.map(|one| (one.address, one.addend)).collect()
    }

    /// Name of a symbol in `.dynsym`.
    fn dynamic_name(&self, index: usize) -> Option<Vec<u8>> {
        let file = self.object().ok()?;
        let symbols = file.dynamic_symbol_table()?;
        let symbol = symbols.symbol_by_index(SymbolIndex(index)).ok()?;
        let name = symbol.name_bytes().ok().filter(|name| !name.is_empty())?;
        Some(name.to_vec())
    }

    /// Stubs jump through their slots, so the code itself says which stub has which slot: linkers
    /// put them in any order, and in three sections.
    fn x86_64_stubs(&self) -> Vec<PltEntry> {
        let mut stubs: Vec<(Svma, u64, u64)> = Vec::new();
        let mut header = None;
        for section in [".plt", ".plt.got", ".plt.sec"] {
            let (Some(code), Some(range)) = (self.section(section), self.section_range(section))
            else {
                continue;
            };
            // Linkers put it in front of one section only: it pushes a word of the table of slots.
            if section == ".plt" && code.starts_with(b"\xff\x35") {
                header = Some(plt_header(range.start, X86_HEADER));
            }
            stubs.extend(jumps(&code, range.start));
        }
        if stubs.is_empty() {
            return header.into_iter().collect();
        }
        let mut slots: HashMap<u64, Relocation> = HashMap::new();
        for section in [".rela.dyn", ".rela.plt"] {
            let all = self.relocations(section).into_iter();
            let known = all.filter(|one| {
                matches!(
                    one.kind,
                    R_X86_64_GLOB_DAT | R_X86_64_JUMP_SLOT | R_X86_64_IRELATIVE
                )
            });
            slots.extend(known.map(|one| (one.address, one)));
        }
        let chosen = self.chosen_at_start(slots.values());
        let name = |slot: u64| match slots.get(&slot)? {
            one if one.kind == R_X86_64_IRELATIVE => Some(match chosen.get(&one.addend) {
                Some(name) => name.clone(),
                // As objdump calls it.
                None => format!("*ABS*+{:#x}", one.addend).into_bytes(),
            }),
            one => self.dynamic_name(one.symbol),
        };
        let entries = stubs.into_iter().filter_map(|(address, size, slot)| {
            Some(PltEntry {
                address,
                size,
                function: Some(name(slot)?),
            })
        });
        let mut entries: Vec<PltEntry> = header.into_iter().chain(entries).collect();
        entries.sort_by_key(|entry| entry.address);
        entries
    }

    /// Names of functions that a resolver chooses, by the resolver's address.
    fn chosen_at_start<'r>(
        &self,
        mut slots: impl Iterator<Item = &'r Relocation>,
    ) -> HashMap<u64, Vec<u8>> {
        let mut names = HashMap::new();
        if slots.any(|one| one.kind == R_X86_64_IRELATIVE) {
            for table in [SymbolTable::Static, SymbolTable::Dynamic] {
                // What comes before damage counts.
                let _ = self.for_each_symbol(table, |symbol| {
                    if symbol.kind == STT_GNU_IFUNC {
                        let name = || symbol.name.to_vec();
                        names.entry(symbol.address.0).or_insert_with(name);
                    }
                });
            }
        }
        names
    }

    fn aarch64_stubs(&self) -> Option<Vec<PltEntry>> {
        let range = self.section_range(".plt")?;
        let first = range.start.0.checked_add(ARM_HEADER)?;
        let addresses = (first..range.end.0).step_by(16);
        let slots = self.relocations(".rela.plt");
        let entries = addresses.zip(slots).filter_map(|(address, slot)| {
            Some(PltEntry {
                address: Svma(address),
                size: ARM_ENTRY,
                function: Some(self.dynamic_name(slot.symbol)?),
            })
        });
        let header = plt_header(range.start, ARM_HEADER);
        Some([header].into_iter().chain(entries).collect())
    }
}

fn plt_header(address: Svma, size: u64) -> PltEntry {
    PltEntry {
        address,
        size,
        function: None,
    }
}

/// Stubs in x86-64 code: address, bytes, and address of the slot that each jumps through. They
/// begin at multiples of 8, some with `endbr64`, some with a `bnd` prefix.
fn jumps(code: &[u8], start: Svma) -> Vec<(Svma, u64, u64)> {
    const STEP: usize = 8;
    let slot = |at: usize| {
        let stub = code.get(at..)?;
        let jump = stub.strip_prefix(b"\xf3\x0f\x1e\xfa").unwrap_or(stub);
        let jump = jump.strip_prefix(b"\xf2").unwrap_or(jump);
        let distance = jump.strip_prefix(b"\xff\x25")?.first_chunk()?;
        let after = code.len() - jump.len() + 6;
        let after = start.0.wrapping_add(after as u64);
        Some(after.wrapping_add_signed(i32::from_le_bytes(*distance).into()))
    };
    let mut found = Vec::new();
    for at in (0..code.len()).step_by(STEP) {
        let Some(slot_address) = slot(at) else {
            continue;
        };
        let size = match slot(at + STEP) {
            None if at + STEP < code.len() => 2 * STEP,
            _ => STEP,
        };
        let address = Svma(start.0.wrapping_add(at as u64));
        found.push((address, size as u64, slot_address));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    #[test]
    fn a_shell_calls_other_libraries_through_stubs() {
        let elf = Elf::open(Path::new("/bin/sh"), &rprof_untrusted::Budget::default()).unwrap();
        let entries = elf.plt_entries();
        // Some systems link everything without stubs.
        if elf.has_section(".rela.plt") && elf.has_section(".plt") {
            let named =
                |entry: &PltEntry| entry.function.as_ref().is_none_or(|name| !name.is_empty());
            assert!(entries.iter().all(named));
            assert!(
                entries
                    .windows(2)
                    .all(|pair| pair[0].address < pair[1].address)
            );
        }
    }

    #[test]
    fn stubs_of_every_kind_are_known_by_their_jumps() {
        let old = b"\xff\x35\xca\x2f\0\0\xff\x25\xcc\x2f\0\0\x0f\x1f\x40\0\
            \xff\x25\xca\x2f\0\0\x68\0\0\0\0\xe9\xe0\xff\xff\xff";
        assert_eq!(jumps(old, Svma(0x1020)), [(Svma(0x1030), 16, 0x4000)]);
        let short = b"\xff\x25\x6a\x2f\0\0\x66\x90\xff\x25\x6a\x2f\0\0\x66\x90";
        let expected = [(Svma(0x1070), 8, 0x3fe0), (Svma(0x1078), 8, 0x3fe8)];
        assert_eq!(jumps(short, Svma(0x1070)), expected);
        let marked = b"\xf3\x0f\x1e\xfa\xf2\xff\x25\x75\x2f\0\0\x0f\x1f\x44\0\0";
        assert_eq!(jumps(marked, Svma(0x1080)), [(Svma(0x1080), 16, 0x4000)]);
        assert_eq!(jumps(b"\xff\x25\0", Svma(0)), []);
        assert_eq!(jumps(b"", Svma(0)), []);
    }
}
