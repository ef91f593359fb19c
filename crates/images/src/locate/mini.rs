//! MiniDebugInfo: a `.symtab` inside of the program itself, compressed (`.gnu_debugdata`).

use super::Located;
use crate::Elf;
use lzma_rust2::XzReader;
use rprof_untrusted::{Budget, read_all};

/// Symbols become a tenth; more than this is no table of symbols.
const MOST_TIMES: u64 = 64;
/// More memory (KiB) than this is needed by no file that xz makes by default.
const MEMORY_KIB: u32 = 80 << 10;

impl Located {
    /// The symbols that a program has inside, if there are no better ones: functions that other
    /// files cannot call. They stand beside its `.dynsym`.
    pub fn mini(&self) -> Option<Elf> {
        let mut files = std::iter::once(&self.binary).chain(&self.debug);
        if files.any(Elf::has_symtab) {
            return None;
        }
        let packed = self.binary.section(".gnu_debugdata")?;
        let budget = self.binary.budget();
        let bytes = unpacked(&packed, &budget)?;
        let elf = Elf::from_memory(bytes, ".gnu_debugdata", &budget).ok()?;
        elf.has_symtab().then_some(elf)
    }
}

fn unpacked(packed: &[u8], budget: &Budget) -> Option<Vec<u8>> {
    let most = u64::try_from(packed.len()).ok()?.saturating_mul(MOST_TIMES);
    let reader = XzReader::new_mem_limit(packed, false, MEMORY_KIB);
    read_all(reader, most, &mut budget.hold_nothing()).ok()
}
