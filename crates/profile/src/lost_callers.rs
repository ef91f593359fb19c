//! Callers outside all mappings: the kernel follows frame pointers, and in code without them whatever is in their place.

use crate::{Level, Profile};
use rprof_base::Share;

impl Profile {
    /// Samples with a caller that no mapping holds, of all in the trees. Of samples that were counted without callers
    /// none has.
    pub fn lost_callers(&self) -> Share {
        let is_outside: Vec<bool> = self
            .frames
            .ids()
            .map(|id| {
                let frame = self.frames.of(id);
                let is_unmapped = self.strings.of(frame.image).raw() == "[unknown]";
                is_unmapped && frame.name.is_none() && frame.level == Level::User
            })
            .collect();
        let (mut lost, mut all) = (0u64, 0u64);
        for event in &self.events {
            // By node: whether it, or a caller of it, is outside. Callers stand first.
            let mut has_lost: Vec<bool> = Vec::with_capacity(event.tree.nodes().len());
            for node in event.tree.nodes() {
                let caller_has = node.parent.is_some_and(|parent| has_lost[parent as usize]);
                all = all.saturating_add(node.self_samples);
                if caller_has {
                    lost = lost.saturating_add(node.self_samples);
                }
                let is_lost = is_outside.get(node.frame.number() as usize);
                has_lost.push(caller_has || is_lost.copied().unwrap_or(false));
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
