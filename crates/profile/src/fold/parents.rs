//! Samples told apart by a caller of theirs: perf's `--parent`.

use crate::view::Order;
use crate::{Dimension, DimensionValue, EventProfile, Group, Profile, StrId, Tree, ValueSets};
use foldhash::fast::RandomState;
use rprof_base::Interner;

/// What becomes of samples that no caller is accepted of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Others {
    /// They have the parent `[other]`.
    Kept,
    /// They are left out.
    LeftOut,
}

/// Which functions are parents, and of which samples.
struct Parents {
    /// By number of the frame; `None` for those that are none.
    names: Vec<Option<StrId>>,
    /// Where the search begins: trees begin there, too.
    from: Order,
    /// The name for others.
    other: StrId,
    others: Others,
}

impl Profile {
    /// Gives all samples a value in [`Dimension::Parent`]: of the functions of its stack whose name is accepted, the
    /// outermost ([`Order::Caller`]) or the innermost.
    pub fn find_parents(&mut self, is_parent: impl Fn(&str) -> bool, from: Order, others: Others) {
        let names = self.frames.ids().map(|id| {
            let name = self.frames.of(id).name;
            name.filter(|&name| is_parent(self.strings.of(name).into_raw()))
        });
        let parents = Parents {
            names: names.collect(),
            from,
            other: self.strings.intern(Dimension::OTHER),
            others,
        };
        for event in &mut self.events {
            event.split(&parents, &mut self.values);
        }
    }
}

impl EventProfile {
    /// Counts its stacks again, each in the group of its parent.
    fn split(&mut self, parents: &Parents, values: &mut ValueSets) {
        let mut tree = Tree::default();
        let mut groups: Interner<u32, Group, RandomState> = Interner::default();
        let mut found: Vec<Option<StrId>> = Vec::with_capacity(self.tree.nodes().len());
        let mut path = Vec::new();
        for node in self.tree.nodes() {
            let outer = node.parent.and_then(|outer| found[outer as usize]);
            let own = parents.names[node.frame.number() as usize];
            let parent = match parents.from {
                Order::Caller => outer.or(own),
                Order::Callee => own.or(outer),
            };
            found.push(parent);
            let is_left_out = parent.is_none() && parents.others == Others::LeftOut;
            if is_left_out || node.self_samples == 0 {
                continue;
            }
            let mut group = self.groups[node.group as usize];
            let name = DimensionValue::Text(parent.unwrap_or(parents.other));
            let mut with_parent = *values.of(group.values);
            with_parent.set(Dimension::Parent, Some(name));
            group.values = values.intern(with_parent);
            let group = groups.intern(group);
            path.clear();
            let mut at = Some(node);
            while let Some(here) = at {
                path.push(here.frame);
                at = here.parent.map(|outer| &self.tree.nodes()[outer as usize]);
            }
            let inwards = path.iter().rev();
            let end = inwards.fold(None, |outer, &frame| Some(tree.child(outer, group, frame)));
            if let Some(end) = end {
                tree.count(end, node.own());
            }
        }
        tree.freeze();
        self.tree = tree;
        self.groups = groups.into_values();
    }
}
