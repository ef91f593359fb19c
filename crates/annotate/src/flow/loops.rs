//! Natural loops: Aho, Lam, Sethi, Ullman, "Compilers" (2nd edition), section 9.6.6.

use super::dominators::Dominators;
use super::graph::FlowGraph;
use crate::listed::{ListedInstruction, ListedPart, sums};
use rprof_profile::SampleCount;
use std::collections::{BTreeMap, BTreeSet};

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
    /// Ranges of its instructions, ascending; those of loops in it are among them.
    pub ranges: Vec<std::ops::Range<usize>>,
    /// What was counted in it, by event.
    pub counts: Vec<SampleCount>,
}

/// All loops, from top to bottom.
pub(crate) fn loops(parts: &[ListedPart], instructions: &[ListedInstruction]) -> Vec<CodeLoop> {
    let graph = FlowGraph::of(parts, instructions);
    if graph.starts.is_empty() {
        return Vec::new();
    }
    let dominators = Dominators::of(&graph);
    let mut latches: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    let mut before = vec![Vec::new(); graph.successors.len()];
    for (block, successors) in graph.successors.iter().enumerate() {
        for &successor in successors {
            if let Some(before) = before.get_mut(successor) {
                before.push(block);
            }
            if dominators.dominates(successor, block) {
                latches.entry(successor).or_default().push(block);
            }
        }
    }
    let bodies: Vec<(usize, BTreeSet<usize>)> = latches
        .iter()
        .map(|(&head, latches)| (head, body(head, latches, &before)))
        .collect();
    let mut found: Vec<CodeLoop> = bodies
        .iter()
        .map(|(head, body)| found(&graph, (parts, instructions), *head, body))
        .collect();
    let parents: Vec<Option<usize>> = (0..bodies.len())
        .map(|number| parent(number, &bodies))
        .collect();
    nest(&mut found, &parents);
    in_order(found)
}

/// Loops numbered from top to bottom, outer ones before those in them.
fn in_order(loops: Vec<CodeLoop>) -> Vec<CodeLoop> {
    let mut order: Vec<(usize, CodeLoop)> = loops.into_iter().enumerate().collect();
    order.sort_by_key(|(_, found)| (found.span.0, found.depth));
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

/// Blocks from which a latch is reached without the head, and the head.
fn body(head: usize, latches: &[usize], before: &[Vec<usize>]) -> BTreeSet<usize> {
    let mut body = BTreeSet::from([head]);
    let mut todo = latches.to_vec();
    while let Some(block) = todo.pop() {
        if body.insert(block) {
            todo.extend(before.get(block).into_iter().flatten());
        }
    }
    body
}

fn found(
    graph: &FlowGraph,
    (parts, instructions): (&[ListedPart], &[ListedInstruction]),
    head: usize,
    body: &BTreeSet<usize>,
) -> CodeLoop {
    let mut ranges: Vec<std::ops::Range<usize>> = Vec::new();
    for &block in body {
        let own = graph.instructions(block);
        match ranges.last_mut() {
            Some(last) if last.end == own.start => last.end = own.end,
            _ => ranges.push(own),
        }
    }
    let n_events = instructions.first().map_or(0, |first| first.counts.len());
    let own = ranges.iter().flat_map(|range| {
        let range = instructions.get(range.clone());
        range.unwrap_or_default().iter().map(|it| &it.counts[..])
    });
    let head = graph.instructions(head).start;
    let part = parts.iter().find(|part| part.instructions.contains(&head));
    let is_near = |at: &usize| part.is_some_and(|part| part.instructions.contains(at));
    let first = ranges.iter().map(|range| range.start).find(is_near);
    let mut ends = ranges.iter().rev().map(|range| range.end.saturating_sub(1));
    let last = ends.find(is_near);
    let span = (first.unwrap_or(head), last.unwrap_or(head));
    CodeLoop {
        head,
        span,
        depth: 1,
        parent: None,
        counts: sums(n_events, own),
        ranges,
    }
}

/// The smallest other loop with this one's head in it: natural loops with different heads are nested or apart.
fn parent(number: usize, bodies: &[(usize, BTreeSet<usize>)]) -> Option<usize> {
    let head = bodies.get(number)?.0;
    let others = bodies.iter().enumerate();
    let around = others.filter(|(other, (_, body))| *other != number && body.contains(&head));
    let smallest = around.min_by_key(|(_, (_, body))| body.len());
    smallest.map(|(other, _)| other)
}

/// Tells loops what they are in, and how deep that is.
fn nest(loops: &mut [CodeLoop], parents: &[Option<usize>]) {
    for (number, &parent) in parents.iter().enumerate() {
        let mut depth = 1;
        let mut around = parent;
        while let Some(outer) = around.filter(|_| depth <= parents.len()) {
            depth += 1;
            around = parents.get(outer).copied().flatten();
        }
        if let Some(own) = loops.get_mut(number) {
            (own.parent, own.depth) = (parent, depth);
        }
    }
}
