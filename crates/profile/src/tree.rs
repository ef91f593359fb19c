//! A tree of stacks, outermost frame first, with what was counted at each node.

mod parts;
mod self_time;

use crate::{FrameId, SampleCount};
use foldhash::HashMap;

pub use parts::UseOrder;
pub use self_time::SelfTime;

/// One node; its path from the root is a stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Node {
    /// Index of the node one frame further out; `None` for the outermost.
    pub parent: Option<u32>,
    /// Index of the group of tasks it belongs to.
    pub group: u32,
    /// The innermost frame of its stack.
    pub frame: FrameId,
    /// Weight of the samples with just this stack, in the event's unit.
    pub self_weight: u64,
    /// Number of those samples.
    pub self_samples: u64,
}

impl Node {
    /// What was counted with just this stack.
    #[inline]
    pub fn own(&self) -> SampleCount {
        SampleCount {
            samples: self.self_samples,
            weight: self.self_weight,
        }
    }
}

/// All nodes; parents stand before their children.
#[derive(Clone, Debug, Default)]
pub struct Tree {
    nodes: Vec<Node>,
    /// By parent and frame, as one number: that is hashed in half the time of two.
    children: HashMap<u64, u32>,
}

/// A step on the way through a tree, of nodes that are the outermost of their rows.
#[derive(Clone, Copy, Debug)]
pub(crate) enum FirstStep {
    /// To a node, and what it called.
    In { row: usize, node: usize },
    /// Out of the last row that was not left.
    Out { row: usize },
}

/// Marks the upper half of the keys of outermost nodes: groups are few.
const OUTERMOST: u32 = 1 << 31;

impl Tree {
    /// The nodes, parents first.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// The child of a node (or, for `None`, of a group) with this frame, new or seen before.
    #[inline]
    pub fn child(&mut self, parent: Option<u32>, group: u32, frame: FrameId) -> u32 {
        let parent_key = parent.unwrap_or(OUTERMOST | group);
        let key = u64::from(parent_key) << 32 | u64::from(frame.number());
        let next = u32::try_from(self.nodes.len()).unwrap_or(OUTERMOST);
        *self.children.entry(key).or_insert_with(|| {
            self.nodes.push(Node {
                parent,
                group,
                frame,
                self_weight: 0,
                self_samples: 0,
            });
            next
        })
    }

    /// Counts samples whose stack ends at a node.
    #[inline]
    pub fn count(&mut self, node: u32, count: SampleCount) {
        if let Some(node) = self.nodes.get_mut(node as usize) {
            node.self_weight = node.self_weight.saturating_add(count.weight);
            node.self_samples += count.samples;
        }
    }

    /// The nodes of a stack, given by its innermost, from there on; none for `None`.
    pub fn path(&self, innermost: Option<u32>) -> impl Iterator<Item = &Node> {
        let node = |number: Option<u32>| self.nodes.get(number? as usize);
        std::iter::successors(node(innermost), move |here| node(here.parent))
    }

    /// Weight of each node with all that it called.
    pub fn totals(&self) -> Vec<u64> {
        let mut totals: Vec<u64> = self.nodes.iter().map(|node| node.self_weight).collect();
        for idx in (0..self.nodes.len()).rev() {
            if let Some(parent) = self.nodes[idx].parent {
                totals[parent as usize] = totals[parent as usize].saturating_add(totals[idx]);
            }
        }
        totals
    }

    /// Makes counts of nodes' own samples, by number, those with all that they called.
    pub(crate) fn add_callees(&self, counts: &mut [SampleCount]) {
        for idx in (0..self.nodes.len()).rev() {
            if let Some(parent) = self.nodes[idx].parent {
                let count = counts[idx];
                counts[parent as usize].add(count);
            }
        }
    }

    /// Calls `visit` for each node and its row, unless a node further out is of the same row: recursion counts once.
    pub(crate) fn for_each_first(
        &self,
        children: &ChildLists,
        rows: (&[u32], usize),
        mut visit: impl FnMut(usize, usize),
    ) {
        if let Some(ends) = self.ends() {
            // Where the callees of each row's last first node end.
            let mut end_of_row = vec![0; rows.1];
            for (node, &row) in rows.0.iter().enumerate() {
                let row = row as usize;
                if node >= end_of_row[row] as usize {
                    end_of_row[row] = ends[node];
                    visit(row, node);
                }
            }
            return;
        }
        self.walk_firsts(children, rows, |step| {
            if let FirstStep::In { row, node } = step {
                visit(row, node);
            }
        });
    }

    /// For each node the number after all that it called, if each node stands before that and nothing else in between.
    fn ends(&self) -> Option<Vec<u32>> {
        let mut ends: Vec<u32> = (1u32..).take(self.nodes.len()).collect();
        let mut n_callees = vec![0u32; self.nodes.len()];
        for (idx, node) in self.nodes.iter().enumerate().rev() {
            if ends[idx] as usize != idx + 1 + n_callees[idx] as usize {
                return None;
            }
            if let Some(parent) = node.parent {
                let parent = parent as usize;
                ends[parent] = ends[parent].max(ends[idx]);
                n_callees[parent] += n_callees[idx] + 1;
            }
        }
        Some(ends)
    }

    /// The same, and says when a row is left again: of those not left, each was called by the one before.
    pub(crate) fn walk_firsts(
        &self,
        children: &ChildLists,
        (row_of_node, n_rows): (&[u32], usize),
        mut visit: impl FnMut(FirstStep),
    ) {
        let mut on_path = vec![false; n_rows];
        let mut path: Vec<(u32, bool)> = Vec::new();
        let mut todo: Vec<u32> = children.of(None).to_vec();
        while let Some(node) = todo.pop() {
            let parent = self.nodes[node as usize].parent;
            while path.last().map(|&(last, _)| last) != parent {
                if let Some((left, true)) = path.pop() {
                    let row = row_of_node[left as usize] as usize;
                    on_path[row] = false;
                    visit(FirstStep::Out { row });
                }
            }
            let row = row_of_node[node as usize] as usize;
            let is_first = !on_path[row];
            if is_first {
                on_path[row] = true;
                let node = node as usize;
                visit(FirstStep::In { row, node });
            }
            path.push((node, is_first));
            todo.extend(children.of(Some(node)));
        }
    }

    /// Forgets what is needed only for adding.
    pub fn freeze(&mut self) {
        self.children = HashMap::default();
        self.nodes.shrink_to_fit();
    }

    /// For each node, its children.
    pub fn child_lists(&self) -> ChildLists {
        let slots = self.nodes.iter().map(|node| slot(node.parent));
        ChildLists(NodeLists::of(self.nodes.len() + 1, slots))
    }
}

/// Numbers of nodes, listed by what each has one of: two arrays, whatever lengths the lists have.
#[derive(Clone, Debug)]
pub struct NodeLists {
    /// One more than there are lists.
    starts: Vec<u32>,
    nodes: Vec<u32>,
}

impl NodeLists {
    /// Lists of nodes, by the number of the list that each is in.
    pub fn of(n_lists: usize, list_of_node: impl Iterator<Item = usize> + Clone) -> Self {
        let mut starts = vec![0u32; n_lists + 1];
        let mut n_nodes = 0;
        for list in list_of_node.clone() {
            starts[list + 1] += 1;
            n_nodes += 1;
        }
        for list in 1..starts.len() {
            starts[list] += starts[list - 1];
        }
        let mut at = starts.clone();
        let mut nodes = vec![0; n_nodes];
        for (number, list) in (0u32..).zip(list_of_node) {
            let place = &mut at[list];
            nodes[*place as usize] = number;
            *place += 1;
        }
        Self { starts, nodes }
    }

    /// The nodes of a list, in order.
    pub fn of_list(&self, list: usize) -> &[u32] {
        let (start, end) = (self.starts[list], self.starts[list + 1]);
        &self.nodes[start as usize..end as usize]
    }
}

/// The children of every node.
#[derive(Debug)]
pub struct ChildLists(NodeLists);

impl ChildLists {
    /// Children of a node, or for `None` the outermost nodes.
    pub fn of(&self, parent: Option<u32>) -> &[u32] {
        self.0.of_list(slot(parent))
    }
}

/// The list of a node's children.
fn slot(parent: Option<u32>) -> usize {
    parent.map_or(0, |parent| parent as usize + 1)
}
