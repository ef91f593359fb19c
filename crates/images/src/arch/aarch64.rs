//! 64-bit ARM. Source: ELF for the Arm 64-bit Architecture.

use super::Arch;
use crate::plt::{WordRelocations, dynamic_name};
use crate::{Elf, PltEntry};
use object::elf::{self, RelocationType};
use rprof_base::Svma;

/// The machine.
pub(crate) struct Aarch64;

/// Bytes of a stub. Before the first one stands code that calls the loader.
const ENTRY: u8 = 16;
const HEADER: u64 = 32;

impl Arch for Aarch64 {
    const WORDS: WordRelocations = WordRelocations {
        relative: elf::R_AARCH64_RELATIVE,
        chosen: elf::R_AARCH64_IRELATIVE,
        named: &[
            elf::R_AARCH64_GLOB_DAT,
            elf::R_AARCH64_JUMP_SLOT,
            elf::R_AARCH64_TLS_TPREL,
            elf::R_AARCH64_TLS_DTPMOD,
            elf::R_AARCH64_TLSDESC,
        ],
    };
    const ABSOLUTE: &'static [(RelocationType, usize)] =
        &[(elf::R_AARCH64_ABS64, 8), (elf::R_AARCH64_ABS32, 4)];
    /// Source: arch/arm64/include/asm/module.lds.h (v6.1).
    const GROWN: &'static [&'static [u8]] = &[b".plt", b".text.ftrace_trampoline"];

    /// They stand in the order of their slots.
    fn plt_entries(elf: &Elf) -> Vec<PltEntry> {
        stubs(elf).unwrap_or_default()
    }
}

fn stubs(elf: &Elf) -> Option<Vec<PltEntry>> {
    let range = elf.section_range(".plt")?;
    let first = range.start.0.checked_add(HEADER)?;
    let addresses = (first..range.end.0).step_by(ENTRY.into());
    let slots = elf.relocations(".rela.plt");
    let file = elf.object().ok()?;
    let entries = addresses.zip(slots).filter_map(|(address, slot)| {
        Some(PltEntry {
            address: Svma(address),
            size: ENTRY.into(),
            function: Some(dynamic_name(&file, slot.symbol)?),
        })
    });
    let header = PltEntry::header(range.start, HEADER);
    Some([header].into_iter().chain(entries).collect())
}
