//! Places that samples are told apart by beside the one where each was taken: the ends of branches, data.

use crate::locations::Location;
use crate::recording::Recording;
use crate::symbolize::Symbols;
use foldhash::fast::RandomState;
use rprof_base::Interner;
use rprof_machine::{ImageId, RecordedImage};
use rprof_profile::{FrameId, Frames, Level, StrId, Strings, padded_hex};
use std::num::NonZeroU32;
use std::sync::{Mutex, PoisonError};

/// Such a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Place {
    pub(super) location: Location,
    /// The address, where that makes places differ; else 0.
    pub(super) avma: u64,
    /// Who accesses it, where that makes places differ.
    pub(super) by: Option<Level>,
}

impl Place {
    /// One that is the same in all processes.
    pub(super) const fn of(location: Location) -> Self {
        Self {
            location,
            avma: 0,
            by: None,
        }
    }
}

/// Such places by number; threads share them.
#[derive(Debug, Default)]
pub(super) struct Places(Mutex<Interner<u32, Place, RandomState>>);

impl Places {
    /// The number of a place.
    pub(super) fn number(&self, place: Place) -> u64 {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.intern(place).into()
    }

    /// The place with a number.
    pub(super) fn of(&self, number: u64) -> Option<Place> {
        let all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.get(u32::try_from(number).ok()?).copied()
    }

    /// Where all of them are.
    pub(super) fn locations(&self) -> Vec<Location> {
        let all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let places = (0..).map_while(|number| all.get(number));
        places.map(|place| place.location).collect()
    }
}

/// What places are called.
pub(super) struct Naming<'p> {
    pub(super) recording: &'p Recording<'p>,
    pub(super) symbols: &'p Symbols,
    pub(super) frames: &'p Frames,
    pub(super) strings: &'p mut Strings,
}

impl Naming<'_> {
    /// The image of a place.
    pub(super) fn image(&mut self, place: Option<Place>) -> StrId {
        let images = self.recording.index.history.images();
        let image = place.and_then(|place| images.of(ImageId(place.location.image)));
        let name = image.map(RecordedImage::short_name);
        let name = name.as_deref().unwrap_or(b"[unknown]");
        self.strings.intern(&String::from_utf8_lossy(name))
    }

    /// The function at a place as tables call it, with perf's sign of its level.
    pub(super) fn symbol(&mut self, place: Option<Place>) -> StrId {
        let frame = self.frame(place);
        let text = match frame.map(|frame| self.frames.function_of(frame)) {
            Some(function) => self.frames.of(function).symbol(self.strings),
            None => "[unknown]".to_owned(),
        };
        self.strings.intern(&text)
    }

    /// Data as perf calls it: how far it is into what has a name, or its address.
    pub(super) fn data(&mut self, place: Option<Place>) -> StrId {
        let place = place.map(|place| (place, place.by.unwrap_or(Level::User).sign()));
        let text = match (place, self.name(place.map(|(place, _)| place))) {
            (Some((place, sign)), Some(name)) => {
                let number = self.symbols.number(place.location);
                format!("[{sign}] {name}+{:#x}", self.symbols.offset(number))
            }
            (Some((place, sign)), None) => {
                format!("[{sign}] {}", padded_hex(place.avma))
            }
            (None, _) => "[unknown]".to_owned(),
        };
        self.strings.intern(&text)
    }

    /// Bytes of the function at a place.
    pub(super) fn size(&self, place: Option<Place>) -> Option<u32> {
        let number = self.symbols.number(place?.location);
        self.symbols.size(number).map(NonZeroU32::get)
    }

    /// The line of the cache that data is in.
    pub(super) fn cacheline(&mut self, place: Option<Place>) -> StrId {
        let images = self.recording.index.history.images();
        let text = match place {
            Some(place) => {
                let is_mapped = images.of(ImageId(place.location.image)).is_some();
                let sign = match place.by {
                    Some(level) if is_mapped => level.sign(),
                    _ => 'X',
                };
                format!("[{sign}] {}", padded_hex(place.location.address))
            }
            None => "[unknown]".to_owned(),
        };
        self.strings.intern(&text)
    }

    /// The name of what is at a place.
    fn name(&self, place: Option<Place>) -> Option<String> {
        let frame = self.frames.function_of(self.frame(place)?);
        let name = self.frames.of(frame).name?;
        Some(self.strings.of(name).raw().to_owned())
    }

    /// The line in the source at a place.
    pub(super) fn srcline(&mut self, place: Option<Place>) -> StrId {
        let position = self
            .frame(place)
            .and_then(|frame| self.frames.of(frame).position);
        let text = match position {
            Some(place) => format!("{}:{}", self.strings.of(place.file).raw(), place.line),
            None => "??:0".to_owned(),
        };
        self.strings.intern(&text)
    }

    /// The function at a place, not one inlined there.
    fn frame(&self, place: Option<Place>) -> Option<FrameId> {
        let number = self.symbols.number(place?.location);
        self.symbols.frames(number).last().copied()
    }
}
