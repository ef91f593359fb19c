//! What instructions are part of, and what they refer to.

use super::open::{CodeSource, OpenCode};
use super::recording::CodeRecording;
use rprof_base::{Avma, FileOffset, Svma, parallel};
use rprof_images::{JitDump, Located, PointerTarget, SlotUse};
use rprof_machine::ImageId;
use rprof_profile::code::{CodeFrame, CodeFrames, ReferenceName};
use rprof_symbols::{
    Demangling, Detail, Frame, KernelCode, KernelSymbols, Request, Symbolized, name_addresses,
    symbolize_jitdump, symbolize_user,
};
use rprof_untrusted::Author;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// What is asked of a function's code.
#[derive(Clone, Debug)]
pub struct AskedCode<'a> {
    /// The code.
    pub code: &'a OpenCode,
    /// Addresses of its instructions.
    pub addresses: Vec<u64>,
    /// Addresses that instructions refer to, each with whether a pointer is read there.
    pub references: Vec<(u64, bool)>,
}

/// What is said of instructions.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Description {
    /// What each address is part of; those of which nothing is known are left out.
    pub frames: BTreeMap<u64, CodeFrames>,
    /// Of what is referred to, by address; nothing where it has no name.
    pub names: BTreeMap<u64, ReferenceName>,
    /// Who may have written the files that say so: their rights count where source files are opened.
    pub authors: Vec<Author>,
}

impl CodeRecording<'_> {
    /// Says of addresses in code which functions and lines they are part of, and how the addresses are called that
    /// instructions refer to. Each file is read once for all that are of it.
    pub fn describe(&self, asked: &[AskedCode<'_>]) -> Vec<Description> {
        self.describe_as(asked, self.options.demangling)
    }

    /// The same, with functions that code is part of called otherwise.
    pub fn describe_as(&self, asked: &[AskedCode<'_>], names: Demangling) -> Vec<Description> {
        let request = Request {
            detail: Detail::Lines,
            demangling: names,
            n_threads: parallel::n_cpus(),
            ..Request::default()
        };
        let mut by_image: BTreeMap<ImageId, Vec<usize>> = BTreeMap::new();
        let mut all = vec![Description::default(); asked.len()];
        for (number, one) in asked.iter().enumerate() {
            by_image.entry(one.code.image_id).or_default().push(number);
        }
        for numbers in by_image.into_values() {
            let first = numbers.first().and_then(|&number| asked.get(number));
            if let Some(CodeSource::Jit { path, .. }) = first.map(|one| &one.code.source) {
                self.of_jit_code((path, request), (asked, &numbers), &mut all);
                continue;
            }
            let mut together = AskedOfImage::default();
            for one in numbers.iter().filter_map(|&number| asked.get(number)) {
                together.addresses.extend(&one.addresses);
                together.references.extend(&one.references);
                together.code = Some(one.code);
            }
            let found = self.of_image(together, request);
            for number in numbers {
                if let (Some(one), Some(own)) = (asked.get(number), all.get_mut(number)) {
                    *own = found.part(one);
                }
            }
        }
        all
    }

    /// Says what is known of the functions of one jitdump, which are those of these numbers. Two may have been at one
    /// address, one after the other.
    fn of_jit_code(
        &self,
        (path, request): (&Path, Request),
        (asked, numbers): (&[AskedCode<'_>], &[usize]),
        all: &mut [Description],
    ) {
        // Where code is in the file, whose it is, and its address.
        let mut places: Vec<(FileOffset, usize, u64)> = Vec::new();
        for &number in numbers {
            if let Some(one) = asked.get(number)
                && let CodeSource::Jit {
                    load: (start, code),
                    ..
                } = one.code.source
            {
                let offset = |address: u64| code.0.wrapping_add(address.wrapping_sub(start));
                let own = one.addresses.iter();
                places.extend(own.map(|&at| (FileOffset(offset(at)), number, at)));
            }
        }
        places.sort_unstable();
        let offsets: Vec<FileOffset> = places.iter().map(|place| place.0).collect();
        let dump = JitDump::open(path, self.recording.reader.budget());
        let mut dump = dump.ok();
        let author = dump.as_ref().map(JitDump::author);
        let symbolized = dump
            .as_mut()
            .and_then(|dump| symbolize_jitdump(dump, &offsets, request).ok());
        let symbolized = symbolized.unwrap_or_default();
        for (at, &(_, number, address)) in places.iter().enumerate() {
            let frames = frames_at(&symbolized, at);
            if let (Some(own), false) = (all.get_mut(number), frames.0.is_empty()) {
                own.frames.insert(address, frames);
                own.authors = author.into_iter().collect();
            }
        }
    }

    fn of_image(&self, mut asked: AskedOfImage<'_>, request: Request) -> Description {
        let (located, shift) = match asked.code.map(|code| &code.source) {
            Some(CodeSource::User(located)) => (located, 0),
            Some(CodeSource::Kernel(located, shift)) => (located, *shift),
            Some(CodeSource::Jit { .. }) | None => return Description::default(),
        };
        asked.addresses.sort_unstable();
        asked.addresses.dedup();
        let symbolized = match located.binary.segments() {
            [] => of_module(located, shift, &asked.addresses),
            _ => of_linked((located, shift), &asked.addresses, request),
        };
        Description {
            frames: frames(&symbolized, &asked.addresses),
            names: self.names((located, shift), asked),
            authors: self.authors(located),
        }
    }

    /// Who may have written the files that were read.
    fn authors(&self, located: &Located) -> Vec<Author> {
        let locator = &self.recording.locator;
        let origins = located.origins();
        let authors: BTreeSet<Author> = origins
            .iter()
            .map(|origin| locator.author(origin))
            .collect();
        authors.into_iter().collect()
    }
}

/// What a linked file says of addresses.
fn of_linked((located, shift): (&Located, u64), addresses: &[u64], request: Request) -> Symbolized {
    let offset = |&address: &u64| {
        let svma = Svma(address.wrapping_sub(shift));
        let offset = located.binary.file_offset(svma);
        offset.unwrap_or(FileOffset(u64::MAX))
    };
    let offsets: Vec<FileOffset> = addresses.iter().map(offset).collect();
    symbolize_user(located, &offsets, request).unwrap_or_default()
}

/// The same of a module: it has no segments, so its code has no places in the file that they would tell.
fn of_module(located: &Located, shift: u64, addresses: &[u64]) -> Symbolized {
    let code = |elf| KernelCode { elf, shift };
    let addresses: Vec<Avma> = addresses.iter().map(|&address| Avma(address)).collect();
    let names = KernelSymbols::of_code(code(&located.binary));
    names.symbolize(&addresses, located.dwarf().map(code), 1)
}

impl CodeRecording<'_> {
    /// What is referred to, by its name: where a pointer leads to, or what the loader looks up for a slot; else what
    /// is at the address.
    fn names(
        &self,
        (located, shift): (&Located, u64),
        asked: AskedOfImage<'_>,
    ) -> BTreeMap<u64, ReferenceName> {
        let demangling = self.options.demangling;
        let mut references = asked.references;
        references.sort_unstable();
        references.dedup();
        let svma = |address: u64| Svma(address.wrapping_sub(shift));
        let slots = references.iter().map(|&(address, is_pointer)| {
            let use_of = if is_pointer {
                SlotUse::Jump
            } else {
                SlotUse::Data
            };
            (svma(address), use_of)
        });
        let targets = located.binary.pointers(&slots.collect::<Vec<_>>());
        let mut names = BTreeMap::new();
        // Each address that is referred to, and the one whose name it gets.
        let mut asked_names: Vec<(u64, Svma)> = Vec::new();
        for (&(address, _), target) in references.iter().zip(targets) {
            match target {
                Some(PointerTarget::Named(name)) => {
                    let symbol = demangling.of(&name);
                    names.insert(address, ReferenceName { symbol, offset: 0 });
                }
                Some(PointerTarget::At(target)) => asked_names.push((address, target)),
                None => asked_names.push((address, svma(address))),
            }
        }
        let targets: Vec<Svma> = asked_names.iter().map(|&(_, target)| target).collect();
        let named = name_addresses(located, &targets, demangling);
        let is_user = asked
            .code
            .filter(|code| matches!(code.source, CodeSource::User(_)));
        let cold = is_user.map(|code| self.cold_parts(code.image_id, located));
        for (at, (address, target)) in asked_names.into_iter().enumerate() {
            let Some(frame) = named.frames(at).last() else {
                continue;
            };
            let symbol = named.name(frame.name).to_owned();
            let symbol = match &cold {
                Some(cold) => cold.complete(symbol, target.0),
                None => symbol,
            };
            let offset = frame.offset;
            let name = || ReferenceName { symbol, offset };
            names.entry(address).or_insert_with(name);
        }
        names
    }
}

/// What is asked of all code of an image.
#[derive(Default)]
struct AskedOfImage<'a> {
    code: Option<&'a OpenCode>,
    addresses: Vec<u64>,
    references: Vec<(u64, bool)>,
}

impl Description {
    /// What is said of one of several functions.
    fn part(&self, asked: &AskedCode<'_>) -> Self {
        let frames = asked.addresses.iter();
        let frames = frames.filter_map(|one| Some((*one, self.frames.get(one)?.clone())));
        let names = asked.references.iter();
        let names = names.filter_map(|(one, _)| Some((*one, self.names.get(one)?.clone())));
        Self {
            frames: frames.collect(),
            names: names.collect(),
            authors: self.authors.clone(),
        }
    }
}

fn frames(symbolized: &Symbolized, addresses: &[u64]) -> BTreeMap<u64, CodeFrames> {
    let all = addresses.iter().enumerate();
    let all = all.map(|(at, &address)| (address, frames_at(symbolized, at)));
    all.filter(|(_, frames)| !frames.0.is_empty()).collect()
}

/// What is known of one place, by its number.
fn frames_at(symbolized: &Symbolized, at: usize) -> CodeFrames {
    let frame = |frame: &Frame| CodeFrame {
        function: symbolized.name(frame.name).to_owned(),
        line: frame
            .line
            .filter(|line| line.line > 0)
            .map(|line| (symbolized.name(line.file).to_owned(), line.line)),
    };
    CodeFrames(symbolized.frames(at).iter().map(frame).collect())
}
