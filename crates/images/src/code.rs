//! The bytes of code, and what pointers in a file lead to.

use crate::Elf;
use crate::plt::dynamic_name;
use object::read::elf::{ElfFile, FileHeader, ProgramHeader as _};
use object::{Object as _, ObjectSection as _, ReadRef, SectionKind, elf};
use rprof_base::Svma;
use std::collections::HashMap;
use std::ops::Range;

/// Longer code is not read, bytes: compilers make no such functions, and each byte takes some hundred once it is shown.
pub const MAX_CODE: u64 = 1 << 20;

/// What a pointer in a file leads to, once the file is loaded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PointerTarget {
    /// What another file, or this one, has under a name (mangled).
    Named(Vec<u8>),
    /// An address of this file.
    At(Svma),
}

/// What an instruction does with what it reads at an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SlotUse {
    /// Execution goes on there (`call *x(%rip)`).
    Jump,
    /// Anything else: only names that the loader looks up there are of interest.
    Data,
}

/// Where nobody writes once a file is loaded.
struct FixedRanges {
    /// The global offset table.
    offset_tables: Vec<Range<u64>>,
    /// Segments that cannot be written, or only until they are relocated.
    others: Vec<Range<u64>>,
}

/// An address that relocations may say something of.
struct Slot {
    is_fixed: bool,
    is_relocated: bool,
    target: Option<PointerTarget>,
}

impl Slot {
    fn new(is_fixed: bool) -> Self {
        Self {
            is_fixed,
            is_relocated: false,
            target: None,
        }
    }
}

fn fixed_headers<'d, H, R>(file: &ElfFile<'d, H, R>) -> Vec<Range<u64>>
where
    H: FileHeader,
    R: ReadRef<'d>,
{
    let endian = file.endian();
    let headers = file.elf_program_headers().iter();
    let fixed = headers.filter(|header| match header.p_type(endian) {
        elf::PT_LOAD => header.p_flags(endian).0 & elf::PF_W.0 == 0,
        elf::PT_GNU_RELRO => true,
        _ => false,
    });
    let range = |header: &H::ProgramHeader| {
        let start: u64 = header.p_vaddr(endian).into();
        start..start.saturating_add(header.p_memsz(endian).into())
    };
    fixed.map(range).collect()
}

impl Elf {
    /// The bytes at a range of addresses; `None` if the file does not have them all, or they are more than
    /// [`MAX_CODE`].
    pub fn bytes_at(&self, range: &Range<Svma>) -> Option<Vec<u8>> {
        let len = range.end.0.checked_sub(range.start.0)?;
        if len > MAX_CODE {
            return None;
        }
        let (offset, rest) = if self.segments().is_empty() {
            self.place_in_section(range.start)?
        } else {
            self.place_in_segment(range.start)?
        };
        if rest < len {
            return None;
        }
        self.data()
            .read_bytes_at(offset, len)
            .ok()
            .map(<[u8]>::to_vec)
    }

    /// Offset of an address, and how much of its segment begins there.
    fn place_in_segment(&self, address: Svma) -> Option<(u64, u64)> {
        self.segments().iter().find_map(|segment| {
            let into = address.0.checked_sub(segment.address.0)?;
            let rest = segment.file_size.checked_sub(into)?;
            (rest > 0).then(|| (segment.offset.0.wrapping_add(into), rest))
        })
    }

    /// The same of a module, which has sections alone.
    fn place_in_section(&self, address: Svma) -> Option<(u64, u64)> {
        let file = self.object().ok()?;
        file.sections().find_map(|section| {
            if section.kind() != SectionKind::Text {
                return None;
            }
            let into = address.0.checked_sub(section.address())?;
            let (offset, size) = section.file_range()?;
            let rest = size.checked_sub(into)?;
            (rest > 0).then(|| (offset.wrapping_add(into), rest))
        })
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

    /// What is read at some addresses, once the file is loaded, in their order. Words that the program may write are
    /// not followed: they need not be what they were.
    pub fn pointers(&self, slots: &[(Svma, SlotUse)]) -> Vec<Option<PointerTarget>> {
        let fixed = self.fixed_ranges();
        let is_in =
            |ranges: &[Range<u64>], slot: Svma| ranges.iter().any(|one| one.contains(&slot.0));
        let mut found: Vec<Option<PointerTarget>> = vec![None; slots.len()];
        // What relocations may say something of, by address; several may ask for one.
        let mut wanted: HashMap<u64, Slot> = HashMap::new();
        for &(slot, use_of) in slots {
            let is_offset_table = is_in(&fixed.offset_tables, slot);
            let is_fixed = is_offset_table || is_in(&fixed.others, slot);
            if is_offset_table || use_of == SlotUse::Jump {
                let new = || Slot::new(is_fixed);
                wanted.entry(slot.0).or_insert_with(new);
            }
        }
        if wanted.is_empty() {
            return found;
        }
        self.relocate(&mut wanted);
        for (target, &(address, use_of)) in found.iter_mut().zip(slots) {
            let Some(slot) = wanted.get(&address.0) else {
                continue;
            };
            *target = match (&slot.target, use_of) {
                (Some(PointerTarget::At(_)), SlotUse::Data) => None,
                (Some(target), _) => Some(target.clone()),
                (None, SlotUse::Jump) if slot.is_fixed && !slot.is_relocated => {
                    self.word_at(address).map(PointerTarget::At)
                }
                (None, _) => None,
            };
        }
        found
    }

    /// What relocations make of slots.
    fn relocate(&self, wanted: &mut HashMap<u64, Slot>) {
        let file = self.object().ok();
        let kinds = self.word_relocations();
        for section in [".rela.dyn", ".rela.plt"] {
            for one in self.relocations(section) {
                let Some(slot) = wanted.get_mut(&one.address) else {
                    continue;
                };
                slot.is_relocated = true;
                let is_of_table = kinds.is_some_and(|kinds| kinds.named.contains(&one.kind));
                let is_relative =
                    kinds.is_some_and(|kinds| [kinds.relative, kinds.chosen].contains(&one.kind));
                slot.target = match one.symbol {
                    0 if slot.is_fixed && is_relative => Some(PointerTarget::At(Svma(one.addend))),
                    0 => None,
                    // With an addend it is within what has the name.
                    symbol if is_of_table || slot.is_fixed && one.addend == 0 => file
                        .as_ref()
                        .and_then(|file| dynamic_name(file, symbol))
                        .map(PointerTarget::Named),
                    _ => None,
                };
            }
        }
    }

    /// Where nobody writes once the file is loaded.
    fn fixed_ranges(&self) -> FixedRanges {
        let others = match self.object() {
            Ok(object::File::Elf64(file)) => fixed_headers(&file),
            Ok(object::File::Elf32(file)) => fixed_headers(&file),
            _ => Vec::new(),
        };
        let sections = [".got", ".got.plt"].into_iter();
        let offset_tables = sections.filter_map(|name| self.section_range(name));
        FixedRanges {
            offset_tables: offset_tables
                .map(|range| range.start.0..range.end.0)
                .collect(),
            others,
        }
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
    use rprof_abi::Machine;
    use std::sync::atomic::{AtomicPtr, Ordering};

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
    fn slots_of_this_program_lead_to_what_relocations_name() {
        let path = std::env::current_exe().unwrap();
        let elf = Elf::open(&path, &rprof_untrusted::Budget::default()).unwrap();
        let relocations = [".rela.plt", ".rela.dyn"].into_iter();
        let kinds = elf.word_relocations().unwrap();
        let slots: Vec<(Svma, SlotUse)> = relocations
            .flat_map(|section| elf.relocations(section))
            .filter(|one| one.symbol != 0 && kinds.named.contains(&one.kind))
            .map(|one| (Svma(one.address), SlotUse::Data))
            .collect();
        let found = elf.pointers(&slots);
        let is_named = |one: &Option<PointerTarget>| matches!(one, Some(PointerTarget::Named(name)) if !name.is_empty());
        // Programs that are linked statically look nothing up.
        assert!(elf.has_section(".dynsym") != slots.is_empty());
        assert!(found.len() == slots.len() && found.iter().all(is_named));
        assert_eq!(
            elf.pointers(&[(Svma(u64::MAX - 16), SlotUse::Jump)]),
            [None]
        );
    }

    static POINTED_AT: u8 = 7;
    static WRITABLE: AtomicPtr<u8> = AtomicPtr::new((&raw const POINTED_AT).cast_mut());

    #[test]
    fn pointers_that_may_be_written_are_not_followed() {
        let path = std::env::current_exe().unwrap();
        let elf = Elf::open(&path, &rprof_untrusted::Budget::default()).unwrap();
        let writable = std::hint::black_box(&WRITABLE);
        writable.store(std::ptr::null_mut(), Ordering::Relaxed);
        let mut slot = None;
        let _ = elf.for_each_symbol(SymbolTable::Static, |symbol| {
            if symbol.name.windows(8).any(|part| part == b"WRITABLE") {
                slot = Some(symbol.address);
            }
        });
        assert_eq!(elf.pointers(&[(slot.unwrap(), SlotUse::Jump)]), [None]);
    }
}
