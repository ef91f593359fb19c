//! What each frame becomes.

use super::Fold;
use crate::{FrameId, FrameInfo, Profile};

impl Profile {
    /// By number of the frame, the one that it becomes; `None` if it is to be its caller.
    pub(super) fn folded_frames(&mut self, folds: &[Fold]) -> Vec<Option<FrameId>> {
        let has = |fold| folds.contains(&fold);
        let ids: Vec<FrameId> = self.frames.ids().collect();
        let fold = |id: FrameId| {
            let frame = *self.frames.of(id);
            if has(Fold::Inlined) && frame.is_inlined {
                return None;
            }
            if has(Fold::Modules) {
                let module = self.module(frame);
                return Some(self.frames.intern(module));
            }
            // Generics are of one name already: names are made without arguments.
            Some(id)
        };
        ids.into_iter().map(fold).collect()
    }

    /// What stands for all code of a frame's image: `[libc.so.6]`.
    fn module(&mut self, frame: FrameInfo) -> FrameInfo {
        let image = self.strings.of(frame.image).into_raw();
        let name = if image.starts_with('[') {
            frame.image
        } else {
            let name = format!("[{image}]");
            self.strings.intern(&name)
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
