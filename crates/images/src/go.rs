//! What Go programs know of their own functions (`.gopclntab`): stripping leaves it in, since
//! the program walks its own stacks with it. Names, lines, and what was inlined.
//!
//! The layout is that of Go's src/runtime/symtab.go and src/debug/gosym/pclntab.go: of 1.16, of 1.18
//! and of 1.20 and later.

mod pcln;

use crate::{Elf, SectionBytes};
use object::ReadRef;
use pcln::{Layout, Pcln};
use rprof_base::Svma;
use std::collections::HashMap;
use std::ops::Range;

/// The functions of a Go program.
#[derive(Debug)]
pub struct GoTable {
    pcln: Pcln,
    /// Where the trees of inlined calls are: the address of the first, and where in which bytes it is.
    trees: Option<(u64, (usize, SectionBytes))>,
}

/// One function of a Go program, or one that was inlined at the address that was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GoFrame<'g> {
    /// Its name: package, a dot, function.
    pub name: &'g [u8],
    /// The source file, and the line there; the call's line if something was inlined into it.
    pub line: Option<(&'g [u8], u32)>,
}

/// The function that an address is in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GoFunction<'a> {
    /// Where it begins.
    pub start: Svma,
    /// The frames at the address, those of inlined functions first.
    pub frames: Vec<GoFrame<'a>>,
}

/// Calls that were inlined into each other; more are damage.
const MAX_DEPTH: usize = 64;

/// Words of `runtime.moduledata` that are looked at: it starts with the table's address, and has
/// where the program's code begins, and where data of functions lie.
const MODULE_FIRST: u64 = 20;
const MODULE_TEXT: u64 = 22;
const MODULE_GOFUNC_1_18: u64 = 38;
const MODULE_GOFUNC_1_20: u64 = 40;

impl GoTable {
    /// The table of a program, if it is one in Go and the table is sound.
    pub fn of(elf: &Elf) -> Option<Self> {
        elf.machine()?;
        let names = [".gopclntab", ".data.rel.ro.gopclntab"];
        let (name, start) = names
            .into_iter()
            .find_map(|name| Some((name, elf.section_range(name)?.start.0)))?;
        let bytes = elf.raw_section(name)?.decompress()?;
        let words = Words::of(elf);
        let text = || {
            let recorded = words.at(elf, start.checked_add(pcln::TEXT_START)?)?;
            if recorded != 0 {
                return Some(recorded);
            }
            // Linkers may leave it to the program itself.
            let module = module_of(elf, &words, start)?;
            let word = |idx: u64| words.at(elf, module.checked_add(idx * 8)?);
            word(MODULE_TEXT).filter(|&text| word(MODULE_FIRST) == Some(text))
        };
        let pcln = Pcln::parse(bytes, text)?;
        let gofunc = if pcln.has_trees_by_offset() {
            module_of(elf, &words, start).and_then(|module| {
                let word = |idx: u64| words.at(elf, module.checked_add(idx * 8)?);
                word(MODULE_TEXT).filter(|&text| text == pcln.text())?;
                word(match pcln.layout() {
                    Layout::Go1_20 => MODULE_GOFUNC_1_20,
                    _ => MODULE_GOFUNC_1_18,
                })
            })
        } else {
            None
        };
        let trees = gofunc.and_then(|start| Some((start, section_of(elf, start)?)));
        Some(Self { pcln, trees })
    }

    /// The function that an address is in. `None` for code that is not Go's.
    pub fn find(&self, address: Svma) -> Option<GoFunction<'_>> {
        let function = self.pcln.function(address.0)?;
        let mut frames = Vec::new();
        let mut at = address.0;
        for _ in 0..MAX_DEPTH {
            let Some(call) = self.inlined(&function, at) else {
                break;
            };
            let Some(name) = self.pcln.name(call.name) else {
                break;
            };
            let line = self.pcln.line(&function, at);
            frames.push(GoFrame { name, line });
            // The call's own place in whatever it was inlined into.
            at = function.start.checked_add(call.parent_pc.into())?;
        }
        frames.push(GoFrame {
            name: self.pcln.name(function.name)?,
            line: self.pcln.line(&function, at),
        });
        Some(GoFunction {
            start: Svma(function.start),
            frames,
        })
    }

    /// Where the function begins that an address is in. `None` for code that is not Go's.
    pub fn start(&self, address: Svma) -> Option<Svma> {
        Some(Svma(self.pcln.function(address.0)?.start))
    }

    /// Bytes between the stack pointer at an address and where it was when the function was called: on
    /// x86-64 what lies there is the return address. `None` for code that is not Go's.
    pub fn frame_size(&self, address: Svma) -> Option<u32> {
        let function = self.pcln.function(address.0)?;
        u32::try_from(self.pcln.frame_size(&function, address.0)?).ok()
    }

    /// Where the functions are that have one of these names: the name's place, and the code.
    pub fn named<'s>(
        &'s self,
        names: &'s [&str],
    ) -> impl Iterator<Item = (usize, Range<Svma>)> + 's {
        self.pcln.functions().filter_map(move |(name, range)| {
            let name = self.pcln.name(name)?;
            // Assembly has its calling convention in its name.
            let name = name.strip_suffix(b".abi0").unwrap_or(name);
            let place = names.iter().position(|one| one.as_bytes() == name)?;
            Some((place, Svma(range.start)..Svma(range.end)))
        })
    }

    fn inlined(&self, function: &pcln::Function, at: u64) -> Option<pcln::InlinedCall> {
        let (start, (skipped, bytes)) = self.trees.as_ref()?;
        let (tree, idx) = self.pcln.inlined(function, at)?;
        let tree = self.pcln.tree_address(tree, *start)?;
        let offset = usize::try_from(tree.checked_sub(*start)?).ok()?;
        self.pcln
            .call(bytes.get(skipped.checked_add(offset)?..)?, idx)
    }
}

/// Words of the program's data: where it can be loaded anywhere, relocations have them.
struct Words(HashMap<u64, u64>);

impl Words {
    fn of(elf: &Elf) -> Self {
        let sections = [".rela", ".rela.dyn"];
        let relocations = sections.into_iter().flat_map(|name| elf.relative(name));
        Self(relocations.collect())
    }

    fn at(&self, elf: &Elf, address: u64) -> Option<u64> {
        if let Some(&word) = self.0.get(&address) {
            return Some(word);
        }
        let offset = elf.file_offset(Svma(address))?;
        let bytes = elf.data().read_bytes_at(offset.0, 8).ok()?;
        Some(u64::from_le_bytes(*bytes.first_chunk()?))
    }
}

/// Where `runtime.firstmoduledata` is: it starts with the address of the table.
fn module_of(elf: &Elf, words: &Words, table: u64) -> Option<u64> {
    let by_relocation = words.0.iter().filter(|&(_, &word)| word == table);
    if let Some(&address) = by_relocation.map(|(address, _)| address).min() {
        return Some(address);
    }
    let sections = [".go.module", ".noptrdata", ".data", ".data.rel.ro"];
    sections.into_iter().find_map(|name| {
        let start = elf.section_range(name)?.start.0;
        let bytes = elf.raw_section(name)?.decompress()?;
        let (all, _) = bytes.as_chunks::<8>();
        let at = all
            .iter()
            .position(|word| u64::from_le_bytes(*word) == table)?;
        start.checked_add(8 * at as u64)
    })
}

/// The section that has an address, and how far in it that is.
fn section_of(elf: &Elf, address: u64) -> Option<(usize, SectionBytes)> {
    let sections = [".rodata", ".data.rel.ro", ".text"];
    sections.into_iter().find_map(|name| {
        let range = elf.section_range(name)?;
        if !(range.start.0..range.end.0).contains(&address) {
            return None;
        }
        let bytes = elf.raw_section(name)?.decompress()?;
        let skipped = usize::try_from(address - range.start.0).ok()?;
        (skipped <= bytes.len()).then_some((skipped, bytes))
    })
}
