//! Code locations and what they are called.

use super::batch::{ImageBatch, is_over_budget, symbolize_all};
use super::known_names::SymbolizeResult;
use super::places::Positions;
use crate::Error;
use crate::index::EmbeddedSymbols;
use crate::locations::{Location, NO_STACK, TRUNCATED, UNMAPPED_KERNEL, UNMAPPED_OTHER};
use crate::recording::Recording;
use crate::stacks::StackSources;
use foldhash::HashMap;
use rprof_base::Counted;
use rprof_machine::{ImageId, ImageKind, RecordedImage};
use rprof_profile::{Filter, FrameId, FrameInfo, Frames, Level, SelfTime, StrId, Strings};
use rprof_symbols::{Detail, Reason, Request, Symbolized};
use std::borrow::Cow;
use std::num::NonZeroU32;
use std::ops::Range;

/// Code locations and their frames, with all names.
#[derive(Debug)]
pub struct Symbols {
    /// Names.
    pub strings: Strings,
    /// Functions.
    pub functions: Frames,
    /// Images without all of their names, with the reason.
    pub unnamed: Vec<(ImageId, Reason)>,
    /// What could not be used, one sentence each.
    pub warnings: Vec<String>,
    locations: Vec<Location>,
    numbers: HashMap<Location, u32>,
    /// Whether locations are those of stacks.
    in_stacks: bool,
    /// By number of the location.
    known: Vec<KnownLocation>,
    frames: Vec<FrameId>,
    /// File and line of each frame, if they are wanted.
    lines: Option<Vec<Option<SourceLine>>>,
    /// Whether the filter accepts them, by number; `None` for all.
    shown: Option<Vec<bool>>,
    pub(super) positions: Option<Positions>,
    /// Whether locations without a name have no frames.
    pub(crate) hides_unresolved: bool,
}

/// What symbols are to say.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WantedSymbols {
    pub(crate) request: Request,
    /// Needs [`Detail::Lines`].
    pub(crate) positions: Option<Positions>,
    /// No frames for what has no name.
    pub(crate) hide_unresolved: bool,
}

/// A source line: file and number.
pub type SourceLine = (StrId, u32);

/// What is known of a location.
#[derive(Clone, Copy, Debug)]
struct KnownLocation {
    /// End of its frames; they start where those of the location before end.
    end: u32,
    /// Where its function starts in the image, if it has a name.
    start: Option<u64>,
    /// Bytes from there.
    offset: u64,
    /// Bytes of its function's symbol, 0 if not known; [`Self::NAMELESS`] without a name.
    symbol_size: u32,
}

impl KnownLocation {
    const NAMELESS: u32 = u32::MAX;
}

impl Symbols {
    /// Symbolizes locations, which must be sorted.
    ///
    /// # Errors
    /// [`Error`] if threads cannot be started.
    pub(crate) fn of(
        recording: &Recording<'_>,
        stacks: &StackSources<'_>,
        locations: Vec<Location>,
        wanted: WantedSymbols,
    ) -> Result<Self, Error> {
        let WantedSymbols {
            request,
            positions,
            hide_unresolved,
        } = wanted;
        let embedded = EmbeddedSymbols::of_mapped(recording.reader, &recording.index.history);
        let symbolized = symbolize_all(recording, &locations, request, &embedded)?;
        let mut symbols = Self {
            strings: Strings::default(),
            functions: Frames::default(),
            unnamed: Vec::new(),
            warnings: embedded
                .warning
                .into_iter()
                .chain(symbolized.warnings)
                .collect(),
            numbers: (0..)
                .zip(&locations)
                .map(|(n, &location)| (location, n))
                .collect(),
            locations: Vec::new(),
            in_stacks: stacks.chains.stacks,
            known: Vec::with_capacity(locations.len()),
            frames: Vec::new(),
            lines: (request.detail == Detail::Lines).then(Vec::new),
            shown: None,
            positions,
            hides_unresolved: hide_unresolved,
        };
        let most = recording.reader.budget().limits().memory;
        let tables = stacks.tables.iter();
        let warnings = tables.flat_map(|tables| tables.warnings(most));
        symbols.warnings.extend(warnings);
        // In the order of locations, not of threads: same input, same numbers.
        for (batch, result) in symbolized.batches {
            symbols.add(
                recording,
                &batch,
                &locations[batch.locations.clone()],
                result,
            );
        }
        symbols.locations = locations;
        Ok(symbols)
    }

    /// Frames of a location, innermost first.
    #[inline]
    pub fn frames(&self, location: u32) -> &[FrameId] {
        self.frames.get(self.range(location)).unwrap_or_default()
    }

    /// File and line of a location's frames, innermost first; empty if they are not wanted.
    pub fn lines(&self, location: u32) -> &[Option<SourceLine>] {
        let lines = self.lines.as_deref().unwrap_or_default();
        lines.get(self.range(location)).unwrap_or_default()
    }

    fn range(&self, location: u32) -> Range<usize> {
        let end = |idx: u32| self.known(idx).map_or(0, |entry| entry.end as usize);
        let start = location.checked_sub(1).map_or(0, end);
        start..end(location)
    }

    fn known(&self, location: u32) -> Option<&KnownLocation> {
        self.known.get(location as usize)
    }

    /// Bytes from the start of a location's function to the location; 0 without a name, and one byte
    /// before what nothing calls, which has that name.
    pub fn offset(&self, location: u32) -> u64 {
        let offset = self.known(location).map_or(0, |entry| entry.offset);
        offset.cast_signed().max(0).cast_unsigned()
    }

    /// The same to the return address whose call is at the location.
    pub fn return_offset(&self, location: u32) -> u64 {
        let offset = self.known(location).map_or(0, |entry| entry.offset);
        offset.wrapping_add(1)
    }

    /// Where a location's function starts in its image, if it has a name: that of the symbol, not one inlined there.
    pub fn start(&self, location: u32) -> Option<u64> {
        self.known(location)?.start
    }

    /// Bytes of the symbol of a location's function; none if no symbol names it.
    pub fn size(&self, location: u32) -> Option<NonZeroU32> {
        let size = self.known(location)?.symbol_size;
        NonZeroU32::new(size).filter(|_| size != KnownLocation::NAMELESS)
    }

    /// The number of a location. All locations that occur were collected before.
    #[inline]
    pub fn number(&self, location: Location) -> u32 {
        let location = if self.in_stacks {
            location.in_stacks()
        } else {
            location
        };
        self.numbers.get(&location).copied().unwrap_or(u32::MAX)
    }

    /// How many locations have their frames: the number of the next one.
    pub(super) fn n_locations(&self) -> usize {
        self.known.len()
    }

    /// All locations, by number.
    pub fn locations(&self) -> &[Location] {
        &self.locations
    }

    /// The image of a location without a name, if there is a reason why it has none.
    #[inline]
    pub(crate) fn unnamed_image(&self, location: u32) -> Option<ImageId> {
        if self.unnamed.is_empty() || self.is_named(location) {
            return None;
        }
        let image = ImageId(self.locations.get(location as usize)?.image);
        self.lacks_names(image).then_some(image)
    }

    /// Whether some location of an image has no name, for a reason.
    #[inline]
    pub(crate) fn lacks_names(&self, image: ImageId) -> bool {
        // In the order of images, as batches are.
        let found = self.unnamed.binary_search_by_key(&image, |&(id, _)| id);
        found.is_ok()
    }

    /// Whether a location has a name.
    pub fn is_named(&self, location: u32) -> bool {
        self.known(location)
            .is_some_and(|entry| entry.symbol_size != KnownLocation::NAMELESS)
    }

    /// Whether samples at a location count for totals only now that it is known to have a name.
    #[inline]
    pub(crate) fn adds_to_totals(&self, location: u32) -> bool {
        self.hides_unresolved && self.is_named(location)
    }

    /// Whether a location is not shown since it has no name.
    pub fn is_hidden(&self, location: u32) -> bool {
        self.hides_unresolved && !self.is_named(location)
    }

    /// Looks which locations a filter of functions accepts.
    pub(crate) fn choose(
        &mut self,
        recording: &Recording<'_>,
        (filter, self_time): (&Filter, SelfTime),
    ) {
        if !filter.has_functions() {
            return;
        }
        let images = recording.index.history.images();
        let is_shown = |(number, location): (u32, &Location)| {
            let Some(&id) = self_time.of(self.frames(number)) else {
                return false;
            };
            let frame = self.functions.of(id);
            let name = frame.filter_name(&self.strings);
            let path = images.of(ImageId(location.image));
            let path = path.map(|image| String::from_utf8_lossy(image.long_name()));
            let image = self.strings.of(frame.image).into_raw();
            filter.accepts_function(&[image, path.as_deref().unwrap_or(image)], name.as_deref())
        };
        let shown = (0..).zip(&self.locations).map(is_shown).collect();
        self.shown = Some(shown);
    }

    /// Whether the filter accepts the function that a sample at a location is the self time of.
    #[inline]
    pub fn accepts(&self, location: u32) -> bool {
        let of_location = |shown: &Vec<bool>| shown.get(location as usize) == Some(&true);
        self.shown.as_ref().is_none_or(of_location)
    }

    fn add(
        &mut self,
        recording: &Recording<'_>,
        batch: &ImageBatch<'_>,
        locations: &[Location],
        result: Option<SymbolizeResult>,
    ) {
        let recorded = batch.image.map(|(_, image)| image);
        let symbolized = self.explain(recording, batch, result);
        if let (Some((id, _)), Some(reason)) = (batch.image, symbolized.missing_reason())
            && (0..locations.len()).any(|idx| symbolized.frames(idx).is_empty())
        {
            self.unnamed.push((id, reason.clone()));
        }
        let image = recorded.map_or(Cow::Borrowed(&b"[unknown]"[..]), RecordedImage::short_name);
        let code = FrameOfImage {
            image: self.strings.intern(&String::from_utf8_lossy(&image)),
            is_jit: recorded.is_some_and(RecordedImage::is_jit_code),
        };
        for (idx, location) in locations.iter().enumerate() {
            let level = level_of(location, recorded);
            let named = symbolized.frames(idx);
            let row = self.row_line(&symbolized, idx);
            let own_name = own_name(location, recorded);
            let has_inlines = self.positions.is_none_or(|positions| positions.inlines);
            for frame in named
                .iter()
                .filter(|frame| has_inlines || !frame.is_inlined)
            {
                let strings = &mut self.strings;
                if let Some(lines) = &mut self.lines {
                    let mut file = |file| strings.intern(symbolized.name(file));
                    lines.push(frame.line.map(|line| (file(line.file), line.line)));
                }
                let name = strings.intern(symbolized.name(frame.name));
                let function = code.frame(Some(name), None, level);
                let function = self.functions.intern(FrameInfo {
                    is_inlined: frame.is_inlined,
                    ..function
                });
                let place = self.node_place(&symbolized, idx, frame);
                let node = self.node(function, place);
                let placed = self.placed(node, row);
                self.frames.push(placed);
            }
            let is_named = !named.is_empty() || own_name.is_some();
            if named.is_empty() && (is_named || !self.hides_unresolved) {
                self.lines.iter_mut().for_each(|lines| lines.push(None));
                // Stacks with an address for every frame without a name would grow with the
                // recording: there, an image's nameless code counts as one.
                let address = (!self.in_stacks).then_some(location.address);
                let fde = symbolized.function_start(idx).map(|start| start.0);
                let start = fde.or(address).filter(|_| own_name.is_none());
                let name = own_name.map(|name| self.strings.intern(&name));
                let function = code.frame(name, start, level);
                self.frames.push(self.functions.intern(FrameInfo {
                    is_fde: name.is_none() && fde.is_some(),
                    ..function
                }));
            }
            self.known.push(KnownLocation {
                end: u32::try_from(self.frames.len()).unwrap_or(u32::MAX),
                start: named.last().map(|frame| frame.start),
                offset: named.last().map_or(0, |frame| frame.offset),
                symbol_size: match (is_named, named.last().and_then(|frame| frame.size)) {
                    (false, _) => KnownLocation::NAMELESS,
                    (true, size) => {
                        size.map_or(0, |size| size.get().min(KnownLocation::NAMELESS - 1))
                    }
                },
            });
        }
    }

    /// What an image's files say, with warnings of what was left out.
    fn explain(
        &mut self,
        recording: &Recording<'_>,
        batch: &ImageBatch<'_>,
        result: Option<SymbolizeResult>,
    ) -> Symbolized {
        let path = |image: &RecordedImage| String::from_utf8_lossy(&image.path).into_owned();
        if let Some((_, image)) = batch.image
            && result.as_ref().is_some_and(is_over_budget)
        {
            self.warnings.push(format!(
                "{}: its debug information takes more memory than --mem {}, or nests too deep: \
                 some names, inlined functions or lines are missing",
                path(image),
                recording.reader.budget().limits().memory,
            ));
        }
        let symbolized = match result {
            Some(Ok(symbolized)) => symbolized,
            Some(Err(reason)) => {
                self.unnamed.extend(batch.image.map(|(id, _)| (id, reason)));
                Symbolized::default()
            }
            None => Symbolized::default(),
        };
        if let Some((_, image)) = batch.image.filter(|_| symbolized.n_malformed() > 0) {
            self.warnings.push(format!(
                "{}: {}",
                path(image),
                Counted::new(
                    symbolized.n_malformed(),
                    "malformed line is ignored",
                    "malformed lines are ignored"
                )
            ));
        }
        symbolized
    }
}

/// What all frames of an image have in common.
struct FrameOfImage {
    image: StrId,
    is_jit: bool,
}

impl FrameOfImage {
    fn frame(&self, name: Option<StrId>, start: Option<u64>, level: Level) -> FrameInfo {
        FrameInfo {
            name,
            image: self.image,
            start,
            level,
            is_inlined: false,
            is_jit: self.is_jit,
            is_fde: false,
            position: None,
            place: None,
        }
    }
}

/// The name of a location that needs no symbols.
fn own_name<'a>(location: &Location, image: Option<&'a RecordedImage>) -> Option<Cow<'a, str>> {
    match image {
        // One piece of code: BPF programs are named by the record that announced them.
        Some(image) => matches!(
            image.kind,
            ImageKind::KernelSymbol | ImageKind::KernelFunction | ImageKind::OutOfLine
        )
        .then(|| String::from_utf8_lossy(&image.path)),
        None => match location.image {
            TRUNCATED => Some(Cow::Borrowed("[truncated]")),
            NO_STACK => Some(Cow::Borrowed("[no stack]")),
            _ => None,
        },
    }
}

fn level_of(location: &Location, image: Option<&RecordedImage>) -> Level {
    match image.map(|image| image.kind) {
        Some(ImageKind::User) => Level::User,
        Some(ImageKind::GuestKernel) => Level::GuestKernel,
        Some(ImageKind::GuestUser) => Level::GuestUser,
        Some(_) => Level::Kernel,
        None if location.image == UNMAPPED_KERNEL => Level::Kernel,
        None if location.image == UNMAPPED_OTHER => Level::Hypervisor,
        None => Level::User,
    }
}
