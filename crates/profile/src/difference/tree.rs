//! The trees of two profiles as one.

use super::{FunctionMatch, MatchedFunction, Programs, Side, SideFunctions};
use crate::view::{FirstFrame, ThreadNames, thread_labels, thread_names};
use crate::{EventProfile, FrameId, Profile, SampleCount, Tree};
use std::collections::BTreeSet;

/// What was counted on both sides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BothCounts {
    /// Before.
    pub before: SampleCount,
    /// After.
    pub after: SampleCount,
}

impl BothCounts {
    /// Nothing on either side.
    pub const NONE: Self = Self {
        before: SampleCount {
            samples: 0,
            weight: 0,
        },
        after: SampleCount {
            samples: 0,
            weight: 0,
        },
    };

    fn of(&mut self, side: Side) -> &mut SampleCount {
        match side {
            Side::Before => &mut self.before,
            Side::After => &mut self.after,
        }
    }

    /// Counts what another counts, too.
    pub fn add(&mut self, other: Self) {
        for (sum, part) in [
            (&mut self.before, other.before),
            (&mut self.after, other.after),
        ] {
            sum.samples = sum.samples.saturating_add(part.samples);
            sum.weight = sum.weight.saturating_add(part.weight);
        }
    }
}

/// One node; its path from the root is a stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DifferentialNode {
    /// Index of the node one frame further out; `None` for threads, or with the innermost frame first, for that.
    pub parent: Option<u32>,
    /// Number of what it is called.
    pub label: u32,
    /// What was counted with just this stack.
    pub own: BothCounts,
}

/// The stacks of an event before and after, as one tree: a thread's name, then its functions. A function is the same
/// on both sides by [`FunctionMatch`]; a thread by its name, or if on each side one is left, as the one that was
/// renamed. The sums of each side are those of its profile.
#[derive(Clone, Debug, Default)]
pub struct DifferentialTree {
    labels: Vec<String>,
    /// Parents before their children, siblings in the order of their labels, each followed by all below it.
    nodes: Vec<DifferentialNode>,
    renamed_program: Option<(String, String)>,
}

/// An event of a profile.
#[derive(Clone, Copy, Debug)]
pub struct SideStacks<'a> {
    /// The profile.
    pub profile: &'a Profile,
    /// Its event.
    pub event: &'a EventProfile,
}

impl DifferentialTree {
    /// The tree of two events.
    pub fn of(
        before: SideStacks<'_>,
        after: SideStacks<'_>,
        first: FirstFrame,
        threads: ThreadNames,
    ) -> Self {
        let sides = [(Side::Before, before), (Side::After, after)];
        let names = Labels::of(&sides, threads);
        let mut union = Union {
            names: &names,
            tree: Tree::default(),
            own: Vec::new(),
        };
        for (at, (side, stacks)) in sides.into_iter().enumerate() {
            match first {
                FirstFrame::Outermost => union.add_outwards_in(at, side, stacks.event),
                FirstFrame::Innermost => union.add_inwards_out(at, side, stacks.event),
            }
        }
        let nodes = union.in_order();
        Self {
            labels: names.labels,
            nodes,
            renamed_program: names.renamed_program,
        }
    }

    /// What the recorded program was called before and after ([`FunctionMatch::renamed_program`]).
    pub fn renamed_program(&self) -> Option<&(String, String)> {
        self.renamed_program.as_ref()
    }

    /// All nodes, parents first.
    pub fn nodes(&self) -> &[DifferentialNode] {
        &self.nodes
    }

    /// What a node is called, as it is displayed and as it stands in folded stacks.
    pub fn label(&self, node: &DifferentialNode) -> &str {
        self.labels.get(node.label as usize).map_or("", |text| text)
    }

    /// What each node counts with all below it.
    pub fn totals(&self) -> Vec<BothCounts> {
        let mut totals: Vec<BothCounts> = self.nodes.iter().map(|node| node.own).collect();
        for at in (0..self.nodes.len()).rev() {
            if let Some(parent) = self.nodes[at].parent {
                let part = totals[at];
                totals[parent as usize].add(part);
            }
        }
        totals
    }

    /// What all of it counts.
    pub fn sum(&self) -> BothCounts {
        let mut sum = BothCounts::NONE;
        self.nodes.iter().for_each(|node| sum.add(node.own));
        sum
    }

    /// The numbers of a node and of those further out, the outermost first.
    pub fn path(&self, node: u32) -> Vec<u32> {
        let mut path = vec![node];
        let mut at = node;
        while let Some(parent) = self.nodes[at as usize].parent {
            path.push(parent);
            at = parent;
        }
        path.reverse();
        path
    }
}

/// What threads and functions of both sides are called.
#[derive(Debug)]
struct Labels {
    /// Sorted.
    labels: Vec<String>,
    /// By side and group.
    threads: Vec<Vec<u32>>,
    /// By side and frame: its label, and whether it is code without a name.
    functions: Vec<Vec<(u32, bool)>>,
    renamed_program: Option<(String, String)>,
}

impl Labels {
    fn of(sides: &[(Side, SideStacks<'_>)], threads: ThreadNames) -> Self {
        let programs = sides.iter().map(programs).collect::<Vec<_>>();
        let recordings = sides.iter().zip(&programs).map(side_functions);
        let matched = FunctionMatch::of(&recordings.collect::<Vec<_>>());
        let functions = matched.functions().iter().map(MatchedFunction::stack_label);
        let functions: Vec<String> = functions.collect();
        let threads = labels_of_threads(sides, threads);
        let mut labels: Vec<String> = functions.clone();
        labels.extend(threads.iter().flatten().cloned());
        labels.sort_unstable();
        labels.dedup();
        let rank = |label: &String| {
            let found = labels.binary_search(label).unwrap_or_default();
            u32::try_from(found).unwrap_or(u32::MAX)
        };
        let of_function: Vec<(u32, bool)> = functions
            .iter()
            .zip(matched.functions())
            .map(|(label, function)| (rank(label), !function.is_function))
            .collect();
        let of_frames = |(at, (_, stacks)): (usize, &(Side, SideStacks<'_>))| {
            let frames = &stacks.profile.frames;
            let label = |id| {
                let number = matched.number(at, frames.function_of(id));
                let label = number.and_then(|number| of_function.get(number as usize));
                label.copied().unwrap_or_default()
            };
            frames.ids().map(label).collect()
        };
        Self {
            threads: threads
                .iter()
                .map(|labels| labels.iter().map(rank).collect())
                .collect(),
            functions: sides.iter().enumerate().map(of_frames).collect(),
            labels,
            renamed_program: matched.renamed_program().cloned(),
        }
    }
}

fn programs((_, stacks): &(Side, SideStacks<'_>)) -> Programs {
    let threads = thread_names(stacks.profile, stacks.event);
    let nodes = stacks.event.tree.nodes().iter();
    let samples = nodes.map(|node| (node.frame, node.self_samples));
    Programs::of(&stacks.profile.about, threads.into_iter(), samples)
}

fn side_functions<'a>(
    ((side, stacks), programs): (&(Side, SideStacks<'a>), &'a Programs),
) -> SideFunctions<'a> {
    SideFunctions {
        side: *side,
        frames: &stacks.profile.frames,
        strings: &stacks.profile.strings,
        images: &stacks.profile.images,
        programs,
    }
}

/// By side and group. If one thread of each side has no partner, it is said to have another name now.
fn labels_of_threads(sides: &[(Side, SideStacks<'_>)], threads: ThreadNames) -> Vec<Vec<String>> {
    let names: Vec<Vec<&str>> = sides
        .iter()
        .map(|(_, stacks)| thread_names(stacks.profile, stacks.event))
        .collect();
    // Together: a pool of one side may be one thread of the other.
    let mut all = thread_labels(&names.concat(), threads);
    let n_before = names.first().map_or(0, Vec::len);
    let set = |labels: &[String]| labels.iter().cloned().collect::<BTreeSet<String>>();
    let (before, after) = (set(&all[..n_before]), set(&all[n_before..]));
    let gone: Vec<&String> = before.difference(&after).collect();
    let came: Vec<&String> = after.difference(&before).collect();
    if let ([gone], [came]) = (&gone[..], &came[..]) {
        let renamed = format!("{gone} -> {came}");
        let is_renamed = |label: &&mut String| label == gone || label == came;
        all.iter_mut()
            .filter(is_renamed)
            .for_each(|label| renamed.clone_into(label));
    }
    let after = all.split_off(n_before);
    vec![all, after]
}

/// A tree of both sides that grows.
struct Union<'n> {
    names: &'n Labels,
    /// Its frames are numbers of labels.
    tree: Tree,
    own: Vec<BothCounts>,
}

impl Union<'_> {
    fn child(&mut self, parent: Option<u32>, label: u32) -> u32 {
        let node = self.tree.child(parent, 0, FrameId::from_number(label));
        if node as usize >= self.own.len() {
            self.own.resize(node as usize + 1, BothCounts::NONE);
        }
        node
    }

    fn count(&mut self, node: u32, side: Side, count: SampleCount) {
        let mut counts = BothCounts::NONE;
        *counts.of(side) = count;
        if let Some(own) = self.own.get_mut(node as usize) {
            own.add(counts);
        }
    }

    fn add_outwards_in(&mut self, at: usize, side: Side, event: &EventProfile) {
        let names = self.names;
        let mut places: Vec<(u32, FrameId)> = Vec::with_capacity(event.tree.nodes().len());
        for node in event.tree.nodes() {
            let (label, is_nameless) = names.functions[at][node.frame.number() as usize];
            let parent = node.parent.map(|parent| places[parent as usize]);
            let label_of = |frame: FrameId| names.functions[at][frame.number() as usize].0;
            let place = match parent {
                // A run of code without names is one.
                Some((place, outer)) if is_nameless && label_of(outer) == label => place,
                Some((place, _)) => self.child(Some(place), label),
                None => {
                    let thread = names.threads[at][node.group as usize];
                    let thread = self.child(None, thread);
                    self.child(Some(thread), label)
                }
            };
            places.push((place, node.frame));
            self.count(place, side, node.own());
        }
    }

    fn add_inwards_out(&mut self, at: usize, side: Side, event: &EventProfile) {
        let names = self.names;
        let nodes = event.tree.nodes();
        for node in nodes.iter().filter(|node| node.self_samples > 0) {
            let mut place = None;
            let mut before = None;
            let mut outer = Some(node);
            while let Some(here) = outer {
                let (label, is_nameless) = names.functions[at][here.frame.number() as usize];
                if !(is_nameless && before == Some(label)) {
                    place = Some(self.child(place, label));
                }
                before = Some(label);
                outer = here.parent.map(|parent| &nodes[parent as usize]);
            }
            let thread = names.threads[at][node.group as usize];
            let place = self.child(place, thread);
            self.count(place, side, node.own());
        }
    }

    /// Its nodes, siblings in the order of their labels.
    fn in_order(self) -> Vec<DifferentialNode> {
        let children = self.tree.child_lists();
        let sorted = |parent| {
            let mut list = children.of(parent).to_vec();
            let label = |node: &u32| self.tree.nodes()[*node as usize].frame;
            list.sort_unstable_by_key(|node| std::cmp::Reverse(label(node)));
            list
        };
        let mut open: Vec<(u32, Option<u32>)> = Vec::new();
        open.extend(sorted(None).into_iter().map(|node| (node, None)));
        let mut nodes = Vec::with_capacity(self.own.len());
        while let Some((node, parent)) = open.pop() {
            let place = u32::try_from(nodes.len()).unwrap_or(u32::MAX);
            nodes.push(DifferentialNode {
                parent,
                label: self.tree.nodes()[node as usize].frame.number(),
                own: self.own[node as usize],
            });
            let below = sorted(Some(node)).into_iter();
            open.extend(below.map(|child| (child, Some(place))));
        }
        nodes
    }
}

#[cfg(test)]
mod tests;
