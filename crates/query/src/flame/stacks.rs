//! What stands on what, found out box by box: nothing is done for boxes that are not looked at.

use super::label::FlameLabel;
use super::waits::WaitFrames;
use foldhash::HashMap;
use rprof_profile::{EventProfile, FrameId, Node, NodeLists, StrId, Tree};
use std::borrow::Cow;
use std::ops::Range;

/// A box without its place in the picture.
#[derive(Clone, Debug)]
pub(super) struct Standing<P> {
    pub(super) label: FlameLabel,
    /// Where it is among the stacks.
    pub(super) place: P,
    pub(super) width: u64,
    pub(super) own: u64,
    pub(super) samples: u64,
}

/// Stacks in one of their two orders.
pub(super) trait Stacks {
    /// Where a box is.
    type Place;

    /// Appends the lowest boxes.
    fn lowest(&mut self, to: &mut Vec<Standing<Self::Place>>);

    /// Appends those that stand on a box; each box is asked for once.
    fn on(&mut self, one: &Standing<Self::Place>, to: &mut Vec<Standing<Self::Place>>);
}

/// Names of threads, each once, and the name of each group by number.
struct Comms {
    labels: Vec<FlameLabel>,
    of_group: Vec<u32>,
}

impl Comms {
    fn new(event: &EventProfile) -> Self {
        let mut numbers: HashMap<StrId, u32> = HashMap::default();
        let mut labels = Vec::new();
        let of_group = event.groups.iter().map(|group| {
            *numbers.entry(group.comm).or_insert_with(|| {
                labels.push(FlameLabel::Comm(group.comm));
                u32::try_from(labels.len() - 1).unwrap_or(u32::MAX)
            })
        });
        let of_group = of_group.collect();
        Self { labels, of_group }
    }

    fn number(&self, group: u32) -> u32 {
        self.of_group.get(group as usize).copied().unwrap_or(0)
    }

    fn label(&self, number: usize) -> FlameLabel {
        let nothing = FlameLabel::Frame(FrameId::from_number(0));
        self.labels.get(number).copied().unwrap_or(nothing)
    }

    /// How many lists of stacks there are.
    fn len(&self) -> usize {
        self.labels.len().max(1)
    }
}

/// Outermost frames first: a tree of stacks as it is.
pub(super) struct Callees<'e> {
    comms: Comms,
    waits: WaitFrames,
    tree: Cow<'e, Tree>,
    /// Weight and samples of each node, with what it called.
    totals: Vec<(u64, u64)>,
    /// The outermost nodes of each name of threads, then those that each node called.
    lists: NodeLists,
}

impl<'e> Callees<'e> {
    pub(super) fn new(event: &'e EventProfile, waits: WaitFrames) -> Self {
        let comms = Comms::new(event);
        let tree = if comms.labels.len() == event.groups.len() {
            Cow::Borrowed(&event.tree)
        } else {
            Cow::Owned(by_comm(&event.tree, &comms))
        };
        let nodes = tree.nodes();
        let own = nodes
            .iter()
            .map(|node| (node.self_weight, node.self_samples));
        let mut totals: Vec<(u64, u64)> = own.collect();
        for idx in (0..nodes.len()).rev() {
            if let Some(parent) = nodes[idx].parent {
                let (weight, samples) = totals[idx];
                let total = &mut totals[parent as usize];
                *total = (total.0.saturating_add(weight), total.1 + samples);
            }
        }
        let n_comms = comms.len();
        let list_of = |node: &Node| match node.parent {
            Some(parent) => n_comms + parent as usize,
            None => (node.group as usize).min(n_comms - 1),
        };
        let lists = NodeLists::of(n_comms + nodes.len(), nodes.iter().map(list_of));
        Self {
            comms,
            waits,
            tree,
            totals,
            lists,
        }
    }

    fn list(&self, number: usize) -> impl Iterator<Item = Standing<usize>> {
        let first_node = self.comms.len();
        self.lists.of_list(number).iter().map(move |&number| {
            let node = self.tree.nodes()[number as usize];
            let (width, samples) = self.totals[number as usize];
            Standing {
                label: self.waits.label(node.frame),
                place: first_node + number as usize,
                width,
                own: node.self_weight,
                samples,
            }
        })
    }
}

/// The same stacks, with groups of one name as one.
fn by_comm(tree: &Tree, comms: &Comms) -> Tree {
    let mut merged = Tree::default();
    let mut moved: Vec<u32> = Vec::with_capacity(tree.nodes().len());
    for node in tree.nodes() {
        let parent = node.parent.map(|parent| moved[parent as usize]);
        let here = merged.child(parent, comms.number(node.group), node.frame);
        merged.count(here, node.own());
        moved.push(here);
    }
    merged
}

impl Stacks for Callees<'_> {
    /// Number of the list of those that stand on it.
    type Place = usize;

    fn lowest(&mut self, to: &mut Vec<Standing<usize>>) {
        for number in 0..self.comms.len() {
            let all = self.list(number);
            let (width, samples) = all.fold((0u64, 0), |(width, samples), one| {
                (width.saturating_add(one.width), samples + one.samples)
            });
            if !self.lists.of_list(number).is_empty() {
                to.push(Standing {
                    label: self.comms.label(number),
                    place: number,
                    width,
                    own: 0,
                    samples,
                });
            }
        }
    }

    fn on(&mut self, one: &Standing<usize>, to: &mut Vec<Standing<usize>>) {
        to.extend(self.list(one.place));
    }
}

/// Innermost frames first: stacks are told apart frame by frame, as far as they are looked at.
pub(super) struct Callers<'e> {
    comms: Comms,
    waits: WaitFrames,
    nodes: &'e [Node],
    /// Stacks of a box stand side by side.
    stacks: Vec<Stack>,
}

/// What counts at a node, while its stack is gone along.
#[derive(Clone, Copy, Debug)]
struct Stack {
    /// By what it is told apart from others next: number of the name of its threads, then of the next frame further
    /// out; [`ENDED`] after the outermost.
    next: u32,
    /// The node of that frame.
    node: u32,
    weight: u64,
    samples: u64,
}

const ENDED: u32 = u32::MAX;

impl<'e> Callers<'e> {
    pub(super) fn new(event: &'e EventProfile, waits: WaitFrames) -> Self {
        let comms = Comms::new(event);
        let nodes = event.tree.nodes();
        let counted = (0u32..)
            .zip(nodes)
            .filter(|(_, node)| node.self_samples > 0);
        let stacks = counted.map(|(number, node)| Stack {
            next: comms.number(node.group),
            node: number,
            weight: node.self_weight,
            samples: node.self_samples,
        });
        Self {
            stacks: stacks.collect(),
            comms,
            waits,
            nodes,
        }
    }

    /// Puts stacks of a range side by side by what comes next, and says what each was told apart by. What comes after
    /// that is `after`.
    fn split(
        &mut self,
        range: Range<usize>,
        after: impl Fn(Stack) -> Option<u32>,
        mut take: impl FnMut(u32, Standing<Range<usize>>),
    ) {
        let nodes = self.nodes;
        let stacks = &mut self.stacks[range.clone()];
        if stacks.len() > 1 {
            stacks.sort_unstable_by_key(|stack| (stack.next, stack.node));
        }
        let mut start = range.start;
        for alike in stacks.chunk_by_mut(|a, b| a.next == b.next) {
            let next = alike[0].next;
            let place = start..start + alike.len();
            start = place.end;
            if next == ENDED {
                continue;
            }
            let mut one = Standing {
                label: self.waits.label(FrameId::from_number(next)),
                place,
                width: 0,
                own: 0,
                samples: 0,
            };
            for stack in alike {
                one.width = one.width.saturating_add(stack.weight);
                one.samples += stack.samples;
                (stack.next, stack.node) = match after(*stack) {
                    Some(node) => (nodes[node as usize].frame.number(), node),
                    None => {
                        one.own = one.own.saturating_add(stack.weight);
                        (ENDED, 0)
                    }
                };
            }
            take(next, one);
        }
    }
}

impl Stacks for Callers<'_> {
    /// Its stacks.
    type Place = Range<usize>;

    fn lowest(&mut self, to: &mut Vec<Standing<Range<usize>>>) {
        let all = 0..self.stacks.len();
        let mut comms = Vec::new();
        self.split(
            all,
            |stack| Some(stack.node),
            |comm, one| comms.push((comm, one)),
        );
        to.extend(comms.into_iter().map(|(comm, one)| Standing {
            label: self.comms.label(comm as usize),
            ..one
        }));
    }

    fn on(&mut self, one: &Standing<Range<usize>>, to: &mut Vec<Standing<Range<usize>>>) {
        let nodes = self.nodes;
        let outwards = |stack: Stack| nodes[stack.node as usize].parent;
        self.split(one.place.clone(), outwards, |_, one| to.push(one));
    }
}
