//! Stacks of samples one by one, as pictures show them.

use super::folded;
use crate::view::picture_label;
use crate::{FrameId, SampledProfile};
use foldhash::{HashMap, HashSet};

impl SampledProfile {
    /// Makes frames that pictures call the same one frame, and a run of those without names, as broken frame pointers
    /// make it.
    pub fn fold_labels(&mut self) {
        let profile = &self.profile;
        let mut first: HashMap<String, FrameId> = HashMap::default();
        let mut nameless: HashSet<FrameId> = HashSet::default();
        let fold = |id: FrameId| {
            let one = *first.entry(picture_label(profile, id)).or_insert(id);
            if !profile.frames.of(id).is_function() {
                nameless.insert(one);
            }
            Some(one)
        };
        let frames: Vec<Option<FrameId>> = profile.frames.ids().map(fold).collect();
        let longest = |frame| usize::from(nameless.contains(&frame));
        let (mut stacks, moved) = folded(&self.stacks, &frames, longest);
        stacks.freeze();
        self.stacks = stacks;
        self.samples
            .map_stacks(|stack| moved.get(stack as usize).copied());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{FrameInfo, SampleRow, testing};

    /// The stack of each sample, by the labels of its frames.
    fn stacks(sampled: &SampledProfile) -> Vec<String> {
        let nodes = sampled.stacks.nodes();
        let stack = |node: u32| {
            let path = std::iter::successors(Some(node), |&at| nodes[at as usize].parent);
            let label = |at: u32| picture_label(&sampled.profile, nodes[at as usize].frame);
            let mut labels: Vec<String> = path.map(label).collect();
            labels.reverse();
            labels.join(";")
        };
        let stacks = sampled.samples.iter().map(|sample| sample.stack);
        stacks
            .map(|node| node.map_or_else(String::new, stack))
            .collect()
    }

    #[test]
    fn samples_keep_their_stacks_by_the_names_of_pictures() {
        let mut sampled = testing::sampled(&[(0, "a", "main;f;f", 3), (1, "a", "", 4)]);
        let main = sampled.stacks.nodes()[0].frame;
        let nameless = FrameInfo {
            name: None,
            ..testing::function(&mut sampled.profile, "", "x")
        };
        let elsewhere = FrameInfo {
            start: Some(7),
            ..nameless
        };
        let frames = &mut sampled.profile.frames;
        let (x, y) = (frames.intern(nameless), frames.intern(elsewhere));
        let f = sampled.stacks.nodes()[1].frame;
        for (path, weight) in [(&[main, x, y, x, f][..], 1), (&[main, y, f], 2)] {
            let push = |node, &frame| Some(sampled.stacks.child(node, 0, frame));
            let stack = path.iter().fold(None, push);
            let row = sampled.samples.row(0);
            sampled.samples.push(SampleRow {
                stack,
                weight,
                ..row
            });
        }
        sampled.fold_labels();
        let expected = ["main;f;f", "", "main;[x];f", "main;[x];f"];
        assert_eq!(stacks(&sampled), expected);
        let rows: Vec<SampleRow> = sampled.samples.iter().collect();
        assert_eq!(rows[2].stack, rows[3].stack);
        assert_eq!(rows.iter().map(|row| row.weight).sum::<u64>(), 10);
    }
}
