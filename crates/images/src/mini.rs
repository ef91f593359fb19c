//! MiniDebugInfo: a `.symtab` inside of the program itself, compressed (`.gnu_debugdata`).

use crate::{Elf, Located};
use lzma_rust2::XzReader;
use rprof_untrusted::{Budget, read_all};
use std::io;

/// Symbols become a tenth; more than this is no table of symbols.
const MOST_TIMES: u64 = 64;
/// More memory (KiB) than this is needed by no file that xz makes by default.
const MEMORY_KIB: u32 = 80 << 10;

impl Located {
    /// The symbols that a program has inside, if there are no better ones: functions that other
    /// files cannot call. They stand beside its `.dynsym`.
    pub fn mini(&self) -> Option<Elf> {
        if self.files().any(Elf::has_symtab) {
            return None;
        }
        let compressed = self.binary.section(".gnu_debugdata")?;
        let budget = self.binary.budget();
        let bytes = match decompressed(&compressed, &budget) {
            Err(error) if error.kind() == io::ErrorKind::OutOfMemory => {
                self.binary.data().note_over_budget();
                return None;
            }
            decompressed => decompressed.ok()?,
        };
        let elf = Elf::from_memory(bytes, ".gnu_debugdata", &budget).ok()?;
        elf.has_symtab().then_some(elf)
    }
}

fn decompressed(compressed: &[u8], budget: &Budget) -> io::Result<Vec<u8>> {
    let most = (compressed.len() as u64).saturating_mul(MOST_TIMES);
    let reader = XzReader::new_mem_limit(compressed, false, MEMORY_KIB);
    read_all(reader, most, &mut budget.hold_nothing())
}
