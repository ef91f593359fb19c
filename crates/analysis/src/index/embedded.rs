//! Names that a recording brings along: rprof's own (`--embed-symbols`), of every address that samples hit, and
//! simpleperf's, of functions.

use foldhash::HashMap;
use rprof_base::{Avma, FileOffset};
use rprof_machine::{History, ImageId, ImageKind, JitCode, RecordedImage};
use rprof_perfdata::feature::{EmbeddedNames, SimpleperfFile, SymbolImage, SymbolPiece};
use rprof_perfdata::{Feature, FeatureId, Reader};

/// The names in a recording.
#[derive(Debug, Default)]
pub(crate) struct EmbeddedSymbols {
    /// By path, files with a list of their functions.
    pub(crate) listed: HashMap<Vec<u8>, SimpleperfFile>,
    /// Where the first code of files is that was mapped.
    pub(crate) first_code: HashMap<ImageId, FileOffset>,
    pub(crate) symbols: EmbeddedNames,
    /// Positions in `symbols` by all that images of a recording are told apart by.
    pub(crate) images: HashMap<Identity, usize>,
    /// Whether files are asked before.
    pub(crate) files_first: bool,
    /// What is wrong with the names.
    pub(crate) warning: Option<String>,
}

/// What an image of a recording is.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(crate) struct Identity {
    path: Vec<u8>,
    build_id: Vec<u8>,
    inode: Option<u64>,
    device: Option<(u32, u32)>,
    avma: Option<u64>,
}

impl EmbeddedSymbols {
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
                    "the names in the recording are damaged ({error}) and not used"
                ));
            }
            _ => {}
        }
        all
    }

    /// The same, to name addresses: simpleperf's lists count from where files are mapped.
    pub(crate) fn of_mapped(reader: &Reader, history: &History) -> Self {
        let mut all = Self::of(reader);
        if !all.listed.is_empty() {
            all.first_code = history.first_code();
        }
        all
    }

    /// The same, for what is to be embedded anew: files may say more by now.
    pub(crate) fn after_files(reader: &Reader, history: &History) -> Self {
        Self {
            files_first: true,
            ..Self::of_mapped(reader, history)
        }
    }

    pub(crate) fn with(mut self, symbols: EmbeddedNames) -> Self {
        for (at, image) in symbols.images.iter().enumerate() {
            let identity = Identity {
                path: symbols.string(image.path).to_vec(),
                build_id: image.build_id.clone(),
                inode: image.inode,
                device: image.device,
                avma: image.avma,
            };
            self.images.entry(identity).or_insert(at);
        }
        self.symbols = symbols;
        self
    }

    /// The functions of a jitdump, which stand in for it, with their times.
    pub(crate) fn jit_functions(&self, image: &RecordedImage) -> Vec<(Option<u64>, JitCode)> {
        let pieces = self.image(image).map_or(&[][..], |own| &own.pieces);
        let code = |piece: &SymbolPiece| JitCode {
            start: Avma(piece.start),
            len: piece.len,
            offset: FileOffset(piece.offset),
        };
        let pieces = pieces.iter().filter(|piece| piece.len > 0);
        let pieces = pieces.map(|piece| (piece.time_ns, code(piece)));
        pieces.collect()
    }

    /// Whether simpleperf listed the functions of an image.
    pub(crate) fn lists(&self, image: &RecordedImage) -> bool {
        self.list_of(image).is_some()
    }

    /// The functions that simpleperf listed of an image. The kernel is listed without its reference symbol.
    pub(crate) fn list_of(&self, image: &RecordedImage) -> Option<&SimpleperfFile> {
        self.listed.get(image.long_name())
    }

    /// What rprof embedded of an image.
    pub(crate) fn image(&self, image: &RecordedImage) -> Option<&SymbolImage> {
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
            avma: kernel_avma(image.kind),
        };
        let at = self.images.get(&identity).filter(|_| is_ours)?;
        self.symbols.images.get(*at)
    }
}

/// Where an image was in memory, of the kinds that are told apart by that.
pub(crate) fn kernel_avma(kind: ImageKind) -> Option<u64> {
    match kind {
        ImageKind::Kernel { reference_avma } => reference_avma,
        ImageKind::Module { start_avma } => Some(start_avma),
        _ => None,
    }
}
