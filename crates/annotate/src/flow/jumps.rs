//! Jumps within a function, in lanes beside its instructions.

use crate::listed::ListedInstruction;
use std::collections::BTreeMap;

/// The most lanes that are drawn.
pub const MAX_LANES: usize = 8;

/// Jumps between instructions.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Jumps {
    /// What is drawn, by its first instruction.
    pub lanes: Vec<Lane>,
    /// How many lanes are in use.
    pub n_lanes: usize,
    /// How many jumps there is no lane for.
    pub n_hidden: usize,
}

/// All jumps to one instruction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lane {
    /// Its number; 0 is next to the instructions.
    pub lane: usize,
    /// The number of the instruction that is jumped to.
    pub target: usize,
    /// Numbers of the instructions that jump, ascending.
    pub sources: Vec<usize>,
}

impl Lane {
    /// The first and the last instruction that it is drawn beside.
    pub fn span(&self) -> (usize, usize) {
        let first = self.sources.first().copied().unwrap_or(self.target);
        let last = self.sources.last().copied().unwrap_or(self.target);
        (first.min(self.target), last.max(self.target))
    }
}

impl Jumps {
    /// The jumps of all instructions: short ones take the lanes that are next to the code.
    pub(crate) fn new(instructions: &[ListedInstruction<'_>]) -> Self {
        let mut by_target: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for (at, instruction) in instructions.iter().enumerate() {
            if let Some(target) = instruction.target {
                by_target.entry(target).or_default().push(at);
            }
        }
        let lanes = by_target.into_iter().map(|(target, sources)| Lane {
            lane: 0,
            target,
            sources,
        });
        let mut lanes: Vec<Lane> = lanes.collect();
        lanes.sort_by_key(|lane| {
            let (first, last) = lane.span();
            (last - first, first)
        });
        let mut taken: Vec<BTreeMap<usize, usize>> = vec![BTreeMap::new(); MAX_LANES];
        let mut jumps = Self::default();
        for mut lane in lanes {
            let (first, last) = lane.span();
            let mut free = taken.iter_mut().enumerate();
            match free.find(|(_, spans)| is_free(spans, (first, last))) {
                Some((number, spans)) => {
                    spans.insert(first, last);
                    lane.lane = number;
                    jumps.n_lanes = jumps.n_lanes.max(number + 1);
                    jumps.lanes.push(lane);
                }
                None => jumps.n_hidden += lane.sources.len(),
            }
        }
        jumps.lanes.sort_by_key(|lane| (lane.span(), lane.lane));
        jumps
    }
}

/// Whether no span of a lane has an instruction of this one.
fn is_free(spans: &BTreeMap<usize, usize>, (first, last): (usize, usize)) -> bool {
    let before = spans.range(..=last).next_back();
    before.is_none_or(|(_, &end)| end < first)
}
