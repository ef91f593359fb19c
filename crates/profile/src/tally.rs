//! Counting stacks of one event, by group of tasks.

use crate::{FrameId, Tree};
use foldhash::fast::RandomState;
use rprof_base::Interner;
use std::hash::Hash;

/// Counts of one event. `G` is what tasks are told apart by (name, process, thread, CPU).
///
/// Each thread that reads has one; merged, they are the same as one that saw everything.
#[derive(Clone, Debug)]
pub struct Tally<G> {
    tree: Tree,
    groups: Interner<u32, G, RandomState>,
    last_group: Option<(G, u32)>,
    samples: u64,
    weight: u64,
}

/// Samples with the same stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct SampleCount {
    /// How many.
    pub samples: u64,
    /// Their weight, in the event's unit.
    pub weight: u64,
}

impl SampleCount {
    /// One sample.
    #[inline]
    pub const fn one(weight: u64) -> Self {
        Self { samples: 1, weight }
    }

    /// Adds others.
    #[inline]
    pub fn add(&mut self, other: Self) {
        self.samples = self.samples.saturating_add(other.samples);
        self.weight = self.weight.saturating_add(other.weight);
    }

    /// The sum of both.
    #[must_use]
    pub fn plus(mut self, other: Self) -> Self {
        self.add(other);
        self
    }

    /// What is missing to these, if `part` is of them.
    #[must_use]
    pub fn minus(self, part: Self) -> Self {
        Self {
            weight: self.weight.saturating_sub(part.weight),
            samples: self.samples.saturating_sub(part.samples),
        }
    }
}

impl std::ops::AddAssign for SampleCount {
    fn add_assign(&mut self, other: Self) {
        self.add(other);
    }
}

/// What a tally counted.
#[derive(Clone, Debug)]
pub struct TallyParts<G> {
    /// All stacks.
    pub tree: Tree,
    /// By number.
    pub groups: Vec<G>,
    /// Number of all samples, with a stack or without.
    pub samples: u64,
    /// Their weight, in the event's unit.
    pub weight: u64,
}

impl<G> Default for Tally<G> {
    fn default() -> Self {
        Self {
            tree: Tree::default(),
            groups: Interner::default(),
            last_group: None,
            samples: 0,
            weight: 0,
        }
    }
}

impl<G: Copy + Eq + Hash> Tally<G> {
    /// Counts samples for the totals that percentages are of.
    #[inline]
    pub fn add_samples(&mut self, samples: u64, weight: u64) {
        self.samples += samples;
        self.weight = self.weight.saturating_add(weight);
    }

    /// Counts samples with a stack, of a group; frames come outermost first.
    /// Returns where they were counted, for [`Self::count`]. An empty stack counts for nothing.
    #[inline]
    pub fn add_stack(
        &mut self,
        group: u32,
        frames: impl Iterator<Item = FrameId>,
        count: SampleCount,
    ) -> Option<u32> {
        let node = self.extend_stack(None, group, frames);
        if let Some(node) = node {
            self.count(node, count);
        }
        node
    }

    /// The node of a stack that goes on from a node, or begins; frames come outermost first. Nothing is counted.
    #[inline]
    pub fn extend_stack(
        &mut self,
        outer: Option<u32>,
        group: u32,
        frames: impl Iterator<Item = FrameId>,
    ) -> Option<u32> {
        frames.fold(outer, |node, frame| {
            Some(self.tree.child(node, group, frame))
        })
    }

    /// Counts more samples of a stack, given by its node.
    #[inline]
    pub fn count(&mut self, node: u32, count: SampleCount) {
        self.tree.count(node, count);
    }

    /// All stacks.
    pub fn tree(&self) -> &Tree {
        &self.tree
    }

    /// The weight counted for the totals, in the event's unit.
    pub fn weight(&self) -> u64 {
        self.weight
    }

    /// Samples counted for the totals.
    pub fn samples(&self) -> u64 {
        self.samples
    }

    /// The number of a group, new or seen before.
    #[inline]
    pub fn group(&mut self, group: G) -> u32 {
        if let Some((last, number)) = self.last_group
            && last == group
        {
            return number;
        }
        let number = self.groups.intern(group);
        self.last_group = Some((group, number));
        number
    }

    /// The group with a number.
    pub fn group_of(&self, number: u32) -> Option<&G> {
        self.groups.get(number)
    }

    /// Adds what another tally counted. Returns where its nodes are now, by number.
    pub fn merge(&mut self, other: &Self) -> Vec<u32> {
        self.samples += other.samples;
        self.weight = self.weight.saturating_add(other.weight);
        let mut moved: Vec<u32> = Vec::with_capacity(other.tree.nodes().len());
        let mut groups: Vec<Option<u32>> = vec![None; other.groups.len()];
        for node in other.tree.nodes() {
            let number = node.group as usize;
            let known = groups[number];
            let group = known.unwrap_or_else(|| self.group(other.groups.values()[number]));
            groups[number] = Some(group);
            let parent = node.parent.map(|parent| moved[parent as usize]);
            let here = self.tree.child(parent, group, node.frame);
            self.tree.count(here, node.own());
            moved.push(here);
        }
        moved
    }

    /// What was counted, without what is needed only for counting.
    pub fn into_parts(mut self) -> TallyParts<G> {
        self.tree.freeze();
        TallyParts {
            tree: self.tree,
            groups: self.groups.into_values(),
            samples: self.samples,
            weight: self.weight,
        }
    }
}
