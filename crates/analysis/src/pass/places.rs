//! Places that samples are told apart by beside the one where each was taken: the ends of branches.

use crate::locations::Location;
use crate::recording::Recording;
use crate::symbolize::Symbols;
use foldhash::fast::RandomState;
use rprof_base::Interner;
use rprof_machine::{ImageId, RecordedImage};
use rprof_profile::{FrameId, Frames, StrId, Strings};
use std::sync::{Mutex, PoisonError};

/// Such places by number; threads share them.
#[derive(Debug, Default)]
pub(super) struct Places(Mutex<Interner<u32, Location, RandomState>>);

impl Places {
    /// The number of a place.
    pub(super) fn number(&self, location: Location) -> u64 {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.intern(location).into()
    }

    /// The place with a number.
    pub(super) fn of(&self, number: u64) -> Option<Location> {
        let all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.get(u32::try_from(number).ok()?).copied()
    }

    /// All of them.
    pub(super) fn all(&self) -> Vec<Location> {
        let all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        (0..).map_while(|number| all.get(number).copied()).collect()
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
    pub(super) fn image(&mut self, place: Option<Location>) -> StrId {
        let images = self.recording.index.history.images();
        let image = place.and_then(|place| images.of(ImageId(place.image)));
        let name = image.map(RecordedImage::short_name);
        let name = name.as_deref().unwrap_or(b"[unknown]");
        self.strings.intern(&String::from_utf8_lossy(name))
    }

    /// The function at a place as tables call it, with perf's sign of its level.
    pub(super) fn symbol(&mut self, place: Option<Location>) -> StrId {
        let frame = self.frame(place);
        let text = match frame.map(|frame| self.frames.function_of(frame)) {
            Some(function) => self.frames.of(function).symbol(self.strings),
            None => "[unknown]".to_owned(),
        };
        self.strings.intern(&text)
    }

    /// The line in the source at a place.
    pub(super) fn srcline(&mut self, place: Option<Location>) -> StrId {
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
    fn frame(&self, place: Option<Location>) -> Option<FrameId> {
        let number = self.symbols.number(place?);
        self.symbols.frames(number).last().copied()
    }
}
