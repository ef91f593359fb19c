//! A recording whose functions are to be shown with their code.

use super::counted::CountedCode;
use super::found::{FoundFunction, LocationNames, functions};
use super::images::ImageFiles;
use super::parts::ColdParts;
use crate::Error;
use crate::about::kind_of;
use crate::index::SampleOrder;
use crate::locations::Location;
use crate::pass::{
    CodeCounts, Progress, Query, WantedFrames, count_code, find_locations, progress_of,
};
use crate::recording::Recording;
use crate::samples::check_filter;
use crate::stacks::First;
use crate::symbolize::Symbols;
use rprof_images::{Located, NoFile};
use rprof_locate::Locator;
use rprof_machine::{ImageId, RecordedImage};
use rprof_perfdata::Reader;
use rprof_profile::code::CodeEvent;
use rprof_profile::{Filter, NameList, SampleCount};
use rprof_symbols::{Demangling, Detail, Request};
use std::rc::Rc;

/// Which samples count, and how functions are called.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CodeOptions {
    /// Which samples. Its images and functions choose what is shown; what shares are of does not depend on them.
    pub filter: Filter,
    /// Only samples whose stack has one of these functions further out; empty for all.
    pub callers: NameList,
    /// One event alone, by its number in the recording.
    pub event: Option<usize>,
    /// Functions without names, too, as FDEs have them.
    pub fde: bool,
    /// How names of functions are to read.
    pub demangling: Demangling,
}

impl CodeOptions {
    fn request(&self) -> Request {
        Request {
            detail: Detail::Functions,
            demangling: self.demangling,
            fde: self.fde,
            ..Request::default()
        }
    }
}

/// A recording, its samples counted by where they were taken.
#[derive(Debug)]
pub struct CodeRecording<'r> {
    pub(super) recording: Recording<'r>,
    pub(super) options: CodeOptions,
    /// Events that have samples, by number in the recording; all if none has.
    pub(super) events: Vec<usize>,
    pub(super) counts: CodeCounts,
    pub(super) functions: Vec<FoundFunction>,
    pub(super) files: ImageFiles<'r>,
    /// Images with samples whose functions have no names, and why, one sentence each.
    pub unnamed: Vec<String>,
    /// What could not be used, one sentence each.
    pub warnings: Vec<String>,
}

impl<'r> CodeRecording<'r> {
    /// Counts the samples of a recording, and finds their functions; `progress` is told how far it is.
    ///
    /// # Errors
    /// [`Error`] if it cannot be read at all.
    pub fn open(
        reader: &'r Reader,
        locator: &'r Locator,
        options: CodeOptions,
        progress: &mut Progress<'_>,
    ) -> Result<Self, Error> {
        Self::open_with((reader, locator), options, CountedCode::default(), progress)
    }

    /// The same, with what was counted in other recordings.
    ///
    /// # Errors
    /// [`Error`] if the recording cannot be read at all.
    pub fn open_with(
        (reader, locator): (&'r Reader, &'r Locator),
        options: CodeOptions,
        others: CountedCode,
        progress: &mut Progress<'_>,
    ) -> Result<Self, Error> {
        check_filter(reader, &options.filter)?;
        let mut recording = Recording::open(reader, locator, SampleOrder::Any)?;
        let others = others.placed(reader.events(), &mut recording.index.history);
        let (query, mut counts) = count(&recording, &options, progress)?;
        others.add_to(&mut counts);
        let mut symbols = query.symbolize(counts.locations(), options.request())?;
        symbols.warnings.extend(query.samples.source.warnings());
        drop(query);
        let events = match options.event {
            Some(event) => vec![event],
            None => events(reader, &counts),
        };
        let files = ImageFiles::default();
        let names = LocationNames::of(&symbols);
        let functions = functions((&recording, &files), names, &counts, &events);
        let unnamed = unnamed(&recording, &symbols);
        let mut warnings = symbols.warnings;
        warnings.extend(recording.warnings());
        warnings.extend(others.left_out);
        Ok(Self {
            recording,
            options,
            events,
            counts,
            functions,
            files,
            unnamed,
            warnings,
        })
    }

    /// The image of a function, as rows of profiles have it.
    pub fn image_name(&self, function: &FoundFunction) -> String {
        let images = self.recording.index.history.images();
        let name = images.of(function.image_id).map(RecordedImage::short_name);
        String::from_utf8_lossy(&name.unwrap_or_default()).into_owned()
    }

    /// Functions that have samples, the heaviest first: by the first event, then by the next.
    pub fn functions(&self) -> &[FoundFunction] {
        &self.functions
    }

    /// What functions are looked for in, in words.
    pub fn searched(&self) -> &'static str {
        match (
            self.options.filter.accepts_all(),
            self.options.callers.is_empty(),
        ) {
            (true, true) => "recording",
            (false, true) => "samples that match the filters (there may be some without them)",
            (true, false) => {
                "samples below such a caller (stacks are needed, and frame pointers miss callers of functions \
                 without a frame: record --call-graph dwarf)"
            }
            (false, false) => "samples that match the filters and are below such a caller",
        }
    }

    /// What was counted of each event, in functions or not; without counts by address.
    pub fn events(&self) -> Vec<CodeEvent> {
        let recorded = self.recording.reader.events();
        let event = |&number: &usize| {
            let event = recorded.get(number)?;
            let derived = self.options.filter.account.event();
            let (name, kind) = derived.unwrap_or((event.name.raw(), kind_of(event)));
            Some(CodeEvent {
                name: name.to_owned(),
                kind,
                precise_ip: event.attr.flags.precise_ip(),
                all: self.counts.all.get(number).copied().unwrap_or_default(),
                counts: Vec::new(),
            })
        };
        self.events.iter().filter_map(event).collect()
    }

    /// The files of a user image; found once.
    pub(super) fn located(
        &self,
        id: ImageId,
        image: &RecordedImage,
    ) -> Result<Rc<Located>, NoFile> {
        self.files.of(&self.recording, id, image)
    }

    /// The cold parts in the files of a user image.
    pub(super) fn cold_parts(&self, id: ImageId, located: &Located) -> Rc<ColdParts> {
        self.files.cold_parts(id, located)
    }

    /// Samples at a location, by event.
    pub(super) fn counts_at(&self, location: Location) -> impl Iterator<Item = SampleCount> {
        self.events.iter().map(move |&event| {
            let at = self.counts.at.get(event);
            at.and_then(|at| at.get(&location))
                .copied()
                .unwrap_or_default()
        })
    }
}

/// Images whose functions have no names, and why.
pub(super) fn unnamed(recording: &Recording<'_>, symbols: &Symbols) -> Vec<String> {
    let images = recording.index.history.images();
    let sentences = symbols.unnamed.iter().filter_map(|(id, reason)| {
        let path = String::from_utf8_lossy(images.of(*id)?.long_name());
        Some(format!("{path}: {reason}"))
    });
    sentences.collect()
}

/// Events that have samples; all but dummies if none has.
pub(super) fn events(reader: &Reader, counts: &CodeCounts) -> Vec<usize> {
    let all = reader.events().iter().enumerate();
    let all = all.filter(|(_, event)| !event.is_dummy()).map(|(at, _)| at);
    let has_samples = |&at: &usize| counts.all.get(at).is_some_and(|count| count.samples > 0);
    let events: Vec<usize> = (0..reader.events().len()).filter(has_samples).collect();
    if events.is_empty() {
        all.collect()
    } else {
        events
    }
}

/// Counts the samples of a recording by location.
pub(super) fn count<'a>(
    recording: &'a Recording<'_>,
    options: &'a CodeOptions,
    progress: &mut Progress<'_>,
) -> Result<(Query<'a>, CodeCounts), Error> {
    let n_chunks = recording.n_chunks();
    let mut first = |done| progress(progress_of(0.1, 0.4, done, n_chunks));
    if options.callers.is_empty() {
        let frames = WantedFrames::Innermost;
        let query = Query::of(recording, &options.filter, frames, First::Own)?;
        let counts = count_code(&query, None, &mut first)?;
        return Ok((query, counts));
    }
    let query = Query::of(recording, &options.filter, WantedFrames::All, First::Own)?;
    let locations = find_locations(&query, |_, _| {}, &mut first)?.locations;
    // Callers may have been inlined.
    let inlines = Request {
        detail: Detail::Inlines,
        ..options.request()
    };
    let all = query.symbolize(locations, inlines)?;
    let is_caller = |location: Location| {
        let frames = all.frames(all.number(location)).iter();
        let mut names =
            frames.filter_map(|&frame| all.functions.of(frame).filter_name(&all.strings));
        names.any(|name| options.callers.accepts(&[&name]))
    };
    let mut second = |done| progress(progress_of(0.5, 0.4, done, n_chunks));
    let counts = count_code(&query, Some(&is_caller), &mut second)?;
    Ok((query, counts))
}
