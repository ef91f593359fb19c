//! The order of frames that weigh the same.

use crate::{FrameId, Profile};

/// Places of a profile's frames, by label.
#[derive(Debug)]
pub(super) struct Ranks(Vec<u32>);

impl Ranks {
    pub(super) fn of(profile: &Profile) -> Self {
        let frames = &profile.frames;
        let mut order: Vec<_> = frames
            .ids()
            .map(|id| {
                (
                    frames.label_parts(id, &profile.strings),
                    frames.of(id).start,
                    id,
                )
            })
            .collect();
        order.sort_unstable_by(|(a, a_start, a_id), (b, b_start, b_id)| {
            let by_label = a.compare(b);
            by_label.then_with(|| (a_start, a_id).cmp(&(b_start, b_id)))
        });
        let mut ranks = vec![0; order.len()];
        for (rank, (.., id)) in (0u32..).zip(&order) {
            ranks[id.number() as usize] = rank;
        }
        Self(ranks)
    }

    /// A frame's place.
    pub(super) fn rank(&self, frame: FrameId) -> u32 {
        self.0[frame.number() as usize]
    }
}
