//! Callers outside all mappings: the kernel follows frame pointers, and in code without them whatever is in their place.

use crate::{FrameInfo, Level, Profile};
use rprof_base::Share;

/// Where threads begin: whatever is found to call these is no caller.
const BEGINNINGS: [&str; 4] = ["_start", "clone", "clone3", "__clone"];

impl Profile {
    /// Samples with a caller that no mapping holds, of all in the trees. Of samples that were counted without callers
    /// none has.
    pub fn lost_callers(&self) -> Share {
        let frames_that = |is: &dyn Fn(&FrameInfo) -> bool| -> Vec<bool> {
            let ids = self.frames.ids();
            ids.map(|id| is(self.frames.of(id))).collect()
        };
        let is_outside = frames_that(&|frame| {
            let is_unmapped = self.strings.of(frame.image).raw() == "[unknown]";
            is_unmapped && frame.name.is_none() && frame.level == Level::User
        });
        let is_beginning = frames_that(&|frame| {
            let name = frame.name.map(|name| self.strings.of(name).into_raw());
            name.is_some_and(|name| BEGINNINGS.contains(&name))
        });
        let (mut lost, mut all) = (0u64, 0u64);
        for event in &self.events {
            // By node: whether it, or a caller of it, is outside. Callers stand first.
            let mut has_lost: Vec<bool> = Vec::with_capacity(event.tree.nodes().len());
            for node in event.tree.nodes() {
                let of = |flags: &[bool]| {
                    let flag = flags.get(node.frame.number() as usize);
                    flag.copied().unwrap_or(false)
                };
                let caller_has = node.parent.is_some_and(|parent| has_lost[parent as usize]);
                let is_lost = caller_has && !of(&is_beginning);
                all = all.saturating_add(node.self_samples);
                if is_lost {
                    lost = lost.saturating_add(node.self_samples);
                }
                has_lost.push(is_lost || of(&is_outside));
            }
        }
        Share::of(lost, all)
    }
}

#[cfg(test)]
mod tests {
    use crate::testing;
    use rprof_base::Share;

    #[test]
    fn callers_outside_all_mappings_are_lost_and_samples_there_are_not() {
        assert_eq!(
            testing::profile(&[("main;f", 3)]).lost_callers(),
            Share::of(0, 3)
        );
        let profile = testing::with_lost_callers(2, 10);
        assert_eq!(profile.lost_callers(), Share::of(2, 10));
    }
}
