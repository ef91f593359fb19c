//! Names that a recording brings along: rprof's own (`--embed-symbols`), of every address that
//! samples hit, and simpleperf's, of functions.
//!
//! What is embedded was found in the recorded files on the machine that they were on; it is
//! complete for the addresses that it has, and there at once. So it comes before files, which are
//! asked for the addresses that it does not have, and for those without a name where it says why
//! names were lacking.

use super::known_names::SymbolizeResult;
use crate::index::EmbeddedSymbols;
use crate::locations::Location;
use rprof_base::{FileOffset, Svma};
use rprof_machine::{ImageId, ImageKind, RecordedImage};
use rprof_perfdata::feature::{SimpleperfFile, SymbolAddress, SymbolImage};
use rprof_symbols::{
    Collector, Demangling, Detail, Frame, Line, Listed, Reason, Request, Symbolized,
    symbolize_listed,
};

impl EmbeddedSymbols {
    /// Names the locations of an image, sorted: from here, and what is not here by `find`.
    pub(crate) fn name(
        &self,
        image: &RecordedImage,
        locations: &[Location],
        request: Request,
        find: impl FnOnce(&[Location]) -> Option<SymbolizeResult>,
    ) -> Option<SymbolizeResult> {
        if let Some(symbolized) = self.name_listed(image, locations, request.demangling) {
            return Some(Ok(symbolized));
        }
        let Some(own) = self.image(image) else {
            return find(locations);
        };
        let missing: Vec<Location> = if self.files_first {
            locations.to_vec()
        } else {
            // Where names were missing for a reason, that may have been fixed.
            let is_final = |location: &&Location| {
                let known = known(own, location);
                known.is_some_and(|known| known.name.is_some() || own.reason.is_none())
            };
            let others = locations.iter().filter(|location| !is_final(location));
            others.copied().collect()
        };
        let found = if missing.is_empty() {
            Ok(Symbolized::default())
        } else {
            find(&missing)?
        };
        // Kernels and perf maps have names as they are to be shown.
        let demangling = if is_readable(image) {
            Demangling::Off
        } else {
            request.demangling
        };
        let request = Request {
            demangling,
            ..request
        };
        if let (Err(reason), true) = (&found, own.addresses.is_empty()) {
            return Some(Err(self.reason(own).unwrap_or_else(|| reason.clone())));
        }
        Some(Ok(self.merged(own, locations, (&missing, found), request)))
    }

    /// Why names of an image were missing.
    fn reason(&self, own: &SymbolImage) -> Option<Reason> {
        let why = self.symbols.string(own.reason?);
        Some(Reason::WhenEmbedded(
            String::from_utf8_lossy(why).into_owned(),
        ))
    }

    /// How many of an image's locations are here.
    pub(crate) fn n_known(&self, image: &RecordedImage, locations: &[Location]) -> usize {
        let Some(own) = self.image(image) else {
            return 0;
        };
        let known = locations
            .iter()
            .filter(|location| known(own, location).is_some());
        known.count()
    }

    fn merged(
        &self,
        own: &SymbolImage,
        locations: &[Location],
        (found, result): (&[Location], SymbolizeResult),
        request: Request,
    ) -> Symbolized {
        let (symbolized, failed) = match result {
            Ok(symbolized) => (symbolized, None),
            Err(reason) => (Symbolized::default(), Some(reason)),
        };
        let mut collector = Collector::default();
        // That files fail is a reason for addresses that are not here, not for those that had no
        // name where they were recorded.
        let mut has_others = false;
        let mut at = 0;
        for location in locations {
            let mut named = false;
            if found.get(at) == Some(location) {
                named = !symbolized.frames(at).is_empty();
                collector.copy(&symbolized, at);
                at += 1;
            }
            match known(own, location) {
                Some(known) if !named => self.add_frames(known, request, &mut collector),
                Some(_) => {}
                None => has_others |= !named,
            }
            collector.end_address();
        }
        let reason = symbolized
            .missing_reason()
            .cloned()
            .or_else(|| self.reason(own));
        if let Some(reason) = reason.or(failed.filter(|_| has_others)) {
            collector.explain(reason);
        }
        collector.finish()
    }

    fn add_frames(&self, known: &SymbolAddress, request: Request, collector: &mut Collector) {
        let Some(named) = known.name else {
            return;
        };
        let symbols = &self.symbols;
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        for frame in symbols.chain(named.frame) {
            let is_inlined = frame.caller.is_some();
            if is_inlined && request.detail == Detail::Functions {
                continue;
            }
            let line = frame.line.map(|(file, line)| Line {
                file: collector.name(symbols.string(file), text),
                line,
            });
            let name = collector.name(symbols.string(frame.name), |raw| request.demangling.of(raw));
            collector.frame(Frame {
                name,
                start: named.start,
                offset: named.offset,
                size: None,
                is_inlined,
                line,
            });
        }
    }

    /// Names locations of a file, if the recording has a list of its functions.
    fn name_listed(
        &self,
        image: &RecordedImage,
        locations: &[Location],
        demangling: Demangling,
    ) -> Option<Symbolized> {
        let file = self.list_of(image)?;
        let symbols = file.symbols.iter().map(|symbol| Listed {
            start: Svma(symbol.vaddr),
            len: symbol.len.into(),
            name: &symbol.name,
        });
        let start = match image.kind {
            ImageKind::Module { start_avma } => start_avma,
            _ => 0,
        };
        let addresses = locations.iter().map(|location| {
            let mapped = self.first_code.get(&ImageId(location.image)).copied();
            let offset = location.address.wrapping_sub(start);
            Svma(svma(file, mapped, offset))
        });
        Some(symbolize_listed(symbols, addresses, demangling))
    }
}

/// Whether names of an image are never demangled: what is embedded is shown as files are.
fn is_readable(image: &RecordedImage) -> bool {
    match image.kind {
        ImageKind::Kernel { .. } | ImageKind::Module { .. } => true,
        _ => image.process_of_map().is_some(),
    }
}

/// What an image's names say of a location; `None` if it was not looked up.
fn known<'s>(image: &'s SymbolImage, location: &Location) -> Option<&'s SymbolAddress> {
    let all = &image.addresses;
    let at = all.binary_search_by_key(&location.address, |one| one.address);
    all.get(at.ok()?)
}

/// Where an offset in the file, or in a module's memory, is in its address space, for a file whose
/// first code is mapped from an offset. The kernel's locations are addresses already, and so are
/// those of code that was compiled at run time, which is mapped from no offset.
///
/// Source: AOSP, simpleperf/dso.cpp, `IpToVaddrInFile` of `ElfDso` and `KernelModuleDso`.
fn svma(file: &SimpleperfFile, mapped: Option<FileOffset>, offset: u64) -> u64 {
    let known = Some(file.file_offset_of_min_vaddr);
    let known = known.filter(|&first| first != SimpleperfFile::UNKNOWN_OFFSET);
    let (first, first_svma) = match (file.kind, mapped, known) {
        (SimpleperfFile::KERNEL_MODULE, ..) => (known.unwrap_or(0), file.min_vaddr),
        (SimpleperfFile::ELF, Some(_), Some(first)) => (first, file.min_vaddr),
        // Older than that field: the mapping begins with the page of the first code.
        (SimpleperfFile::ELF, Some(first), None) => (first.0, file.min_vaddr & !(PAGE_BYTES - 1)),
        _ => return offset,
    };
    offset.wrapping_sub(first).wrapping_add(first_svma)
}

/// Bytes of a page of memory, as Android had when simpleperf wrote no offsets.
const PAGE_BYTES: u64 = 4096;

#[cfg(test)]
mod tests;
