//! Stacks whose callers are no code: the kernel followed frame pointers, and the program was built without them.

use crate::{Level, Profile};
use rprof_base::Share;

impl Profile {
    /// Samples with a caller that no mapping holds, of all in the trees. Of samples that were counted without callers
    /// none has.
    pub fn lost_callers(&self) -> Share {
        let is_no_code: Vec<bool> = self
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
            // By node: whether it, or a caller of it, is no code. Callers stand first.
            let mut has_lost: Vec<bool> = Vec::with_capacity(event.tree.nodes().len());
            for node in event.tree.nodes() {
                let caller_has = node.parent.is_some_and(|parent| has_lost[parent as usize]);
                all = all.saturating_add(node.self_samples);
                if caller_has {
                    lost = lost.saturating_add(node.self_samples);
                }
                let is_lost = is_no_code.get(node.frame.number() as usize);
                has_lost.push(caller_has || is_lost.copied().unwrap_or(false));
            }
        }
        Share::of(lost, all)
    }
}

#[cfg(test)]
mod tests {
    use crate::{FrameInfo, SampleCount, Tree, testing};
    use rprof_base::Share;

    #[test]
    fn callers_without_code_are_lost_and_samples_in_such_code_are_not() {
        let mut profile = testing::profile(&[("main;f", 3)]);
        assert_eq!(profile.lost_callers(), Share::of(0, 3));
        let strings = &mut profile.strings;
        let (name, unknown) = (strings.intern("f"), strings.intern("[unknown]"));
        let nowhere = FrameInfo {
            name: None,
            ..FrameInfo::named(name, unknown)
        };
        let nowhere = profile.frames.intern(nowhere);
        let f = profile.frames.intern(FrameInfo::named(name, name));
        let mut tree = Tree::default();
        for (stack, samples) in [(&[f][..], 3), (&[nowhere, f, f], 2), (&[nowhere], 5)] {
            let innermost = stack
                .iter()
                .fold(None, |caller, &frame| Some(tree.child(caller, 0, frame)));
            let count = SampleCount { samples, weight: 1 };
            tree.count(innermost.unwrap(), count);
        }
        profile.events[0].tree = tree;
        assert_eq!(profile.lost_callers(), Share::of(2, 10));
    }
}
