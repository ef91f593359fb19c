//! Frames of one profile in another: what is called the same is one.

use crate::{FrameId, FrameInfo, Frames, NodePlace, Position, Profile, StrId, Strings};
use foldhash::HashMap;

/// Frames of a part, with the names that they have in another profile.
#[derive(Debug)]
pub(crate) struct MovedFrames<'p> {
    part: &'p Profile,
    known: HashMap<FrameId, FrameId>,
}

impl<'p> MovedFrames<'p> {
    pub(crate) fn new(part: &'p Profile) -> Self {
        let known = HashMap::default();
        Self { part, known }
    }

    /// The number of a frame in the other profile.
    pub(crate) fn frame(
        &mut self,
        id: FrameId,
        strings: &mut Strings,
        frames: &mut Frames,
    ) -> FrameId {
        if let Some(&known) = self.known.get(&id) {
            return known;
        }
        let theirs = *self.part.frames.of(id);
        let part = self.part;
        let position = theirs.position.map(|position| Position {
            file: moved(strings, part, position.file),
            line: position.line,
            function: self.frame(position.function, strings, frames),
        });
        let place = theirs.place.map(|place| NodePlace {
            text: moved(strings, part, place.text),
            number: place.number,
            function: self.frame(place.function, strings, frames),
        });
        let own = frames.intern(FrameInfo {
            name: theirs.name.map(|name| moved(strings, part, name)),
            image: moved(strings, part, theirs.image),
            position,
            place,
            ..theirs
        });
        self.known.insert(id, own);
        own
    }
}

/// The number of a part's string in other strings.
pub(crate) fn moved(strings: &mut Strings, part: &Profile, id: StrId) -> StrId {
    strings.intern(part.strings.of(id).into_raw())
}
