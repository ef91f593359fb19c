//! The running kernel: its build id, and the vdso it maps into every process.

use crate::{BuildId, Elf};
use rprof_untrusted::Budget;
use std::fs::File;
use std::os::unix::fs::FileExt;

/// Build id of the running kernel.
pub fn kernel_build_id() -> Option<BuildId> {
    BuildId::in_notes(&std::fs::read("/sys/kernel/notes").ok()?)
}

/// The vdso of the running kernel, copied out of our own memory.
pub fn running_vdso() -> Option<Elf> {
    const LIMIT: u64 = 1 << 20;
    let maps = std::fs::read_to_string("/proc/self/maps").ok()?;
    let line = maps.lines().find(|line| line.ends_with("[vdso]"))?;
    let (start, end) = line.split_once(' ')?.0.split_once('-')?;
    let hex = |text| u64::from_str_radix(text, 16).ok();
    let (start, end) = (hex(start)?, hex(end)?);
    let len = end.checked_sub(start).filter(|&len| len <= LIMIT)?;
    let mut bytes = vec![0; usize::try_from(len).ok()?];
    let memory = File::open("/proc/self/mem").ok()?;
    memory.read_exact_at(&mut bytes, start).ok()?;
    // It is ours: small, and no stranger's.
    Elf::from_memory(bytes, "[vdso]", &Budget::default()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_vdso_has_a_build_id_and_symbols() {
        let vdso = running_vdso().expect("every Linux process has one");
        assert!(vdso.build_id().is_some());
        let mut n = 0;
        vdso.for_each_symbol(crate::SymbolTable::Dynamic, |_| n += 1)
            .unwrap();
        assert!(n > 0);
    }
}
