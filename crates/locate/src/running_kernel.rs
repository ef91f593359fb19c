//! The running kernel: its build id, its symbols, and the vdso it maps into every process.

use rprof_abi::parse_maps;
use rprof_base::BuildId;
use rprof_images::{Elf, Kallsyms};
use rprof_untrusted::Budget;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

/// Build id of the running kernel.
pub fn kernel_build_id() -> Option<BuildId> {
    build_id_in(&std::fs::read("/sys/kernel/notes").ok()?)
}

/// The vdso of the running kernel, copied out of our own memory.
pub fn running_vdso() -> Option<Elf> {
    const LIMIT: u64 = 1 << 20;
    let maps = std::fs::read("/proc/self/maps").ok()?;
    let map = parse_maps(&maps).find(|map| map.name == b"[vdso]")?;
    let len = Some(map.end - map.start).filter(|&len| len <= LIMIT)?;
    let mut bytes = vec![0; usize::try_from(len).ok()?];
    let memory = File::open("/proc/self/mem").ok()?;
    memory.read_exact_at(&mut bytes, map.start).ok()?;
    // It is ours: small, and no stranger's.
    Elf::from_memory(bytes, "[vdso]", &Budget::default()).ok()
}

/// The symbols of the kernel with this build id: perf's copy in `~/.debug` (a plain file, much
/// faster to read), else the running kernel's own if it is that kernel.
///
/// # Errors
/// `NotFound` if neither is that kernel's.
pub fn kallsyms_of_kernel(build_id: &BuildId) -> io::Result<Kallsyms> {
    if let Some(path) = cached_kallsyms(build_id)
        && let Ok(list) = Kallsyms::read(&path)
        && list.shows_addresses()
    {
        return Ok(list);
    }
    if !kernel_build_id().is_some_and(|running| running.matches(build_id)) {
        return Err(io::Error::from(io::ErrorKind::NotFound));
    }
    running_kallsyms()
}

/// The running kernel's symbols.
///
/// # Errors
/// `PermissionDenied` if the kernel hides addresses from this user.
pub fn running_kallsyms() -> io::Result<Kallsyms> {
    let list = Kallsyms::read(Path::new("/proc/kallsyms"))?;
    if !list.shows_addresses() {
        return Err(io::Error::from(io::ErrorKind::PermissionDenied));
    }
    Ok(list)
}

/// `~/.debug/.build-id/ab/cdef.../kallsyms`.
fn cached_kallsyms(build_id: &BuildId) -> Option<PathBuf> {
    let home = std::env::var_os("HOME")?;
    let dir = Path::new(&home).join(".debug").join(build_id.path()?);
    Some(dir.join("kallsyms"))
}

/// Finds the build id in ELF notes (`NT_GNU_BUILD_ID` of owner `GNU`), native byte order.
fn build_id_in(mut notes: &[u8]) -> Option<BuildId> {
    const NT_GNU_BUILD_ID: u32 = 3;
    loop {
        let (head, rest) = notes.split_first_chunk::<12>()?;
        let word = |at: usize| {
            let bytes = [head[at], head[at + 1], head[at + 2], head[at + 3]];
            u32::from_ne_bytes(bytes)
        };
        let padded = |len: u32| usize::try_from(len).ok()?.checked_next_multiple_of(4);
        let (name_len, desc_len, kind) = (word(0), word(4), word(8));
        let (name, rest) = rest.split_at_checked(padded(name_len)?)?;
        let (desc, rest) = rest.split_at_checked(padded(desc_len)?)?;
        if kind == NT_GNU_BUILD_ID && name == b"GNU\0" {
            return BuildId::new(desc.get(..usize::try_from(desc_len).ok()?)?);
        }
        notes = rest;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_vdso_has_a_build_id_and_symbols() {
        let vdso = running_vdso().expect("every Linux process has one");
        assert!(vdso.build_id().is_some());
        let mut n = 0;
        vdso.for_each_symbol(rprof_images::SymbolTable::Dynamic, |_| n += 1)
            .unwrap();
        assert!(n > 0);
    }

    #[test]
    fn the_note_is_found_behind_others_and_damage_is_none() {
        let mut notes = Vec::new();
        for (kind, desc) in [(1u32, &b"abcde\0\0\0"[..]), (3, b"idid")] {
            let desc_len = if kind == 1 { 5u32 } else { 4 };
            notes.extend(4u32.to_ne_bytes());
            notes.extend(desc_len.to_ne_bytes());
            notes.extend(kind.to_ne_bytes());
            notes.extend(b"GNU\0");
            notes.extend(desc);
        }
        assert_eq!(build_id_in(&notes).unwrap().as_bytes(), b"idid");
        for len in 0..notes.len() {
            assert_eq!(build_id_in(&notes[..len]), None);
        }
    }
}
