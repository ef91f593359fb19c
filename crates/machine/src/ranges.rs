//! Address ranges as a persistent set: every change gives a new root, old roots stay valid and
//! share what did not change. A fork costs nothing, a mapping O(log n), and what was there before
//! nothing again: equal sets have equal roots.
//!
//! [`Editor`] makes sets, [`Ranges`] finds addresses in them.

mod editor;
mod node;
mod unique;

pub(crate) use editor::Editor;
pub(crate) use node::{Backing, Range, Root};

use crate::ImageId;
use node::{NIL, Node};

/// All nodes of all sets, each once.
#[derive(Debug)]
pub(crate) struct Ranges {
    nodes: Vec<Node>,
}

impl Default for Ranges {
    fn default() -> Self {
        let nothing = Range {
            start: 0,
            end: 0,
            pgoff: 0,
            image: ImageId(u32::MAX),
            is_code: false,
            backing: Backing::File,
        };
        Self {
            nodes: vec![Node::leaf(nothing)],
        }
    }
}

impl Ranges {
    /// All ranges of a set, in no order.
    pub(crate) fn all(&self, root: Root) -> impl Iterator<Item = Range> {
        let mut open = vec![root.0];
        std::iter::from_fn(move || {
            loop {
                let at = open.pop()?;
                if at != NIL {
                    let node = &self.nodes[at as usize];
                    open.extend([node.left, node.right]);
                    return Some(node.range);
                }
            }
        })
    }

    /// The ranges of all sets, in no order; those that several sets share, once.
    pub(crate) fn of_all_sets(&self) -> impl Iterator<Item = Range> {
        let nodes = self.nodes.iter().skip(NIL as usize + 1);
        nodes.map(|node| node.range)
    }

    /// The range that holds an address.
    #[inline]
    pub(crate) fn find(&self, root: Root, address: u64) -> Option<Range> {
        let range = self.last_up_to(root, address)?;
        (address < range.end).then_some(range)
    }

    /// The last range that begins at or before an address.
    #[inline]
    pub(crate) fn last_up_to(&self, root: Root, address: u64) -> Option<Range> {
        let mut at = root.0;
        let mut best = NIL;
        while at != NIL {
            let node = &self.nodes[at as usize];
            if node.range.start <= address {
                best = at;
                at = node.right;
            } else {
                at = node.left;
            }
        }
        (best != NIL).then(|| self.nodes[best as usize].range)
    }
}
