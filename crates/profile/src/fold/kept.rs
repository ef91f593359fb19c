//! Stacks that are kept by the names of their functions.

use crate::{EventProfile, NameList, Profile, Tree};

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
    /// Counts its stacks again, without those that are dropped. `found` says of each frame whether it is wanted, and
    /// whether it is unwanted.
    fn keep_stacks(&mut self, found: &[(bool, bool)], needs_one: bool) {
        let mut tree = Tree::default();
        // By node: what its stack has.
        let mut stacks: Vec<(bool, bool)> = Vec::with_capacity(self.tree.nodes().len());
        let mut path = Vec::new();
        for node in self.tree.nodes() {
            let of_frame = |frame: usize| found.get(frame).copied().unwrap_or_default();
            let own = of_frame(node.frame.number() as usize);
            let outer = node.parent.and_then(|outer| stacks.get(outer as usize));
            let outer = outer.copied().unwrap_or_default();
            let (is_wanted, is_unwanted) = (own.0 || outer.0, own.1 || outer.1);
            stacks.push((is_wanted, is_unwanted));
            let is_kept = !is_unwanted && (is_wanted || !needs_one);
            if !is_kept || node.self_samples == 0 {
                continue;
            }
            path.clear();
            let mut at = Some(node);
            while let Some(here) = at {
                path.push(here.frame);
                at = here.parent.map(|outer| &self.tree.nodes()[outer as usize]);
            }
            let inwards = path.iter().rev();
            let end = inwards.fold(None, |outer, &frame| {
                Some(tree.child(outer, node.group, frame))
            });
            if let Some(end) = end {
                tree.count(end, node.own());
            }
        }
        tree.freeze();
        self.tree = tree;
    }
}
