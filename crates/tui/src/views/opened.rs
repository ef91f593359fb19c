//! Which nodes of a tree are open.

use super::boxes::Boxes;
use foldhash::HashSet;
use rprof_profile::view::CallTree;
use rprof_profile::{FrameId, Profile};
use std::hash::{BuildHasher, Hasher};

/// Lines that are opened at once, at most.
const MAX_OPENED: usize = 10_000;

/// A tree of numbered nodes.
pub(crate) trait Branching {
    /// The nodes below one.
    fn below(&self, node: u32) -> &[u32];

    /// The node that all of a node's weight goes on to.
    fn only_below(&self, node: u32) -> Option<u32>;
}

impl Branching for Boxes {
    fn below(&self, node: u32) -> &[u32] {
        self.children(Some(node))
    }

    fn only_below(&self, node: u32) -> Option<u32> {
        self.only_child(node)
    }
}

impl Branching for CallTree {
    fn below(&self, node: u32) -> &[u32] {
        &self.node(node).children
    }

    fn only_below(&self, node: u32) -> Option<u32> {
        self.only_child(node)
    }
}

/// Numbers for paths of names: what is open stays so where nodes have other numbers.
pub(crate) fn path_name(above: u64, name: &str) -> u64 {
    let mut hasher = foldhash::fast::FixedState::default().build_hasher();
    hasher.write_u64(above);
    hasher.write(name.as_bytes());
    hasher.finish()
}

/// The same for a function: others of its name are in other images, or begin elsewhere.
pub(crate) fn function_name(above: u64, frame: FrameId, profile: &Profile) -> u64 {
    let Profile {
        frames, strings, ..
    } = profile;
    let of = frames.of(frame);
    let start = of.start.unwrap_or(u64::MAX);
    let image = path_name(above ^ start, strings.of(of.image).into_raw());
    path_name(image, frames.label(frame, strings).raw())
}

/// Opens a node, and on to where its weight divides.
pub(super) fn open_chain(open: &mut HashSet<u32>, tree: &impl Branching, node: u32) {
    open.extend(std::iter::successors(Some(node), |&at| tree.only_below(at)));
}

/// Opens all of the trees of these nodes; the last one first.
pub(super) fn open_below(open: &mut HashSet<u32>, tree: &impl Branching, mut todo: Vec<u32>) {
    let mut n_left = MAX_OPENED;
    while let Some(at) = todo.pop() {
        let children = tree.below(at);
        if n_left < children.len() {
            break;
        }
        n_left -= children.len();
        if !children.is_empty() {
            open.insert(at);
            todo.extend(children.iter().rev());
        }
    }
}
