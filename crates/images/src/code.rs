//! The bytes of code, and what pointers in a file lead to.

use crate::plt::dynamic_name;
use crate::{Elf, segments::Segment};
use object::elf::RelocationType;
use object::read::elf::FileHeader as _;
use object::{ReadRef, elf};
use rprof_abi::Machine;
use rprof_base::Svma;
use std::collections::HashMap;
use std::ops::Range;

/// Longer functions are not read, bytes.
const MAX_CODE: u64 = 64 << 20;

/// What a pointer in a file leads to, once the file is loaded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PointerTarget {
    /// What another file, or this one, has under a name (mangled).
    Named(Vec<u8>),
    /// An address of this file.
    At(Svma),
}

impl Elf {
    /// The bytes at a range of addresses; `None` if the file does not have them all, or they do not fit into its
    /// budget.
    pub fn bytes_at(&self, range: &Range<Svma>) -> Option<Vec<u8>> {
        let len = range.end.0.checked_sub(range.start.0)?;
        let offset = self.file_offset(range.start)?;
        let is_inside = |segment: &Segment| {
            let into = range.start.0.checked_sub(segment.address.0);
            into.is_some_and(|into| segment.file_size.saturating_sub(into) >= len)
        };
        if len > MAX_CODE || !self.segments().iter().any(is_inside) {
            return None;
        }
        self.data()
            .read_bytes_at(offset.0, len)
            .ok()
            .map(<[u8]>::to_vec)
    }

    /// The machine that its code is for, by its name in `uname -m`; 32-bit code of x86 is `i686`.
    pub fn machine_name(&self) -> Option<&'static str> {
        if let Some(machine) = self.machine() {
            return Some(machine.name());
        }
        let machine = match self.object().ok()? {
            object::File::Elf64(file) => file.elf_header().e_machine(file.endian()),
            object::File::Elf32(file) => file.elf_header().e_machine(file.endian()),
            _ => return None,
        };
        match machine {
            elf::EM_386 => Some("i686"),
            elf::EM_ARM => Some("armv7l"),
            elf::EM_S390 => Some("s390x"),
            elf::EM_PPC64 => Some("ppc64le"),
            elf::EM_LOONGARCH => Some("loongarch64"),
            _ => None,
        }
    }

    /// What the pointers at some addresses lead to, in their order: by the relocations of the loader, else as the file
    /// has them.
    pub fn pointers(&self, slots: &[Svma]) -> Vec<Option<PointerTarget>> {
        if slots.is_empty() {
            return Vec::new();
        }
        let wanted: HashMap<u64, usize> = (0..slots.len()).map(|at| (slots[at].0, at)).collect();
        let mut found: Vec<Option<PointerTarget>> = vec![None; slots.len()];
        let file = self.object().ok();
        for section in [".rela.dyn", ".rela.plt"] {
            for one in self.relocations(section) {
                let Some(&at) = wanted.get(&one.address) else {
                    continue;
                };
                let named = (one.symbol != 0)
                    .then(|| dynamic_name(file.as_ref()?, one.symbol))
                    .flatten();
                let target = match named {
                    Some(name) => Some(PointerTarget::Named(name)),
                    None if self.is_relative(one.kind) => Some(PointerTarget::At(Svma(one.addend))),
                    None => None,
                };
                if let Some(slot) = found.get_mut(at) {
                    *slot = target;
                }
            }
        }
        for (slot, target) in slots.iter().zip(&mut found) {
            if target.is_none() {
                *target = self.word_at(*slot).map(PointerTarget::At);
            }
        }
        found
    }

    fn is_relative(&self, kind: RelocationType) -> bool {
        let kinds = match self.machine() {
            Some(Machine::X86_64) => &[elf::R_X86_64_RELATIVE, elf::R_X86_64_IRELATIVE],
            Some(Machine::Aarch64) => &[elf::R_AARCH64_RELATIVE, elf::R_AARCH64_IRELATIVE],
            Some(Machine::Riscv64) => &[elf::R_RISCV_RELATIVE, elf::R_RISCV_IRELATIVE],
            None => return false,
        };
        kinds.contains(&kind)
    }

    /// An address in the file that is not 0, of 64-bit, little-endian ones.
    fn word_at(&self, address: Svma) -> Option<Svma> {
        self.machine()?;
        let end = Svma(address.0.checked_add(8)?);
        let bytes = self.bytes_at(&(address..end))?;
        let word = u64::from_le_bytes(bytes.first_chunk().copied()?);
        (word != 0).then_some(Svma(word))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SymbolTable;
    use std::path::Path;

    #[test]
    fn code_is_read_as_it_is_in_the_file_and_never_beyond() {
        let path = std::env::current_exe().unwrap();
        let elf = Elf::open(&path, &rprof_untrusted::Budget::default()).unwrap();
        assert_eq!(elf.machine_name(), Machine::native().map(Machine::name));
        let whole = std::fs::read(&path).unwrap();
        let mut function = None;
        let _ = elf.for_each_symbol(SymbolTable::Static, |symbol| {
            if symbol.kind == 2 && symbol.size > 16 {
                function = function.or(Some((symbol.address, symbol.size)));
            }
        });
        let (start, size) = function.unwrap();
        let range = start..Svma(start.0 + size);
        let at = usize::try_from(elf.file_offset(start).unwrap().0).unwrap();
        let len = usize::try_from(size).unwrap();
        assert_eq!(elf.bytes_at(&range).unwrap(), whole[at..at + len]);
        assert_eq!(elf.bytes_at(&(start..Svma(u64::MAX))), None);
        assert_eq!(elf.bytes_at(&(range.end..start)), None);
    }

    #[test]
    fn slots_of_a_shell_lead_to_functions_of_the_c_library() {
        let elf = Elf::open(Path::new("/bin/sh"), &rprof_untrusted::Budget::default()).unwrap();
        let slots: Vec<Svma> = [".rela.plt", ".rela.dyn"]
            .into_iter()
            .flat_map(|section| elf.relocations(section))
            .filter(|one| one.symbol != 0)
            .map(|one| Svma(one.address))
            .collect();
        let found = elf.pointers(&slots);
        let is_named = |one: &Option<PointerTarget>| matches!(one, Some(PointerTarget::Named(name)) if !name.is_empty());
        assert!(found.len() == slots.len() && found.iter().all(is_named));
        assert_eq!(elf.pointers(&[Svma(1)]), [None]);
    }
}
