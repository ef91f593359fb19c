//! What differs between machines in their files: relocations, stubs.

pub(crate) mod aarch64;
pub(crate) mod riscv64;
pub(crate) mod x86_64;

use crate::plt::WordRelocations;
use crate::{Elf, PltEntry};
use object::elf::RelocationType;
use rprof_abi::{Machine, for_machine};

/// One machine.
pub(crate) trait Arch {
    /// Relocations of words.
    const WORDS: WordRelocations;
    /// What stands for addresses in DWARF, and their bytes.
    const ABSOLUTE: &'static [(RelocationType, usize)];
    /// Sections with code of kernel modules that are filled while a module is loaded.
    const GROWN: &'static [&'static [u8]];

    /// The stubs of procedure linkage; none if a table is damaged.
    fn plt_entries(elf: &Elf) -> Vec<PltEntry>;
}

impl Elf {
    /// The stubs. None for machines that are not known here, or if a table is damaged.
    pub fn plt_entries(&self) -> Vec<PltEntry> {
        match self.machine() {
            Some(machine) => for_machine!(machine, A => A::plt_entries(self)),
            None => Vec::new(),
        }
    }

    /// Words that are addresses wherever the file is loaded: where they are, and their values.
    pub(crate) fn relative(&self, section: &str) -> Vec<(u64, u64)> {
        let Some(kinds) = self.word_relocations() else {
            return Vec::new();
        };
        let all = self.relocations(section).into_iter();
        let relative = all.filter(|one| one.kind == kinds.relative);
        relative.map(|one| (one.address, one.addend)).collect()
    }

    /// Relocations of words; `None` for machines that are not known here.
    pub(crate) fn word_relocations(&self) -> Option<&'static WordRelocations> {
        Some(for_machine!(self.machine()?, A => &A::WORDS))
    }
}

/// Whether the kernel makes a section of a module larger; if it does so on any machine, for others.
pub(crate) fn is_grown(machine: Option<Machine>, section: &[u8]) -> bool {
    let grown = match machine {
        Some(machine) => for_machine!(machine, A => A::GROWN),
        None => aarch64::Aarch64::GROWN,
    };
    grown.contains(&section)
}

/// Bytes of the absolute address that a relocation stands for; `None` for others.
pub(crate) fn absolute_width(machine: Option<Machine>, kind: RelocationType) -> Option<usize> {
    let absolute = for_machine!(machine?, A => A::ABSOLUTE);
    let known = absolute.iter().find(|(known, _)| *known == kind);
    known.map(|&(_, width)| width)
}
