//! What each frame becomes.

use super::Fold;
use crate::{FrameId, FrameInfo, NodePlace, Position, Profile};
use foldhash::HashMap;

impl Profile {
    /// By number of the frame, the one that it becomes; `None` if it is to be its caller.
    pub(super) fn folded_frames(&mut self, folds: &[Fold]) -> Vec<Option<FrameId>> {
        let has = |fold| folds.contains(&fold);
        let ids: Vec<FrameId> = self.frames.ids().collect();
        let mut starts: HashMap<FrameInfo, Option<u64>> = HashMap::default();
        for &id in &ids {
            let frame = *self.frames.of(id);
            let start = starts.entry(same_name(frame)).or_insert(frame.start);
            *start = (*start).min(frame.start);
        }
        let fold = |id: FrameId| {
            let frame = *self.frames.of(id);
            if has(Fold::Inlined) && frame.is_inlined {
                return None;
            }
            if has(Fold::Modules) {
                let module = self.module(frame);
                return Some(self.frames.intern(module));
            }
            if !has(Fold::Generics) || frame.name.is_none() {
                return Some(id);
            }
            let start = starts.get(&same_name(frame)).copied().flatten();
            Some(self.moved_to(start, frame))
        };
        ids.into_iter().map(fold).collect()
    }

    /// A frame whose function begins elsewhere; its places stay.
    fn moved_to(&mut self, start: Option<u64>, frame: FrameInfo) -> FrameId {
        let frames = &mut self.frames;
        let function = FrameInfo {
            start,
            position: None,
            place: None,
            ..frame
        };
        let mut moved = frames.intern(function);
        let place = frame.place.map(|place| NodePlace {
            function: moved,
            ..place
        });
        if place.is_some() {
            moved = frames.intern(FrameInfo { place, ..function });
        }
        let position = frame.position.map(|position| Position {
            function: moved,
            ..position
        });
        match position {
            None => moved,
            Some(_) => frames.intern(FrameInfo {
                position,
                place,
                ..function
            }),
        }
    }

    /// What stands for all code of a frame's image: `[libc.so.6]`.
    fn module(&mut self, frame: FrameInfo) -> FrameInfo {
        let image = self.strings.of(frame.image).into_raw();
        let name = match image.starts_with('[') {
            true => frame.image,
            false => {
                let name = format!("[{image}]");
                self.strings.intern(&name)
            }
        };
        FrameInfo {
            name: Some(name),
            image: frame.image,
            start: None,
            level: frame.level,
            is_inlined: false,
            is_jit: false,
            is_fde: false,
            position: None,
            place: None,
        }
    }
}

/// A frame without what tells it from others of its name.
fn same_name(frame: FrameInfo) -> FrameInfo {
    FrameInfo {
        start: None,
        position: None,
        place: None,
        ..frame
    }
}
