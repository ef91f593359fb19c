//! Names that a recording brings along: rprof's own (`--embed-symbols`), of every address that
//! samples hit, and simpleperf's, of functions.
//!
//! What is embedded was found in the recorded files on the machine that they were on; it is
//! complete for the addresses that it has, and there at once. So it comes before files, which are
//! asked for the addresses that it does not have, and for those without a name where it says why
//! names were lacking.

use super::names::Answered;
use super::resolve::PlaceKey;
use foldhash::HashMap;
use rprof_base::{Avma, FileOffset, Svma};
use rprof_machine::{CompiledCode, ImageKind, RecordedImage};
use rprof_perfdata::feature::{SimpleperfFile, SymbolAddress, SymbolImage, SymbolPiece, Symbols};
use rprof_perfdata::{Feature, FeatureId, Reader};
use rprof_symbols::{
    Answers, Collector, Demangling, Detail, Frame, Line, Listed, Reason, Request, symbolize_listed,
};

/// The names in a recording.
#[derive(Debug, Default)]
pub(crate) struct Embedded {
    /// By path, files with a list of their functions.
    listed: HashMap<Vec<u8>, SimpleperfFile>,
    symbols: Symbols,
    /// Places in `symbols` by all that images of a recording are told apart by.
    places: HashMap<Identity, usize>,
    /// Whether files are asked before.
    files_first: bool,
    /// What is wrong with the names.
    pub(crate) warning: Option<String>,
}

/// What an image of a recording is.
#[derive(Debug, PartialEq, Eq, Hash)]
struct Identity {
    path: Vec<u8>,
    build_id: Vec<u8>,
    inode: Option<u64>,
    device: Option<(u32, u32)>,
    avma: Option<u64>,
}

impl Embedded {
    /// What the recording has; a damaged section counts as none.
    pub(crate) fn of(reader: &Reader) -> Self {
        let feature = |id| {
            let section = reader.feature(id).ok()??;
            Some(Feature::parse(id, &section, reader.endian()))
        };
        let mut all = Self::default();
        for id in [FeatureId::SIMPLEPERF_FILE, FeatureId::SIMPLEPERF_FILE2] {
            let files = match feature(id) {
                Some(Ok(Feature::SimpleperfFiles(files))) => files,
                Some(Ok(Feature::SimpleperfFiles2(messages))) => messages.0,
                _ => continue,
            };
            let named = files.into_iter().filter(|file| !file.symbols.is_empty());
            all.listed
                .extend(named.map(|file| (file.path.clone(), file)));
        }
        match feature(FeatureId::SYMBOLS) {
            Some(Ok(Feature::Symbols(symbols))) => all = all.with(symbols),
            Some(Err(error)) => {
                all.warning = Some(format!(
                    "the names in the recording are damaged ({error}): they are not used"
                ));
            }
            _ => {}
        }
        all
    }

    /// The same, for what is to be embedded anew: files may say more by now.
    pub(crate) fn behind_files(reader: &Reader) -> Self {
        Self {
            files_first: true,
            ..Self::of(reader)
        }
    }

    fn with(mut self, symbols: Symbols) -> Self {
        for (place, image) in symbols.images.iter().enumerate() {
            let identity = Identity {
                path: symbols.string(image.path).to_vec(),
                build_id: image.build_id.clone(),
                inode: image.inode,
                device: image.device,
                avma: image.avma,
            };
            self.places.entry(identity).or_insert(place);
        }
        self.symbols = symbols;
        self
    }

    /// Names the places of an image, sorted: from here, and what is not here by `find`.
    pub(crate) fn name(
        &self,
        image: &RecordedImage,
        places: &[PlaceKey],
        request: Request,
        find: impl FnOnce(&[PlaceKey]) -> Option<Answered>,
    ) -> Option<Answered> {
        if let Some(answers) = self.answer_listed(image, places, request.demangling) {
            return Some(Ok(answers));
        }
        let Some(own) = self.image(image) else {
            return find(places);
        };
        let missing: Vec<PlaceKey> = match self.files_first {
            true => places.to_vec(),
            false => {
                // Where names were lacking for a reason, that may have been mended.
                let is_final = |place: &&PlaceKey| {
                    let known = known(own, place);
                    known.is_some_and(|known| known.name.is_some() || own.reason.is_none())
                };
                let others = places.iter().filter(|place| !is_final(place));
                others.copied().collect()
            }
        };
        let found = match missing.is_empty() {
            true => Ok(Answers::default()),
            false => find(&missing)?,
        };
        // Kernels and maps of compiled code have names as they are to be shown.
        let demangling = match is_readable(image) {
            true => Demangling::Off,
            false => request.demangling,
        };
        let request = Request {
            demangling,
            ..request
        };
        if let (Err(reason), true) = (&found, own.addresses.is_empty()) {
            return Some(Err(self.reason(own).unwrap_or_else(|| reason.clone())));
        }
        Some(Ok(self.merged(own, places, (&missing, found), request)))
    }

    /// The pieces of code of a log, which stand in for it, with their times.
    pub(crate) fn pieces(&self, image: &RecordedImage) -> Vec<(Option<u64>, CompiledCode)> {
        let pieces = self.image(image).map_or(&[][..], |own| &own.pieces);
        let code = |piece: &SymbolPiece| CompiledCode {
            start: Avma(piece.start),
            len: piece.len,
            offset: FileOffset(piece.offset),
        };
        let pieces = pieces.iter().filter(|piece| piece.len > 0);
        let pieces = pieces.map(|piece| (piece.time_ns, code(piece)));
        pieces.collect()
    }

    /// Why an image lacked names.
    fn reason(&self, own: &SymbolImage) -> Option<Reason> {
        let why = self.symbols.string(own.reason?);
        Some(Reason::WhenEmbedded(
            String::from_utf8_lossy(why).into_owned(),
        ))
    }

    /// How many of an image's places are here.
    pub(crate) fn n_known(&self, image: &RecordedImage, places: &[PlaceKey]) -> usize {
        let Some(own) = self.image(image) else {
            return 0;
        };
        let known = places.iter().filter(|place| known(own, place).is_some());
        known.count()
    }

    /// Whether simpleperf listed the functions of an image.
    pub(crate) fn lists(&self, image: &RecordedImage) -> bool {
        self.listed_of(image).is_some()
    }

    /// The kernel is listed without its reference symbol.
    fn listed_of(&self, image: &RecordedImage) -> Option<&SimpleperfFile> {
        self.listed.get(image.long_name())
    }

    fn merged(
        &self,
        own: &SymbolImage,
        places: &[PlaceKey],
        (found, answered): (&[PlaceKey], Answered),
        request: Request,
    ) -> Answers {
        let (answers, failed) = match answered {
            Ok(answers) => (answers, None),
            Err(reason) => (Answers::default(), Some(reason)),
        };
        let mut collector = Collector::default();
        // That files fail is a reason for addresses that are not here, not for those that had no
        // name where they were recorded.
        let mut has_others = false;
        let mut at = 0;
        for place in places {
            let mut named = false;
            if found.get(at) == Some(place) {
                named = !answers.frames(at).is_empty();
                collector.copy(&answers, at);
                at += 1;
            }
            match known(own, place) {
                Some(known) if !named => self.add_frames(known, request, &mut collector),
                Some(_) => {}
                None => has_others |= !named,
            }
            collector.end_address();
        }
        let lack = answers.lack().cloned().or_else(|| self.reason(own));
        if let Some(lack) = lack.or(failed.filter(|_| has_others)) {
            collector.explain(lack);
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
                is_inlined,
                line,
            });
        }
    }

    fn image(&self, image: &RecordedImage) -> Option<&SymbolImage> {
        // A guest's files may have the host's paths.
        let is_ours = matches!(
            image.kind,
            ImageKind::User | ImageKind::Kernel { .. } | ImageKind::Module { .. }
        );
        let build_id = image.build_id.as_ref().map_or(&[][..], |id| id.as_bytes());
        let identity = Identity {
            path: image.path.clone(),
            build_id: build_id.to_vec(),
            inode: image.inode,
            device: image.device,
            avma: avma(image.kind),
        };
        let place = self.places.get(&identity).filter(|_| is_ours)?;
        self.symbols.images.get(*place)
    }

    /// Names places of a file, if the recording has a list of its functions.
    fn answer_listed(
        &self,
        image: &RecordedImage,
        places: &[PlaceKey],
        demangling: Demangling,
    ) -> Option<Answers> {
        let file = self.listed_of(image)?;
        let symbols = file.symbols.iter().map(|symbol| Listed {
            start: Svma(symbol.vaddr),
            len: symbol.len.into(),
            name: &symbol.name,
        });
        let start = match image.kind {
            ImageKind::Module { start_avma } => start_avma,
            _ => 0,
        };
        let offset = |place: &PlaceKey| place.address.wrapping_sub(start);
        let addresses = places.iter().map(|place| Svma(svma(file, offset(place))));
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

/// Where an image was in memory, of the kinds that are told apart by that.
pub(crate) fn avma(kind: ImageKind) -> Option<u64> {
    match kind {
        ImageKind::Kernel { reference_avma } => reference_avma,
        ImageKind::Module { start_avma } => Some(start_avma),
        _ => None,
    }
}

/// What an image's names say of a place; `None` if it was not looked up.
fn known<'s>(image: &'s SymbolImage, place: &PlaceKey) -> Option<&'s SymbolAddress> {
    let all = &image.addresses;
    let at = all.binary_search_by_key(&place.address, |one| one.address);
    all.get(at.ok()?)
}

/// Where an offset in the file, or in a module's memory, is in its address space. The kernel's
/// places are addresses already.
fn svma(file: &SimpleperfFile, offset: u64) -> u64 {
    let is_offset = matches!(
        file.kind,
        SimpleperfFile::ELF | SimpleperfFile::KERNEL_MODULE
    );
    if !is_offset || file.file_offset_of_min_vaddr == SimpleperfFile::UNKNOWN_OFFSET {
        return offset;
    }
    offset
        .wrapping_sub(file.file_offset_of_min_vaddr)
        .wrapping_add(file.min_vaddr)
}

#[cfg(test)]
mod tests;
