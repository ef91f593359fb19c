//! Flame graphs as boxes: where each frame begins, and how wide it is.

use crate::SampleSelection;
use crate::chosen::Chosen;
use foldhash::HashMap;
use rprof_profile::view::FirstFrame;
use rprof_profile::{EventProfile, FrameId, Profile, SampledProfile, StrId};
use std::cmp::Reverse;

/// What stands next to what.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum FlameOrder {
    /// The heaviest to the left.
    #[default]
    Heaviest,
    /// By name: the same function is at the same place in pictures of several recordings.
    Name,
}

/// One box.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlameBox {
    /// What it stands for.
    pub label: FlameLabel,
    /// Index of the box that it stands on; `None` for the lowest.
    pub parent: Option<u32>,
    /// How many boxes are below it.
    pub depth: u32,
    /// What is to the left of it, in the event's unit.
    pub start: u64,
    /// Its width, in the event's unit: of samples in it or in what is above it.
    pub width: u64,
    /// Of that, what is above nothing: its own samples.
    pub own: u64,
    /// How many samples are in it or above it.
    pub samples: u64,
}

/// What a box stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FlameLabel {
    /// Threads of one name.
    Comm(StrId),
    /// A function, or code without a name.
    Frame(FrameId),
}

/// All boxes of a picture. Each comes after the one that it stands on, and boxes of one depth from left to right.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FlameLayout {
    /// The boxes.
    pub boxes: Vec<FlameBox>,
    /// The width of all.
    pub whole: u64,
    /// How many boxes are on each other, at most.
    pub depth: u32,
}

/// A node while stacks are merged.
#[derive(Clone, Copy, Debug)]
struct Merged {
    label: FlameLabel,
    parent: Option<u32>,
    own: u64,
    own_samples: u64,
    width: u64,
    samples: u64,
}

/// Stacks that are merged.
#[derive(Debug, Default)]
struct Merging {
    nodes: Vec<Merged>,
    children: HashMap<(Option<u32>, FlameLabel), u32>,
}

impl FlameLayout {
    /// Boxes of an event's stacks, the threads' names as the lowest.
    pub fn of(
        profile: &Profile,
        event: &EventProfile,
        first: FirstFrame,
        order: FlameOrder,
    ) -> Self {
        let mut merging = Merging::default();
        match first {
            FirstFrame::Outermost => merging.add_outermost_first(event),
            FirstFrame::Innermost => merging.add_innermost_first(event),
        }
        merging.sum();
        let nodes = merging.nodes;
        let mut children: Vec<Vec<u32>> = vec![Vec::new(); nodes.len() + 1];
        for (number, node) in (0u32..).zip(&nodes) {
            children[node.parent.map_or(0, |parent| parent as usize + 1)].push(number);
        }
        for list in &mut children {
            sort(list, &nodes, order, profile);
        }
        place(&nodes, &children)
    }

    /// Boxes in order of time: what follows each other is one box as far as its stack is the same. Each thread has a
    /// lowest box of its own, in the order of their first samples.
    pub fn in_time(sampled: &SampledProfile, selection: &SampleSelection) -> Self {
        let chosen = Chosen::of(sampled, selection);
        let mut of_thread: Vec<Vec<(u32, u64)>> = vec![Vec::new(); sampled.threads.len()];
        for sample in sampled.samples.rows(chosen.range.clone()) {
            if chosen.is_in_totals(&sample)
                && let Some(stack) = sample.stack
                && chosen.is_shown(&sample, stack)
            {
                of_thread[sample.thread as usize].push((stack, sample.weight));
            }
        }
        let mut layout = Self::default();
        for (thread, samples) in sampled.threads.iter().zip(of_thread) {
            if !samples.is_empty() {
                layout.append(sampled, FlameLabel::Comm(thread.comm), &samples);
            }
        }
        layout
    }

    /// Appends what follows each other in a thread.
    fn append(&mut self, sampled: &SampledProfile, thread: FlameLabel, samples: &[(u32, u64)]) {
        let nodes = sampled.stacks.nodes();
        // Open boxes: their indices, and the node of each but the first.
        let mut open: Vec<(u32, Option<u32>)> = Vec::new();
        let mut path: Vec<u32> = Vec::new();
        self.open(thread, None, &mut open);
        for &(stack, weight) in samples {
            path.clear();
            path.extend(std::iter::successors(Some(stack), |&node| {
                nodes[node as usize].parent
            }));
            path.reverse();
            let open_path = open.iter().skip(1).map(|&(_, node)| node);
            let shared = open_path
                .zip(&path)
                .take_while(|(a, b)| *a == Some(**b))
                .count();
            open.truncate(shared + 1);
            for &node in path.iter().skip(shared) {
                let label = FlameLabel::Frame(nodes[node as usize].frame);
                self.open(label, Some(node), &mut open);
            }
            for &(idx, _) in &open {
                let open = &mut self.boxes[idx as usize];
                open.width = open.width.saturating_add(weight);
                open.samples += 1;
            }
            if let Some(&(last, _)) = open.last() {
                self.boxes[last as usize].own += weight;
            }
            self.whole = self.whole.saturating_add(weight);
        }
    }

    fn open(&mut self, label: FlameLabel, node: Option<u32>, open: &mut Vec<(u32, Option<u32>)>) {
        let depth = u32::try_from(open.len()).unwrap_or(u32::MAX);
        self.depth = self.depth.max(depth + 1);
        let idx = u32::try_from(self.boxes.len()).unwrap_or(u32::MAX);
        self.boxes.push(FlameBox {
            label,
            parent: open.last().map(|&(idx, _)| idx),
            depth,
            start: self.whole,
            width: 0,
            own: 0,
            samples: 0,
        });
        open.push((idx, node));
    }
}

impl Merging {
    fn child(&mut self, parent: Option<u32>, label: FlameLabel) -> u32 {
        let next = u32::try_from(self.nodes.len()).unwrap_or(u32::MAX);
        let nodes = &mut self.nodes;
        *self.children.entry((parent, label)).or_insert_with(|| {
            nodes.push(Merged {
                label,
                parent,
                own: 0,
                own_samples: 0,
                width: 0,
                samples: 0,
            });
            next
        })
    }

    fn count(&mut self, node: u32, weight: u64, samples: u64) {
        let node = &mut self.nodes[node as usize];
        node.own = node.own.saturating_add(weight);
        node.own_samples += samples;
    }

    fn add_outermost_first(&mut self, event: &EventProfile) {
        let mut moved: Vec<u32> = Vec::with_capacity(event.tree.nodes().len());
        for node in event.tree.nodes() {
            let parent = match node.parent {
                Some(parent) => moved[parent as usize],
                None => self.child(None, comm_of(event, node.group)),
            };
            let here = self.child(Some(parent), FlameLabel::Frame(node.frame));
            self.count(here, node.self_weight, node.self_samples);
            moved.push(here);
        }
    }

    fn add_innermost_first(&mut self, event: &EventProfile) {
        let nodes = event.tree.nodes();
        for node in nodes.iter().filter(|node| node.self_samples > 0) {
            let mut here = self.child(None, comm_of(event, node.group));
            let mut at = Some(node);
            while let Some(frame) = at {
                here = self.child(Some(here), FlameLabel::Frame(frame.frame));
                at = frame.parent.map(|parent| &nodes[parent as usize]);
            }
            self.count(here, node.self_weight, node.self_samples);
        }
    }

    /// Parents stand before their children.
    fn sum(&mut self) {
        for idx in (0..self.nodes.len()).rev() {
            let node = &mut self.nodes[idx];
            node.width = node.width.saturating_add(node.own);
            node.samples += node.own_samples;
            let Merged {
                parent,
                width,
                samples,
                ..
            } = *node;
            if let Some(parent) = parent {
                let parent = &mut self.nodes[parent as usize];
                parent.width = parent.width.saturating_add(width);
                parent.samples += samples;
            }
        }
    }
}

fn comm_of(event: &EventProfile, group: u32) -> FlameLabel {
    let group = event.groups.get(group as usize);
    group.map_or(FlameLabel::Frame(FrameId::from_number(0)), |group| {
        FlameLabel::Comm(group.comm)
    })
}

fn sort(list: &mut [u32], nodes: &[Merged], order: FlameOrder, profile: &Profile) {
    let name = |number: u32| match nodes[number as usize].label {
        FlameLabel::Comm(comm) => profile.strings.of(comm).into_raw().to_owned(),
        FlameLabel::Frame(frame) => profile.frames.label(frame, &profile.strings).into_raw(),
    };
    let width = |number: u32| Reverse(nodes[number as usize].width);
    match order {
        FlameOrder::Heaviest => list.sort_by_cached_key(|&number| (width(number), name(number))),
        FlameOrder::Name => list.sort_by_cached_key(|&number| name(number)),
    }
}

/// Gives each node its place.
fn place(nodes: &[Merged], children: &[Vec<u32>]) -> FlameLayout {
    let mut layout = FlameLayout::default();
    let mut todo: Vec<(u32, Option<u32>, u64)> = Vec::new();
    let push = |list: &[u32], parent, start: u64, todo: &mut Vec<(u32, Option<u32>, u64)>| {
        let from = todo.len();
        let mut at = start;
        for &number in list {
            todo.push((number, parent, at));
            at = at.saturating_add(nodes[number as usize].width);
        }
        // The leftmost is to come first.
        todo[from..].reverse();
        at
    };
    layout.whole = push(&children[0], None, 0, &mut todo);
    while let Some((number, parent, start)) = todo.pop() {
        let node = nodes[number as usize];
        let depth = parent.map_or(0, |parent: u32| layout.boxes[parent as usize].depth + 1);
        let idx = u32::try_from(layout.boxes.len()).unwrap_or(u32::MAX);
        layout.boxes.push(FlameBox {
            label: node.label,
            parent,
            depth,
            start,
            width: node.width,
            own: node.own,
            samples: node.samples,
        });
        layout.depth = layout.depth.max(depth + 1);
        push(&children[number as usize + 1], Some(idx), start, &mut todo);
    }
    layout
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Explorer, StackFolding};
    use rprof_profile::testing;

    const SAMPLES: [(u64, &str, &str, u64); 5] = [
        (0, "prog", "main;b", 1),
        (1, "prog", "main;a;x", 2),
        (2, "pool", "main;b", 1),
        (3, "prog", "main;b", 1),
        (4, "prog", "main;b;y", 3),
    ];

    fn texts(layout: &FlameLayout, profile: &Profile) -> Vec<String> {
        let text = |one: &FlameBox| {
            let name = match one.label {
                FlameLabel::Comm(comm) => profile.strings.of(comm).into_raw().to_owned(),
                FlameLabel::Frame(frame) => {
                    profile.frames.label(frame, &profile.strings).into_raw()
                }
            };
            format!(
                "{}{name} {}+{}",
                " ".repeat(one.depth as usize),
                one.start,
                one.width
            )
        };
        layout.boxes.iter().map(text).collect()
    }

    #[test]
    fn the_heaviest_boxes_are_to_the_left_or_names_are_in_order() {
        let mut explorer = Explorer::new(testing::sampled(&SAMPLES));
        let event = explorer
            .select(&SampleSelection::default(), &StackFolding::default())
            .unwrap();
        let of = |first, order| {
            let layout = FlameLayout::of(explorer.profile(), &event, first, order);
            assert_eq!((layout.whole, layout.depth), (8, 4));
            texts(&layout, explorer.profile())
        };
        let heaviest = of(FirstFrame::Outermost, FlameOrder::Heaviest);
        let expected = [
            "prog 0+7",
            " main 0+7",
            "  b 0+5",
            "   y 0+3",
            "  a 5+2",
            "   x 5+2",
            "pool 7+1",
            " main 7+1",
            "  b 7+1",
        ];
        assert_eq!(heaviest, expected);
        let names = of(FirstFrame::Outermost, FlameOrder::Name);
        let expected = [
            "pool 0+1",
            " main 0+1",
            "  b 0+1",
            "prog 1+7",
            " main 1+7",
            "  a 1+2",
            "   x 1+2",
            "  b 3+5",
            "   y 3+3",
        ];
        assert_eq!(names, expected);
        let callers = of(FirstFrame::Innermost, FlameOrder::Heaviest);
        assert_eq!(
            callers[..4],
            ["prog 0+7", " y 0+3", "  b 0+3", "   main 0+3"]
        );
    }

    #[test]
    fn in_time_only_neighbours_are_one_box() {
        let sampled = testing::sampled(&SAMPLES);
        let layout = FlameLayout::in_time(&sampled, &SampleSelection::default());
        let expected = [
            "prog 0+7",
            " main 0+7",
            "  b 0+1",
            "  a 1+2",
            "   x 1+2",
            "  b 3+4",
            "   y 4+3",
            "pool 7+1",
            " main 7+1",
            "  b 7+1",
        ];
        assert_eq!(texts(&layout, &sampled.profile), expected);
        assert_eq!(layout.boxes[5].own, 1);
    }
}
