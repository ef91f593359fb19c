//! The flow graph: instructions that are always run together are a block, jumps are edges.

use crate::listed::{ListedInstruction, ListedPart};
use rprof_disassembly::Flow;

/// Blocks with what they lead to. Block 0 stands for the function's callers, the last one for all tables of addresses that
/// are jumped through; both have no instructions.
#[derive(Debug)]
pub(super) struct FlowGraph {
    /// First instructions of the blocks from 1 on, ascending.
    pub(super) starts: Vec<usize>,
    /// How many instructions there are.
    pub(super) n_instructions: usize,
    /// What each block leads to, by number.
    pub(super) successors: Vec<Vec<usize>>,
}

impl FlowGraph {
    /// Number of the block from which all others can be reached.
    pub(super) const ROOT: usize = 0;

    pub(super) fn new(parts: &[ListedPart], instructions: &[ListedInstruction<'_>]) -> Self {
        let mut graph = Self {
            starts: starts(parts, instructions),
            n_instructions: instructions.len(),
            successors: Vec::new(),
        };
        graph.successors = vec![Vec::new(); graph.starts.len() + 2];
        let part_ends: Vec<usize> = parts.iter().map(|part| part.instructions.end).collect();
        for block in 1..=graph.starts.len() {
            let end = graph.end(block);
            let Some(last) = end.checked_sub(1).and_then(|last| instructions.get(last)) else {
                continue;
            };
            let goes_on = part_ends.binary_search(&end).is_err();
            let next = goes_on.then(|| graph.block_of(end)).flatten();
            let target = last.target.and_then(|target| graph.block_of(target));
            let (next, target) = match last.instruction.flow {
                Flow::Next | Flow::Call(_) => (next, None),
                Flow::Branch(_) => (next, target),
                Flow::Jump(_) => (None, target),
                Flow::Return | Flow::Stop => (None, None),
            };
            let is_indirect = last.instruction.flow == Flow::Jump(None);
            let table = is_indirect.then(|| graph.table());
            if let Some(own) = graph.successors.get_mut(block) {
                own.extend(next.into_iter().chain(target).chain(table));
            }
        }
        graph.add_entries(instructions);
        graph
    }

    /// Number of the block that leads to what is jumped to through tables.
    pub(super) fn table(&self) -> usize {
        self.starts.len() + 1
    }

    /// The block that an instruction is in.
    pub(super) fn block_of(&self, instruction: usize) -> Option<usize> {
        let block = self.starts.partition_point(|&start| start <= instruction);
        (block > 0).then_some(block)
    }

    /// The instruction after a block's last one.
    pub(super) fn end(&self, block: usize) -> usize {
        let next = self.starts.get(block);
        next.copied().unwrap_or(self.n_instructions)
    }

    /// Instructions of a block.
    pub(super) fn instructions(&self, block: usize) -> std::ops::Range<usize> {
        let start = block.checked_sub(1).and_then(|at| self.starts.get(at));
        start.map_or(0..0, |&start| start..self.end(block))
    }

    /// Every block can be reached. What no jump leads to is a case of a jump through a table if there is one, else
    /// where an exception is caught: entered from outside. Padding is neither.
    fn add_entries(&mut self, instructions: &[ListedInstruction<'_>]) {
        if self.starts.is_empty() {
            return;
        }
        self.connect(Self::ROOT, 1);
        let mut is_reached = vec![false; self.successors.len()];
        self.reach(Self::ROOT, &mut is_reached);
        for block in 1..=self.starts.len() {
            if is_reached.get(block) == Some(&true) {
                continue;
            }
            let is_padding = self.is_padding(block, instructions);
            if let Some(own) = self.successors.get_mut(block).filter(|_| is_padding) {
                own.clear();
            }
            // A case may be reached only through another one.
            match is_reached.get(self.table()) {
                Some(true) => self.connect(self.table(), block),
                _ => self.connect(Self::ROOT, block),
            }
            self.reach(block, &mut is_reached);
        }
    }

    fn connect(&mut self, from: usize, to: usize) {
        if let Some(own) = self.successors.get_mut(from) {
            own.push(to);
        }
    }

    fn reach(&self, from: usize, is_reached: &mut [bool]) {
        let mut todo = vec![from];
        while let Some(block) = todo.pop() {
            match is_reached.get_mut(block) {
                Some(reached) if !*reached => *reached = true,
                _ => continue,
            }
            todo.extend(self.successors.get(block).into_iter().flatten());
        }
    }

    fn is_padding(&self, block: usize, instructions: &[ListedInstruction<'_>]) -> bool {
        let own = instructions.get(self.instructions(block));
        let is_one = |text: &str| {
            let is_exchange = matches!(
                text.split_once("xchg").map(|(_, of)| of.trim()),
                Some("%ax,%ax" | "ax,ax")
            );
            let word = |word: &str| word.starts_with("nop") || word == "int3";
            is_exchange || text.split_whitespace().any(word)
        };
        own.unwrap_or_default()
            .iter()
            .all(|it| is_one(&it.instruction.text))
    }
}

/// First instructions of blocks.
fn starts(parts: &[ListedPart], instructions: &[ListedInstruction<'_>]) -> Vec<usize> {
    let mut starts: Vec<usize> = parts.iter().map(|part| part.instructions.start).collect();
    for (at, instruction) in instructions.iter().enumerate() {
        starts.extend(instruction.target);
        match instruction.instruction.flow {
            Flow::Next | Flow::Call(_) => {}
            Flow::Jump(_) | Flow::Branch(_) | Flow::Return | Flow::Stop => starts.push(at + 1),
        }
    }
    starts.retain(|&start| start < instructions.len());
    starts.sort_unstable();
    starts.dedup();
    starts
}
