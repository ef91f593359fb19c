//! Stacks that are kept by the names of their functions.

use crate::{EventProfile, NameList, Profile, SampleCount};

impl Profile {
    /// Keeps samples whose stack has a function with a wanted name, if there are wanted ones, and none with an unwanted
    /// one. Totals stay those of all samples.
    pub fn keep_stacks(&mut self, names: &NameList) {
        if names.is_empty() {
            return;
        }
        let found = self.frames.ids().map(|id| {
            let name = self.frames.of(id).filter_name(&self.strings);
            name.map_or((false, false), |name| names.of_any(&name))
        });
        let found: Vec<(bool, bool)> = found.collect();
        for event in &mut self.events {
            event.keep_stacks(&found, names.has_wanted());
        }
    }
}

impl EventProfile {
    /// Drops samples by their stacks. `found` says of each frame whether it is wanted, and whether it is unwanted.
    fn keep_stacks(&mut self, found: &[(bool, bool)], needs_one: bool) {
        let nodes = self.tree.nodes();
        // By node: whether any of its stack is wanted, and whether any is unwanted.
        let mut stacks: Vec<(bool, bool)> = Vec::with_capacity(nodes.len());
        let mut counts = Vec::with_capacity(nodes.len());
        for node in nodes {
            let own = found.get(node.frame.number() as usize);
            let own = own.copied().unwrap_or_default();
            let outer = node.parent.and_then(|outer| stacks.get(outer as usize));
            let outer = outer.copied().unwrap_or_default();
            let (is_wanted, is_unwanted) = (own.0 || outer.0, own.1 || outer.1);
            stacks.push((is_wanted, is_unwanted));
            let is_kept = !is_unwanted && (is_wanted || !needs_one);
            counts.push(if is_kept {
                node.own()
            } else {
                SampleCount::default()
            });
        }
        self.tree = self.tree.counted(&counts);
    }
}
