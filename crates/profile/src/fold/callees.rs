//! Functions whose callees are of no interest: what they called counts as theirs.

use crate::{EventProfile, Profile, Tree};

impl Profile {
    /// Ends stacks at the outermost function whose name is accepted (perf's `--ignore-callees`).
    pub fn ignore_callees(&mut self, has_no_callees: impl Fn(&str) -> bool) {
        let matches = self.frames.ids().map(|id| {
            let name = self.frames.of(id).name;
            name.is_some_and(|name| has_no_callees(self.strings.of(name).into_raw()))
        });
        let matches: Vec<bool> = matches.collect();
        for event in &mut self.events {
            event.end_stacks_at(&matches);
        }
    }
}

impl EventProfile {
    /// Counts its stacks again, without what is further in than a frame of `ends`.
    fn end_stacks_at(&mut self, ends: &[bool]) {
        let mut tree = Tree::default();
        // Where each node is now, and whether stacks end there.
        let mut moved: Vec<(u32, bool)> = Vec::with_capacity(self.tree.nodes().len());
        for node in self.tree.nodes() {
            let outer = node.parent.map(|parent| moved[parent as usize]);
            let here = match outer {
                Some((end, true)) => (end, true),
                outer => {
                    let outer = outer.map(|(outer, _)| outer);
                    let child = tree.child(outer, node.group, node.frame);
                    (child, ends[node.frame.number() as usize])
                }
            };
            tree.count(here.0, node.own());
            moved.push(here);
        }
        tree.freeze();
        self.tree = tree;
    }
}
