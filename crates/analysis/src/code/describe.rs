//! What instructions are part of, and what they refer to.

use super::open::{CodeSource, OpenCode};
use rprof_base::{FileOffset, Svma};
use rprof_images::{JitDump, Located, PointerTarget};
use rprof_profile::code::{CodeFrame, CodeFrames, ReferenceName};
use rprof_symbols::{
    Detail, Request, Symbolized, name_addresses, symbolize_jitdump, symbolize_user,
};
use rprof_untrusted::Budget;
use std::collections::BTreeMap;

/// What is said of instructions.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Description {
    /// Of each address, in their order; empty where nothing is known.
    pub frames: Vec<CodeFrames>,
    /// Of what is referred to, by address; nothing where it has no name.
    pub names: BTreeMap<u64, ReferenceName>,
}

impl OpenCode {
    /// Says of addresses in the code which functions and lines they are part of, and how the addresses are called that
    /// instructions refer to, each with whether a pointer is read there.
    pub fn describe(
        &self,
        addresses: &[u64],
        references: &[(u64, bool)],
        budget: &Budget,
    ) -> Description {
        match &self.source {
            CodeSource::User(located) => self.of_files((located, 0), addresses, references),
            CodeSource::Kernel(located, shift) => {
                self.of_files((located, *shift), addresses, references)
            }
            CodeSource::Jit { path, load } => {
                let &(start, code) = load;
                let offset =
                    |&address: &u64| FileOffset(code.0.wrapping_add(address.wrapping_sub(start)));
                let offsets: Vec<FileOffset> = addresses.iter().map(offset).collect();
                let dump = JitDump::open(path, budget);
                let symbolized = dump.ok().and_then(|mut dump| {
                    symbolize_jitdump(&mut dump, &offsets, self.request()).ok()
                });
                let symbolized = symbolized.unwrap_or_default();
                Description {
                    frames: (0..addresses.len())
                        .map(|at| frames(&symbolized, at))
                        .collect(),
                    names: BTreeMap::new(),
                }
            }
        }
    }

    fn request(&self) -> Request {
        Request {
            detail: Detail::Lines,
            demangling: self.demangling,
            ..Request::default()
        }
    }

    fn of_files(
        &self,
        (located, shift): (&Located, u64),
        addresses: &[u64],
        references: &[(u64, bool)],
    ) -> Description {
        let svma = |address: u64| Svma(address.wrapping_sub(shift));
        let offset = |&address: &u64| {
            let offset = located.binary.file_offset(svma(address));
            offset.unwrap_or(FileOffset(u64::MAX))
        };
        let offsets: Vec<FileOffset> = addresses.iter().map(offset).collect();
        let symbolized = symbolize_user(located, &offsets, self.request()).unwrap_or_default();
        Description {
            frames: (0..addresses.len())
                .map(|at| frames(&symbolized, at))
                .collect(),
            names: self.names((located, shift), references),
        }
    }

    fn names(
        &self,
        (located, shift): (&Located, u64),
        references: &[(u64, bool)],
    ) -> BTreeMap<u64, ReferenceName> {
        let svma = |address: u64| Svma(address.wrapping_sub(shift));
        let slots: Vec<u64> = references
            .iter()
            .filter(|one| one.1)
            .map(|one| one.0)
            .collect();
        let places: Vec<Svma> = slots.iter().map(|&slot| svma(slot)).collect();
        let targets = located.binary.pointers(&places);
        let mut names = BTreeMap::new();
        // Each address that is referred to, and the one whose name it gets.
        let mut asked: Vec<(u64, Svma)> = Vec::new();
        for (slot, target) in slots.into_iter().zip(targets) {
            match target {
                Some(PointerTarget::Named(name)) => {
                    let symbol = self.demangling.of(&name);
                    names.insert(slot, ReferenceName { symbol, offset: 0 });
                }
                Some(PointerTarget::At(target)) => asked.push((slot, target)),
                None => {}
            }
        }
        let direct = references.iter().filter(|one| !one.1);
        asked.extend(direct.map(|&(address, _)| (address, svma(address))));
        asked.sort_unstable();
        asked.dedup();
        let targets: Vec<Svma> = asked.iter().map(|&(_, target)| target).collect();
        let named = name_addresses(located, &targets, self.demangling);
        for (at, (address, _)) in asked.into_iter().enumerate() {
            if let Some(frame) = named.frames(at).last() {
                names.entry(address).or_insert_with(|| ReferenceName {
                    symbol: named.name(frame.name).to_owned(),
                    offset: frame.offset,
                });
            }
        }
        names
    }
}

fn frames(symbolized: &Symbolized, at: usize) -> CodeFrames {
    let frames = symbolized.frames(at).iter().map(|frame| CodeFrame {
        function: symbolized.name(frame.name).to_owned(),
        line: frame
            .line
            .filter(|line| line.line > 0)
            .map(|line| (symbolized.name(line.file).to_owned(), line.line)),
    });
    CodeFrames(frames.collect())
}
