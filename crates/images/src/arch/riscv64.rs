//! 64-bit RISC-V. Source: RISC-V ELF psABI, 1.0, "Program Linkage Table" and "Relocations".

use super::Arch;
use crate::plt::{Stub, WordRelocations};
use crate::{Elf, PltEntry};
use object::elf::{self, RelocationType};
use rprof_base::Svma;

/// The machine.
pub(crate) struct Riscv64;

/// Bytes of a stub, and of the code in front that calls the loader.
const ENTRY: usize = 16;
const HEADER: u64 = 32;

impl Arch for Riscv64 {
    const WORDS: WordRelocations = WordRelocations {
        relative: elf::R_RISCV_RELATIVE,
        chosen: elf::R_RISCV_IRELATIVE,
        named: &[elf::R_RISCV_JUMP_SLOT],
    };
    /// None: differences between labels are relocations, too, and without those DWARF would be wrong.
    const ABSOLUTE: &'static [(RelocationType, usize)] = &[];
    /// Source: arch/riscv/include/asm/module.lds.h (v6.1).
    const GROWN: &'static [&'static [u8]] = &[b".plt"];

    fn plt_entries(elf: &Elf) -> Vec<PltEntry> {
        let (Some(code), Some(range)) = (elf.section(".plt"), elf.section_range(".plt")) else {
            return Vec::new();
        };
        // `auipc t2`. Programs without libraries have no such code.
        let has_header = first_word(&code).is_some_and(|word| word & 0xfff == 0x397);
        let header = has_header.then(|| PltEntry::header(range.start, HEADER));
        elf.stubs_by_slot(header, jumps(&code, range.start))
    }
}

/// Stubs in code: `auipc t3`, `ld t3, offset(t3)`, and a jump.
fn jumps(code: &[u8], start: Svma) -> Vec<Stub> {
    let stubs = (start.0..).step_by(ENTRY).zip(code.chunks_exact(ENTRY));
    let stubs = stubs.filter_map(|(address, stub)| {
        let [high, low] = [first_word(stub)?, first_word(stub.get(4..)?)?];
        if high & 0xfff != 0xe17 || low & 0xf_ffff != 0xe_3e03 {
            return None;
        }
        let high = i64::from((high & !0xfff).cast_signed());
        let low = i64::from(low.cast_signed() >> 20);
        Some(Stub {
            address: Svma(address),
            size: ENTRY as u64,
            slot: address.wrapping_add_signed(high + low),
        })
    });
    stubs.collect()
}

fn first_word(code: &[u8]) -> Option<u32> {
    code.first_chunk().copied().map(u32::from_le_bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of a program that GNU's linker made: the code in front, and one stub.
    #[test]
    fn stubs_are_known_by_their_jumps() {
        let words = [
            0x0000_2397_u32,
            0x41c3_0333,
            0xac83_be03,
            0xfd43_0313,
            0xac83_8293,
            0x0013_5313,
            0x0082_b283,
            0x000e_0067,
            0x0000_2e17,
            0xab8e_3e03,
            0x000e_0367,
            0x0000_0013,
        ];
        let code = words.map(u32::to_le_bytes).concat();
        let stub = Stub {
            address: Svma(0x560),
            size: 16,
            slot: 0x2018,
        };
        assert_eq!(jumps(&code, Svma(0x540)), [stub]);
        assert_eq!(jumps(&code[..47], Svma(0x540)), []);
    }
}
