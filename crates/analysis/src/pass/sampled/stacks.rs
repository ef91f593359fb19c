//! Stacks of all threads, by function or by code, now that locations have names.

use super::pass::{StackGroup, ThreadSamples};
use super::row::NO_NODE;
use crate::locations::comm_text;
use crate::pass::code_nodes::CodeNodes;
use crate::pass::counts::UnnamedWeights;
use crate::symbolize::Symbols;
use rprof_machine::History;
use rprof_profile::{Node, StrId, Tree};
use rprof_scheduling::{Cause, ThreadState};
use std::collections::BTreeMap;

/// The stacks of all threads.
#[derive(Default)]
pub(super) struct NamedStacks {
    pub(super) tree: Tree,
    /// What the tree's groups are: names of threads, and of what these wait for (`WAIT_DIMENSIONS`).
    pub(super) groups: Vec<(StrId, [Option<StrId>; 3])>,
    /// By thread that read, by its node.
    places: Vec<Vec<StackPlace>>,
    pub(super) unnamed: UnnamedWeights,
    /// By thread that read, by its node, the number of the location that it is; `None` if that is not asked for.
    locations: Option<Vec<Vec<u32>>>,
}

/// Where a stack of locations is among those with names.
#[derive(Clone, Copy, Debug)]
pub(super) struct StackPlace {
    /// [`NO_NODE`] if it is not shown.
    pub(super) node: u32,
    /// Whether the filter shows its task, whatever its function.
    pub(super) is_task_shown: bool,
    /// Whether its samples count for totals, where that depends on their names.
    pub(super) in_totals: bool,
}

impl NamedStacks {
    /// Stacks of functions, by name of the thread and by what it waits for, in an order of their own. What threads kept of stacks is freed.
    pub(super) fn of_functions(
        (history, has_places): (&History, bool),
        symbols: &mut Symbols,
        parts: &mut [ThreadSamples],
    ) -> Self {
        let mut named = Self {
            locations: has_places.then(Vec::new),
            ..Self::default()
        };
        type GroupTexts<'a> = (String, Option<Cause>, Option<&'a str>, Option<String>);
        let mut names: BTreeMap<GroupTexts<'_>, u32> = BTreeMap::new();
        let text = |group: &StackGroup| {
            let name = group.name.map(|name| comm_text(history, name).into_raw());
            let state = group.state.map(ThreadState::name);
            let waker = group.waker.map(|waker| waker.text(history).into_owned());
            let name = name.unwrap_or_default().into_owned();
            (name, group.cause, state, waker)
        };
        for part in &*parts {
            names.extend(part.groups.values().iter().map(|group| (text(group), 0)));
        }
        for (number, ((name, cause, state, waker), place)) in (0..).zip(&mut names) {
            *place = number;
            let words = [cause.map(Cause::name), *state, waker.as_deref()];
            let words = words.map(|word| word.map(|word| symbols.strings.intern(word)));
            named.groups.push((symbols.strings.intern(name), words));
        }
        for part in parts {
            let groups = part.groups.values().iter();
            let groups = groups.map(|group| names.get(&text(group)).copied().unwrap_or(0));
            let groups: Vec<u32> = groups.collect();
            named.add(part, symbols, |tree, outer, node, location| {
                let group = groups.get(node.group as usize).copied().unwrap_or(0);
                let frames = symbols.frames(location).iter().rev();
                let here =
                    frames.fold(outer, |outer, &frame| Some(tree.child(outer, group, frame)));
                [here; 2]
            });
        }
        let (tree, moved) = named.tree.sorted();
        named.tree = tree;
        for place in named.places.iter_mut().flatten() {
            place.node = moved.get(place.node as usize).copied().unwrap_or(NO_NODE);
        }
        named
    }

    /// Stacks of code, in no order. What threads kept of stacks is freed.
    pub(super) fn of_code(
        code: &CodeNodes,
        symbols: &Symbols,
        parts: &mut [ThreadSamples],
    ) -> Self {
        let mut named = Self::default();
        for part in parts {
            let mut is_caller = vec![false; part.tree.nodes().len()];
            let parents = part.tree.nodes().iter().filter_map(|node| node.parent);
            parents.for_each(|parent| is_caller[parent as usize] = true);
            let mut is_caller = is_caller.into_iter();
            named.add(part, symbols, |tree, outer, node, location| {
                let mut child = |frame, is_used| match frame {
                    Some(frame) if is_used => Some(tree.child(outer, 0, frame)),
                    _ => outer,
                };
                let caller = child(code.caller(location), is_caller.next() == Some(true));
                let sampled = child(code.sampled(location), node.self_samples > 0);
                [caller, sampled]
            });
        }
        named.tree.freeze();
        named
    }

    /// Where a stack is that a thread has read.
    #[inline]
    pub(super) fn place(&self, part: usize, node: u32) -> Option<StackPlace> {
        self.places.get(part)?.get(node as usize).copied()
    }

    /// The numbers of the locations that the nodes of a thread are; `None` if that was not asked for.
    pub(super) fn locations(&self, part: usize) -> Option<&[u32]> {
        self.locations.as_ref()?.get(part).map(Vec::as_slice)
    }

    /// Adds the stacks of a thread. `step` says the nodes of a thread's node below another one, for what is called from
    /// there and for samples that were taken there.
    fn add(
        &mut self,
        part: &mut ThreadSamples,
        symbols: &Symbols,
        mut step: impl FnMut(&mut Tree, Option<u32>, &Node, u32) -> [Option<u32>; 2],
    ) {
        let locations = part.locations.values().iter();
        let numbers: Vec<u32> = locations.map(|&one| symbols.number(one)).collect();
        let number_of = |idx: u32| numbers.get(idx as usize).copied().unwrap_or(NO_NODE);
        let tree = std::mem::take(&mut part.tree);
        let nodes = tree.nodes();
        if let Some(locations) = &mut self.locations {
            let own = nodes.iter().map(|node| number_of(node.frame.number()));
            locations.push(own.collect());
        }
        let mut moved: Vec<Option<u32>> = Vec::with_capacity(nodes.len());
        let mut places = Vec::with_capacity(nodes.len());
        for node in nodes {
            let location = number_of(node.frame.number());
            let outer = node.parent.and_then(|parent| moved[parent as usize]);
            let [caller, sampled] = step(&mut self.tree, outer, node, location);
            moved.push(caller);
            let of = part.groups.get(node.group);
            let is_task_shown = of.is_some_and(|of| of.is_shown);
            let is_shown = is_task_shown && symbols.accepts(location);
            if is_shown {
                let image = symbols.unnamed_image(location);
                self.unnamed.add(image, node.self_weight);
            }
            places.push(StackPlace {
                node: sampled.filter(|_| is_shown).unwrap_or(NO_NODE),
                is_task_shown,
                in_totals: symbols.adds_to_totals(location),
            });
        }
        self.places.push(places);
    }
}
