//! The rows of a run, of the tree that stacks were counted in.

use super::namesakes::FoundNamesakes;
use super::{Namesake, RunRow};
use crate::{FrameId, Frames, SampleCount, SelfTime, Strings, Tree};
use foldhash::fast::RandomState;
use rprof_base::Interner;

/// Stacks of one event that were counted by block of time.
#[derive(Debug)]
pub struct CountedBlocks<'a> {
    /// All stacks.
    pub tree: &'a Tree,
    /// How many blocks there are.
    pub n_blocks: usize,
    /// The group of a run by the number that nodes have.
    pub groups: &'a [u32],
    /// Whether sums with what functions called are wanted.
    pub has_stacks: bool,
    /// Which functions samples in inlined code are the self time of.
    pub self_time: SelfTime,
}

/// What stacks of one event are in a run.
#[derive(Clone, Debug, Default)]
pub struct RunRows {
    /// A row for each function of each group, with functions that only called others; in order of these.
    pub rows: Vec<RunRow>,
    /// Which functions called others of nearly their names.
    pub namesakes: Vec<Namesake>,
}

impl RunRows {
    /// Of what was counted; `count` adds what a block counted at each node.
    pub fn of(
        counted: CountedBlocks<'_>,
        mut count: impl FnMut(usize, &mut [SampleCount]),
        (frames, strings): (&Frames, &Strings),
    ) -> Self {
        let (tree, n_blocks) = (counted.tree, counted.n_blocks);
        let mut rows: Interner<u32, RunRow, RandomState, (u32, FrameId)> = Interner::default();
        let row_of_node = tree.nodes().iter().map(|node| {
            let group = counted.groups.get(node.group as usize).copied();
            let group = group.unwrap_or(u32::MAX);
            rows.intern_with((group, node.frame), |&(group, frame)| RunRow {
                group,
                frame,
                own: vec![SampleCount::default(); n_blocks],
                with_children: if counted.has_stacks {
                    vec![SampleCount::default(); n_blocks]
                } else {
                    Vec::new()
                },
            })
        });
        let row_of_node: Vec<u32> = row_of_node.collect();
        let mut rows = rows.into_values();
        let self_nodes = tree.self_nodes(frames, counted.self_time);
        let mut firsts = Vec::new();
        let mut namesakes = FoundNamesakes::default();
        if counted.has_stacks {
            let tree = (tree, &tree.child_lists());
            let rows = (&*row_of_node, &*rows);
            namesakes = FoundNamesakes::of(tree, rows, (frames, strings), |row, node| {
                firsts.push((row, node))
            });
        }
        let mut counts = Vec::new();
        for block in 0..n_blocks {
            counts.clear();
            counts.resize(tree.nodes().len(), SampleCount::default());
            count(block, &mut counts);
            let own = counts.iter().zip(&self_nodes);
            for (&count, &node) in own.filter(|(count, _)| count.samples > 0) {
                let row = row_of_node[node as usize];
                rows[row as usize].own[block].add(count);
            }
            if counted.has_stacks {
                tree.add_callees(&mut counts);
                for &(row, node) in &firsts {
                    rows[row].with_children[block].add(counts[node]);
                }
                namesakes.add((block, n_blocks), &counts);
            }
        }
        rows.sort_unstable_by_key(|row| (row.group, row.frame));
        Self {
            rows,
            namesakes: namesakes.into_all(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Profile, Tally, testing};

    /// Of each function its name, its self time, and that with what it called, by block.
    type Summed = Vec<(String, [u64; 2], [u64; 2])>;

    /// Stacks, each with the weights of one sample in each block.
    fn rows(stacks: &[(&str, [u64; 2])], self_time: SelfTime) -> Summed {
        let mut profile = Profile::default();
        let plain: Vec<(&str, u64)> = stacks.iter().map(|&(stack, _)| (stack, 0)).collect();
        let mut tally: Tally<u32> = testing::tally(&mut profile, &plain);
        let group = tally.group(0);
        let mut counts = vec![Vec::new(); 2];
        for &(stack, weights) in stacks {
            let frames = stack
                .split(';')
                .map(|name| testing::frame(&mut profile, name));
            let node = tally.extend_stack(None, group, frames).unwrap() as usize;
            for (counts, weight) in counts.iter_mut().zip(weights) {
                let len = counts.len().max(node + 1);
                counts.resize(len, SampleCount::default());
                counts[node].add(SampleCount::one(weight));
            }
        }
        let tree = tally.into_parts().tree;
        let counted = CountedBlocks {
            tree: &tree,
            n_blocks: counts.len(),
            groups: &[0],
            has_stacks: true,
            self_time,
        };
        let names = (&profile.frames, &profile.strings);
        let count = |block: usize, nodes: &mut [SampleCount]| {
            nodes[..counts[block].len()].copy_from_slice(&counts[block])
        };
        let RunRows { rows, .. } = RunRows::of(counted, count, names);
        let weights = |counts: &[SampleCount]| [counts[0].weight, counts[1].weight];
        let rows = rows.iter().map(|row| {
            let name = profile.frames.of(row.frame).name.unwrap();
            let name = profile.strings.of(name).raw().to_owned();
            (name, weights(&row.own), weights(&row.with_children))
        });
        rows.collect()
    }

    #[test]
    fn a_function_that_calls_itself_counts_once_in_each_block() {
        let stacks = [
            ("main", [1, 0]),
            ("main;walk;walk", [10, 20]),
            ("main;walk", [100, 0]),
        ];
        let rows = rows(&stacks, SelfTime::Innermost);
        assert_eq!(
            rows,
            [
                ("main".to_owned(), [1, 0], [111, 20]),
                ("walk".to_owned(), [110, 20], [110, 20]),
            ]
        );
    }

    #[test]
    fn self_time_of_inlined_code_is_its_own_or_its_symbols() {
        let stacks = [("main;+small;+tiny", [3, 4]), ("main;+small", [5, 0])];
        let all = |own: [[u64; 2]; 3]| {
            let names = [("main", [8, 4]), ("small", [8, 4]), ("tiny", [3, 4])];
            let rows = names.into_iter().zip(own);
            rows.map(|((name, total), own)| (name.to_owned(), own, total))
                .collect::<Summed>()
        };
        let innermost = rows(&stacks, SelfTime::Innermost);
        assert_eq!(innermost, all([[0, 0], [5, 0], [3, 4]]));
        let by_symbol = rows(&stacks, SelfTime::Symbol);
        assert_eq!(by_symbol, all([[8, 4], [0, 0], [0, 0]]));
    }
}
