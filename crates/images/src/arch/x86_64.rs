//! x86-64. Source: System V ABI, AMD64 supplement.

use super::Arch;
use crate::plt::{self, Stub, WordRelocations};
use crate::{Elf, PltEntry};
use object::elf::{self, RelocationType};
use rprof_base::Svma;

/// The machine.
pub(crate) struct X86_64;

/// Bytes of the code in front: `push`, `jmp`, and a rest.
const HEADER: u64 = 16;

impl Arch for X86_64 {
    const WORDS: WordRelocations = WordRelocations {
        relative: elf::R_X86_64_RELATIVE,
        chosen: elf::R_X86_64_IRELATIVE,
        named: &[
            elf::R_X86_64_GLOB_DAT,
            elf::R_X86_64_JUMP_SLOT,
            elf::R_X86_64_TPOFF64,
            elf::R_X86_64_DTPMOD64,
            elf::R_X86_64_TLSDESC,
        ],
    };
    const ABSOLUTE: &'static [(RelocationType, usize)] = &[
        (elf::R_X86_64_64, 8),
        (elf::R_X86_64_32, 4),
        (elf::R_X86_64_32S, 4),
    ];
    const GROWN: &'static [&'static [u8]] = &[];

    /// Stubs jump through their slots, so the code itself says which stub has which slot: linkers
    /// put them in any order, and in three sections.
    fn plt_entries(elf: &Elf) -> Vec<PltEntry> {
        let mut stubs = Vec::new();
        let mut header = None;
        for section in plt::SECTIONS {
            let (Some(code), Some(range)) = (elf.section(section), elf.section_range(section))
            else {
                continue;
            };
            // Linkers put it in front of one section only: it pushes a word of the table of slots.
            if section == ".plt" && code.starts_with(b"\xff\x35") {
                header = Some(PltEntry::header(range.start, HEADER));
            }
            stubs.extend(jumps(&code, range.start));
        }
        elf.stubs_by_slot(header, stubs)
    }
}

/// Stubs in code. They begin at multiples of 8, some with `endbr64`, some with a `bnd` prefix.
fn jumps(code: &[u8], start: Svma) -> Vec<Stub> {
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
        found.push(Stub {
            address,
            size: size as u64,
            slot: slot_address,
        });
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(code: &[u8], start: Svma) -> Vec<(Svma, u64, u64)> {
        let parts = |stub: Stub| (stub.address, stub.size, stub.slot);
        jumps(code, start).into_iter().map(parts).collect()
    }

    #[test]
    fn stubs_of_every_kind_are_known_by_their_jumps() {
        let old = b"\xff\x35\xca\x2f\0\0\xff\x25\xcc\x2f\0\0\x0f\x1f\x40\0\
            \xff\x25\xca\x2f\0\0\x68\0\0\0\0\xe9\xe0\xff\xff\xff";
        assert_eq!(found(old, Svma(0x1020)), [(Svma(0x1030), 16, 0x4000)]);
        let short = b"\xff\x25\x6a\x2f\0\0\x66\x90\xff\x25\x6a\x2f\0\0\x66\x90";
        let expected = [(Svma(0x1070), 8, 0x3fe0), (Svma(0x1078), 8, 0x3fe8)];
        assert_eq!(found(short, Svma(0x1070)), expected);
        let marked = b"\xf3\x0f\x1e\xfa\xf2\xff\x25\x75\x2f\0\0\x0f\x1f\x44\0\0";
        assert_eq!(found(marked, Svma(0x1080)), [(Svma(0x1080), 16, 0x4000)]);
        assert_eq!(found(b"\xff\x25\0", Svma(0)), []);
        assert_eq!(found(b"", Svma(0)), []);
    }
}
