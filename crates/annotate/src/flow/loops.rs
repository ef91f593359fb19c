//! Natural loops: Aho, Lam, Sethi, Ullman, "Compilers" (2nd edition), section 9.6.6. They are found innermost first,
//! and each becomes one block for those around it (Tarjan, "Testing Flow Graph Reducibility", 1974), so that every
//! block is gone through once.

use super::dominators::Dominators;
use super::graph::FlowGraph;
use crate::listed::{ListedInstruction, ListedPart, add_counts};
use rprof_profile::SampleCount;
use std::collections::BTreeMap;
use std::ops::Range;

/// A loop: what is run again and again, and entered only at its head.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CodeLoop {
    /// The number of the instruction that it is entered at: every way into the loop leads there.
    pub head: usize,
    /// The numbers of its first and last instruction by place; what is elsewhere (`.cold`) apart.
    pub span: (usize, usize),
    /// How many loops it is in, itself one of them.
    pub depth: usize,
    /// The number of the innermost loop that it is in.
    pub parent: Option<usize>,
    /// Ranges of the instructions that are in no loop further in, ascending.
    pub ranges: Vec<Range<usize>>,
    /// How many instructions it has, with those of loops in it.
    pub n_instructions: usize,
    /// What was counted in it and in loops in it, by event.
    pub counts: Vec<SampleCount>,
}

/// All loops, from top to bottom.
pub(crate) fn loops(
    parts: &[ListedPart],
    instructions: &[ListedInstruction<'_>],
    n_events: usize,
) -> Vec<CodeLoop> {
    let graph = FlowGraph::new(parts, instructions);
    if graph.starts.is_empty() {
        return Vec::new();
    }
    let forest = LoopForest::new(&graph);
    let mut found: Vec<CodeLoop> = forest.loops.iter().map(|it| begun(it, n_events)).collect();
    let mut spans: Vec<Spans> = vec![Spans::new(); found.len()];
    for block in 1..=graph.starts.len() {
        let Some(number) = forest.innermost[block] else {
            continue;
        };
        let range = graph.instructions(block);
        let part = part_of(parts, range.start);
        add_span(&mut spans[number], part, (range.start, range.end - 1));
        add_range(&mut found[number], instructions, range);
    }
    // Inner loops come first.
    for number in 0..found.len() {
        let own = std::mem::take(&mut spans[number]);
        let head = graph.instructions(forest.loops[number].head).start;
        found[number].head = head;
        let span = own.get(&part_of(parts, head)).copied();
        found[number].span = span.unwrap_or((head, head));
        if let Some(parent) = found[number].parent {
            let (inner, outer) = found.split_at_mut(parent);
            add_inner(&mut outer[0], &inner[number]);
            let around = std::mem::take(&mut spans[parent]);
            spans[parent] = joined(own, around);
        }
    }
    for number in (0..found.len()).rev() {
        let outer = found[number].parent.map(|parent| found[parent].depth);
        found[number].depth = outer.unwrap_or(0) + 1;
    }
    in_order(found)
}

/// The first and the last instruction, by part.
type Spans = BTreeMap<usize, (usize, usize)>;

fn add_span(spans: &mut Spans, part: usize, (first, last): (usize, usize)) {
    let own = spans.entry(part).or_insert((first, last));
    *own = (own.0.min(first), own.1.max(last));
}

/// The smaller one is put to the larger one.
fn joined(one: Spans, other: Spans) -> Spans {
    let (few, mut many) = if one.len() < other.len() {
        (one, other)
    } else {
        (other, one)
    };
    for (part, span) in few {
        add_span(&mut many, part, span);
    }
    many
}

/// The part that an instruction is in.
fn part_of(parts: &[ListedPart], instruction: usize) -> usize {
    parts.partition_point(|part| part.instructions.end <= instruction)
}

fn begun(natural: &NaturalLoop, n_events: usize) -> CodeLoop {
    CodeLoop {
        head: 0,
        span: (0, 0),
        depth: 1,
        parent: natural.parent,
        ranges: Vec::new(),
        n_instructions: 0,
        counts: vec![SampleCount::default(); n_events],
    }
}

/// A block's instructions are of a loop. Blocks come in order.
fn add_range(own: &mut CodeLoop, instructions: &[ListedInstruction<'_>], range: Range<usize>) {
    own.n_instructions += range.len();
    for it in instructions.get(range.clone()).unwrap_or_default() {
        add_counts(&mut own.counts, &it.counts);
    }
    match own.ranges.last_mut() {
        Some(last) if last.end == range.start => last.end = range.end,
        _ => own.ranges.push(range),
    }
}

fn add_inner(outer: &mut CodeLoop, inner: &CodeLoop) {
    outer.n_instructions += inner.n_instructions;
    add_counts(&mut outer.counts, &inner.counts);
}

/// Loops numbered from top to bottom, outer ones before those in them.
fn in_order(loops: Vec<CodeLoop>) -> Vec<CodeLoop> {
    let mut order: Vec<(usize, CodeLoop)> = loops.into_iter().enumerate().collect();
    order.sort_by_key(|(_, found)| (found.span.0, found.depth, found.head));
    let mut numbers = vec![0; order.len()];
    for (number, &(before, _)) in order.iter().enumerate() {
        if let Some(known) = numbers.get_mut(before) {
            *known = number;
        }
    }
    let renumbered = order.into_iter().map(|(_, found)| CodeLoop {
        parent: found.parent.and_then(|parent| numbers.get(parent).copied()),
        ..found
    });
    renumbered.collect()
}

/// A loop of blocks.
struct NaturalLoop {
    head: usize,
    /// The loop that it is in, by number.
    parent: Option<usize>,
}

/// Which block is in which loop.
struct LoopForest {
    /// Inner ones before those that they are in.
    loops: Vec<NaturalLoop>,
    /// The innermost loop of each block.
    innermost: Vec<Option<usize>>,
    /// What each block has become part of, if anything; it is its head, or leads there.
    merged: Vec<usize>,
}

impl LoopForest {
    fn new(graph: &FlowGraph) -> Self {
        let n = graph.successors.len();
        let dominators = Dominators::new(graph);
        let mut latches: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        let mut before = vec![Vec::new(); n];
        for (block, successors) in graph.successors.iter().enumerate() {
            for &successor in successors {
                before[successor].push(block);
                // A loop must have an instruction that it is entered at.
                if successor != graph.table() && dominators.dominates(successor, block) {
                    latches.entry(successor).or_default().push(block);
                }
            }
        }
        let mut heads: Vec<(usize, Vec<usize>)> = latches.into_iter().collect();
        heads.sort_by_key(|&(head, _)| std::cmp::Reverse(dominators.preorder(head)));
        let mut forest = Self {
            loops: Vec::with_capacity(heads.len()),
            innermost: vec![None; n],
            merged: (0..n).collect(),
        };
        for (head, latches) in heads {
            forest.add(head, latches, &before);
        }
        forest
    }

    /// The loop of a head: blocks from which a latch is reached without it.
    fn add(&mut self, head: usize, latches: Vec<usize>, before: &[Vec<usize>]) {
        let number = self.loops.len();
        self.loops.push(NaturalLoop { head, parent: None });
        self.innermost[head] = Some(number);
        let mut todo = latches;
        while let Some(block) = todo.pop() {
            let block = self.outermost(block);
            if block == head {
                continue;
            }
            self.merged[block] = head;
            match self.innermost[block] {
                Some(inner) => self.loops[inner].parent = Some(number),
                None => self.innermost[block] = Some(number),
            }
            todo.extend(&before[block]);
        }
    }

    /// The head of the outermost loop so far that a block is in, or itself.
    fn outermost(&mut self, block: usize) -> usize {
        let mut top = block;
        while self.merged[top] != top {
            top = self.merged[top];
        }
        let mut at = block;
        while at != top {
            at = std::mem::replace(&mut self.merged[at], top);
        }
        top
    }
}
