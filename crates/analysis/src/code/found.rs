//! The functions that samples are in.

use super::cold::join_cold;
use super::images::ImageFiles;
use crate::locations::Location;
use crate::pass::CodeCounts;
use crate::recording::Recording;
use crate::symbolize::Symbols;
use foldhash::HashMap;
use rprof_machine::ImageId;
use rprof_profile::{FrameInfo, Frames, Level, SampleCount, Strings};
use std::num::NonZeroU32;

/// A function that samples are in, or that was asked for by its name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundFunction {
    /// Its name; what stands for one where it has none (`[image+0xstart]`).
    pub name: String,
    /// The image's path, as it was recorded.
    pub image: String,
    /// Where it begins, as the file has it; in JIT code, where its code is in the jitdump.
    pub start: u64,
    /// Whether it is JIT code of a jitdump.
    pub is_jit: bool,
    /// Who runs it.
    pub level: Level,
    /// Its own samples, by event ([`super::CodeRecording::events`]), those of its cold parts included.
    pub own: Vec<SampleCount>,
    pub(super) image_id: ImageId,
    pub(super) size: Option<NonZeroU32>,
    /// Whether a symbol names it.
    pub(super) is_named: bool,
    /// Where it was sampled, sorted.
    pub(super) locations: Vec<Location>,
}

impl FoundFunction {
    /// The number of its image in the recording: several may have one path.
    pub fn image_id(&self) -> ImageId {
        self.image_id
    }
}

/// What locations are called.
#[derive(Clone, Copy)]
pub(super) struct LocationNames<'a> {
    pub(super) symbols: &'a Symbols,
    /// What frames of symbols are the numbers of.
    pub(super) frames: &'a Frames,
    pub(super) strings: &'a Strings,
}

impl<'a> LocationNames<'a> {
    pub(super) fn of(symbols: &'a Symbols) -> Self {
        Self {
            symbols,
            frames: &symbols.functions,
            strings: &symbols.strings,
        }
    }
}

/// The functions of all locations with samples, the heaviest first.
pub(super) fn functions<'r>(
    (recording, files): (&Recording<'r>, &ImageFiles<'r>),
    names: LocationNames<'_>,
    counts: &CodeCounts,
    events: &[usize],
) -> Vec<FoundFunction> {
    let mut by_place: HashMap<(u32, u64), FoundFunction> = HashMap::default();
    for (number, &location) in (0u32..).zip(names.symbols.locations()) {
        if !counts.at.iter().any(|at| at.contains_key(&location)) {
            continue;
        }
        let Some(function) = function_at(recording, names, number, location) else {
            continue;
        };
        let key = (location.image, function.start);
        let function = by_place.entry(key).or_insert(function);
        function.own.resize(events.len(), SampleCount::default());
        for (own, &event) in function.own.iter_mut().zip(events) {
            let counts = counts.at.get(event);
            let count = counts.and_then(|at| at.get(&location));
            *own += count.copied().unwrap_or_default();
        }
        function.locations.push(location);
    }
    let mut functions: Vec<FoundFunction> = by_place.into_values().collect();
    functions.sort_by_key(|one| (one.image_id, one.start));
    join_cold(recording, files, &mut functions);
    let weights = |function: &FoundFunction| -> Vec<u64> {
        function.own.iter().map(|count| count.weight).collect()
    };
    functions.sort_by(|a, b| {
        let weight = weights(b).cmp(&weights(a));
        weight.then_with(|| (a.image_id, a.start).cmp(&(b.image_id, b.start)))
    });
    functions
}

fn function_at(
    recording: &Recording<'_>,
    names: LocationNames<'_>,
    number: u32,
    location: Location,
) -> Option<FoundFunction> {
    let symbols = names.symbols;
    let image_id = ImageId(location.image);
    let image = recording.index.history.images().of(image_id)?;
    let &frame = symbols.frames(number).last()?;
    let frame: &FrameInfo = names.frames.of(frame);
    if !symbols.accepts(number) {
        return None;
    }
    let is_named = symbols.is_named(number);
    let start = if image.is_jitdump() {
        // Code that was compiled anew is another function here.
        location.address.checked_sub(symbols.offset(number))?
    } else {
        symbols.start(number).or(frame.start)?
    };
    Some(FoundFunction {
        // An address by itself is no function.
        name: frame.filter_name(names.strings)?.into_owned(),
        image: String::from_utf8_lossy(image.long_name()).into_owned(),
        start,
        is_jit: image.is_jitdump(),
        level: frame.level,
        own: Vec::new(),
        image_id,
        size: symbols.size(number),
        is_named,
        locations: Vec::new(),
    })
}
