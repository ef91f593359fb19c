//! The images that functions are in.

use crate::recording::Recording;
use foldhash::HashMap;
use rprof_base::Interner;
use rprof_profile::{Frames, StrId, Strings};

/// By the short name that frames have, with build ids; several may have one name.
pub(super) fn used_images(
    recording: &Recording<'_>,
    frames: &Frames,
    strings: &Strings,
) -> Vec<(StrId, Option<String>)> {
    let in_use = frames.ids().map(|id| frames.of(id).image);
    let in_use: HashMap<&str, StrId> = in_use.map(|id| (strings.of(id).into_raw(), id)).collect();
    let mut images: Interner<u32, (StrId, Option<String>)> = Interner::default();
    for (_, image) in recording.index.history.images().iter() {
        let name = image.short_name();
        if let Some(&name) = in_use.get(String::from_utf8_lossy(&name).as_ref()) {
            let build_id = image.build_id.as_ref().map(ToString::to_string);
            images.intern((name, build_id));
        }
    }
    images.into_values()
}
