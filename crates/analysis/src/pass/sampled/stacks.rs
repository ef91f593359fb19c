//! Stacks of all threads, by function, now that locations have names.

use super::pass::{StackGroup, ThreadSamples};
use super::row::NO_NODE;
use crate::locations::comm_text;
use crate::pass::counts::UnnamedWeights;
use crate::symbolize::Symbols;
use rprof_machine::History;
use rprof_profile::{StrId, Tree};
use std::collections::BTreeMap;

/// The stacks of all threads.
pub(super) struct NamedStacks {
    pub(super) tree: Tree,
    /// The names of threads that the tree's groups are.
    pub(super) comms: Vec<StrId>,
    /// By thread that read, by its node.
    places: Vec<Vec<StackPlace>>,
    pub(super) unnamed: UnnamedWeights,
}

/// Where a stack of locations is among those of functions.
#[derive(Clone, Copy, Debug)]
pub(super) struct StackPlace {
    /// [`NO_NODE`] if it is not shown.
    pub(super) node: u32,
    /// Whether its samples count for totals, where that depends on their names.
    pub(super) in_totals: bool,
}

impl NamedStacks {
    pub(super) fn of(history: &History, symbols: &mut Symbols, parts: &[ThreadSamples]) -> Self {
        let mut named = Self {
            tree: Tree::default(),
            comms: Vec::new(),
            places: Vec::with_capacity(parts.len()),
            unnamed: UnnamedWeights::default(),
        };
        let mut names: BTreeMap<String, u32> = BTreeMap::new();
        let text = |group: &StackGroup| comm_text(history, group.name).into_raw().into_owned();
        for part in parts {
            names.extend(part.groups.values().iter().map(|group| (text(group), 0)));
        }
        for (number, (name, place)) in (0..).zip(&mut names) {
            *place = number;
            named.comms.push(symbols.strings.intern(name));
        }
        for part in parts {
            let groups = part.groups.values().iter();
            let groups = groups.map(|group| names.get(&text(group)).copied().unwrap_or(0));
            let groups: Vec<u32> = groups.collect();
            let places = named.add(part, &groups, symbols);
            named.places.push(places);
        }
        let tree = std::mem::take(&mut named.tree);
        let (tree, moved) = tree.sorted();
        named.tree = tree;
        for place in named.places.iter_mut().flatten() {
            place.node = moved.get(place.node as usize).copied().unwrap_or(NO_NODE);
        }
        named
    }

    /// Where a stack is that a thread has read.
    #[inline]
    pub(super) fn place(&self, part: usize, node: u32) -> Option<StackPlace> {
        self.places.get(part)?.get(node as usize).copied()
    }

    /// Adds the stacks of a thread; `groups` says which of the tree's groups its groups are.
    fn add(&mut self, part: &ThreadSamples, groups: &[u32], symbols: &Symbols) -> Vec<StackPlace> {
        let locations = part.locations.values().iter();
        let numbers: Vec<u32> = locations.map(|&one| symbols.number(one)).collect();
        let number_of = |idx: u32| numbers.get(idx as usize).copied().unwrap_or(NO_NODE);
        let nodes = part.tree.nodes();
        let mut moved: Vec<Option<u32>> = Vec::with_capacity(nodes.len());
        let mut places = Vec::with_capacity(nodes.len());
        for node in nodes {
            let location = number_of(node.frame.number());
            let group = groups.get(node.group as usize).copied().unwrap_or(0);
            let outer = node.parent.and_then(|parent| moved[parent as usize]);
            let frames = symbols.frames(location).iter().rev();
            let here = frames.fold(outer, |outer, &frame| {
                Some(self.tree.child(outer, group, frame))
            });
            moved.push(here);
            let of = part.groups.get(node.group);
            let is_shown = of.is_some_and(|of| of.is_shown) && symbols.accepts(location);
            if is_shown {
                let image = symbols.unnamed_image(location);
                self.unnamed.add(image, node.self_weight);
            }
            places.push(StackPlace {
                node: here.filter(|_| is_shown).unwrap_or(NO_NODE),
                in_totals: symbols.adds_to_totals(location),
            });
        }
        places
    }
}
