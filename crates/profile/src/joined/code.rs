//! Code locations of several recordings: images meet by path and build id, so that builds of one program stay apart, and
//! locations by address.

use super::{MovedFrames, moved};
use crate::{CodeFrame, CodeImage, CodeKind, CodeLocation, CodeTable, Profile, StrId};
use foldhash::HashMap;

/// What is known of the locations in a table that others are added to.
#[derive(Clone, Debug, Default)]
pub(crate) struct JoinedCode {
    images: HashMap<ImageKey, u32>,
    /// Numbers of locations, by image and address: those with other inlined functions or lines are others.
    locations: HashMap<(u32, u64), Vec<u32>>,
}

type ImageKey = (StrId, Option<StrId>, CodeKind, Option<u64>);

impl JoinedCode {
    /// Adds a part's locations, with what they name, to a profile and its table. Returns their numbers there, by those
    /// in the part.
    pub(crate) fn locations(
        &mut self,
        (part, theirs): (&Profile, &CodeTable),
        (profile, code): (&mut Profile, &mut CodeTable),
    ) -> Vec<u32> {
        let images = theirs.images.iter();
        let images: Vec<u32> = images
            .map(|image| self.image((part, image), (profile, code)))
            .collect();
        let mut frames = MovedFrames::new(part);
        let own = theirs.locations.iter().map(|theirs| {
            let Profile {
                strings,
                frames: all,
                ..
            } = &mut *profile;
            let in_line = theirs.frames.iter().map(|one| CodeFrame {
                frame: frames.frame(one.frame, strings, all),
                line: one
                    .line
                    .map(|(file, line)| (moved(strings, part, file), line)),
            });
            let own = CodeLocation {
                image: images[theirs.image as usize],
                frames: in_line.collect(),
                ..theirs.clone()
            };
            self.location(own, &mut code.locations)
        });
        own.collect()
    }

    fn location(&mut self, location: CodeLocation, all: &mut Vec<CodeLocation>) -> u32 {
        let known = self
            .locations
            .entry((location.image, location.address))
            .or_default();
        let same = known
            .iter()
            .find(|&&one| all[one as usize].frames == location.frames);
        same.copied().unwrap_or_else(|| {
            let number = u32::try_from(all.len()).unwrap_or(u32::MAX);
            all.push(location);
            known.push(number);
            number
        })
    }

    fn image(
        &mut self,
        (part, theirs): (&Profile, &CodeImage),
        (profile, code): (&mut Profile, &mut CodeTable),
    ) -> u32 {
        let strings = &mut profile.strings;
        let own = CodeImage {
            name: moved(strings, part, theirs.name),
            path: moved(strings, part, theirs.path),
            build_id: theirs.build_id.map(|id| moved(strings, part, id)),
            ..*theirs
        };
        let all = &mut code.images;
        let key = (own.path, own.build_id, own.kind, own.base);
        *self.images.entry(key).or_insert_with(|| {
            all.push(own);
            u32::try_from(all.len() - 1).unwrap_or(u32::MAX)
        })
    }
}
