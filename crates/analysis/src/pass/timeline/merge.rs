//! What threads have read, put together in one order.

use super::fields::FieldReader;
use super::row::{NONE, Row};
use super::threads::{SeenThreads, timed_losses};
use crate::Error;
use crate::locations::NamedThread;
use crate::pass::query::Query;
use foldhash::HashMap;
use rprof_profile::Tree;
use rprof_profile::timeline::{StackNode, TimedSample, Timeline};

/// Rows of all threads, sorted, with one tree and one list of threads.
pub(super) struct Merged {
    rows: Vec<Row>,
    tree: Tree,
    threads: Vec<NamedThread>,
}

impl Merged {
    /// Whether there are no samples.
    pub(super) fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }
}

/// The rows of one reading thread, with its tree and its list of threads.
pub(super) struct ThreadRows {
    pub(super) rows: Vec<Row>,
    pub(super) tree: Tree,
    pub(super) threads: Vec<NamedThread>,
}

/// Puts rows, trees and lists of threads together.
pub(super) fn merge(parts: Vec<ThreadRows>) -> Merged {
    let mut merged = Merged {
        rows: Vec::new(),
        tree: Tree::default(),
        threads: Vec::new(),
    };
    let mut numbers: HashMap<NamedThread, u32> = HashMap::default();
    for part in parts {
        let ThreadRows {
            rows,
            tree,
            threads,
        } = part;
        let nodes: Option<Vec<u32>> = if merged.tree.nodes().is_empty() {
            // The first one is taken as it is.
            merged.tree = tree;
            None
        } else {
            Some(add_tree(&mut merged.tree, &tree))
        };
        let threads: Vec<u32> = threads
            .into_iter()
            .map(|thread| {
                *numbers.entry(thread).or_insert_with(|| {
                    merged.threads.push(thread);
                    u32::try_from(merged.threads.len() - 1).unwrap_or(NONE)
                })
            })
            .collect();
        let look_up = |list: &[u32], idx: u32| list.get(idx as usize).copied().unwrap_or(NONE);
        merged.rows.extend(rows.into_iter().map(|row| Row {
            thread: look_up(&threads, row.thread),
            node: match &nodes {
                Some(nodes) => look_up(nodes, row.node),
                None => row.node,
            },
            ..row
        }));
    }
    merged.tree.freeze();
    // The members of a group are of different events: no two rows are equal.
    merged.rows.sort_unstable();
    merged
}

/// Adds a tree to another; returns where its nodes are there.
fn add_tree(all: &mut Tree, one: &Tree) -> Vec<u32> {
    let mut moved: Vec<u32> = Vec::with_capacity(one.nodes().len());
    for node in one.nodes() {
        let parent = node.parent.map(|parent| moved[parent as usize]);
        moved.push(all.child(parent, 0, node.frame));
    }
    moved
}

/// Fills a timeline.
pub(super) struct Filler<'a> {
    pub(super) query: &'a Query<'a>,
    /// Numbers of the recording's events in the profile.
    pub(super) events: Vec<Option<u32>>,
    pub(super) with_fields: bool,
}

impl Filler<'_> {
    /// Numbers everything in the order in which samples use it. `describe` adds code by its
    /// numbers.
    pub(super) fn fill(
        &self,
        timeline: &mut Timeline,
        merged: Merged,
        describe: impl FnOnce(&[u32], &mut Timeline),
    ) -> Result<(), Error> {
        let Merged {
            rows,
            tree,
            threads,
        } = merged;
        let mut stacks = Stacks::new(&tree);
        let mut seen = SeenThreads::new(self.query, threads);
        let (mut fields, warning) = FieldReader::new(self.query.recording);
        if self.with_fields {
            timeline.profile.warnings.extend(warning);
        }
        timeline.samples.reserve_exact(rows.len());
        for (nth, row) in (0u64..).zip(&rows) {
            let Some(&Some(event)) = self.events.get(row.event as usize) else {
                continue;
            };
            let time_ns = if timeline.has_times {
                row.time_ns
            } else {
                nth * 1_000_000
            };
            let strings = &mut timeline.profile.strings;
            let Some(thread) = seen.see((row.thread, time_ns), strings) else {
                continue;
            };
            let written = if self.with_fields {
                fields.read((row.event as usize, row.offset), strings)?
            } else {
                None
            };
            let written = written.map(|written| {
                timeline.fields.push(written);
                u32::try_from(timeline.fields.len() - 1).unwrap_or(NONE)
            });
            timeline.samples.push(TimedSample {
                time_ns,
                event,
                thread,
                stack: stacks.of(row.node),
                cpu: Some(row.cpu).filter(|&cpu| cpu != NONE),
                weight: row.weight,
                fields: written,
            });
        }
        timeline.stacks = stacks.all;
        timeline.stacks.shrink_to_fit();
        let codes = stacks.codes;
        describe(&codes, timeline);
        timeline.threads = seen.into_threads(timeline.has_times);
        if timeline.has_times {
            timeline.losses = timed_losses(self.query);
        }
        Ok(())
    }
}

/// Stacks and their code, numbered as they are asked for.
struct Stacks<'t> {
    tree: &'t Tree,
    numbers: Vec<u32>,
    all: Vec<StackNode>,
    code_numbers: HashMap<u32, u32>,
    codes: Vec<u32>,
    path: Vec<u32>,
}

impl<'t> Stacks<'t> {
    fn new(tree: &'t Tree) -> Self {
        Self {
            tree,
            numbers: vec![NONE; tree.nodes().len()],
            all: Vec::with_capacity(tree.nodes().len()),
            code_numbers: HashMap::default(),
            codes: Vec::new(),
            path: Vec::new(),
        }
    }

    /// The number of a node, which gets one with all its callers if it has none.
    fn of(&mut self, node: u32) -> Option<u32> {
        let nodes = self.tree.nodes();
        self.path.clear();
        let mut at = nodes.get(node as usize).map(|_| node);
        while let Some(here) = at.filter(|&here| self.numbers[here as usize] == NONE) {
            self.path.push(here);
            at = nodes[here as usize].parent;
        }
        while let Some(here) = self.path.pop() {
            let from = &nodes[here as usize];
            let code = from.frame.number();
            let codes = &mut self.codes;
            let code = *self.code_numbers.entry(code).or_insert_with(|| {
                codes.push(code);
                u32::try_from(codes.len() - 1).unwrap_or(NONE)
            });
            self.numbers[here as usize] = u32::try_from(self.all.len()).unwrap_or(NONE);
            self.all.push(StackNode {
                parent: from.parent.map(|parent| self.numbers[parent as usize]),
                code,
            });
        }
        let number = self.numbers.get(node as usize).copied();
        number.filter(|&number| number != NONE)
    }
}
