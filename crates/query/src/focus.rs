//! The part of each stack that counts.

use crate::Focus;
use rprof_profile::{FrameId, SampleCount, Tree};

/// A tree of that part of counted stacks.
pub(crate) fn part_of(counted: &Tree, focus: Focus) -> Tree {
    match focus {
        Focus::Below(focus) => below(counted, focus),
        Focus::Above(focus) => above(counted, focus),
    }
}

/// Stacks from the outermost frame that is such on inwards.
fn below(counted: &Tree, focus: FrameId) -> Tree {
    let mut tree = Tree::default();
    let mut moved: Vec<Option<u32>> = Vec::with_capacity(counted.nodes().len());
    for node in counted.nodes() {
        let parent = node.parent.and_then(|parent| moved[parent as usize]);
        let is_in = parent.is_some() || node.frame == focus;
        let here = is_in.then(|| tree.child(parent, node.group, node.frame));
        if let Some(here) = here {
            tree.count(here, node.own());
        }
        moved.push(here);
    }
    tree.freeze();
    tree
}

/// Stacks up to the outermost frame that is such.
fn above(counted: &Tree, focus: FrameId) -> Tree {
    let nodes = counted.nodes();
    let mut ends: Vec<(u32, bool)> = Vec::with_capacity(nodes.len());
    let mut counts = vec![SampleCount::default(); nodes.len()];
    for (number, node) in (0u32..).zip(nodes) {
        let outer = node.parent.map(|parent| ends[parent as usize]);
        let end = match outer {
            Some((end, true)) => (end, true),
            _ => (number, node.frame == focus),
        };
        counts[end.0 as usize].add(node.own());
        ends.push(end);
    }
    counted.counted(&counts)
}
