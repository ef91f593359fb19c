//! Calls that repeat what is on the stack already.

use crate::{FrameId, Tree};

/// Functions of a cycle, at most: each node is compared with that many frames, twice.
pub(crate) const LONGEST_CYCLE: usize = 8;

/// Where a frame below a node is already, if with it the last frames are those before them again.
pub(super) fn repeated(
    tree: &Tree,
    parent: Option<u32>,
    frame: FrameId,
    longest: usize,
) -> Option<u32> {
    let nodes = tree.nodes();
    let mut above: Vec<(u32, FrameId)> = Vec::with_capacity(2 * longest);
    let mut at = parent;
    while let Some(number) = at
        && above.len() < 2 * longest
    {
        let node = nodes[number as usize];
        above.push((number, node.frame));
        at = node.parent;
    }
    // The frame itself is before the first of these.
    let frame_at = |idx: usize| match idx {
        0 => Some(frame),
        _ => above.get(idx - 1).map(|&(_, frame)| frame),
    };
    let length = cycle_len(frame_at, longest)?;
    above.get(length - 1).map(|&(number, _)| number)
}

/// How many functions are in the cycle that a stack ends with, if they are those before them again; `frame_at` counts
/// frames from the innermost.
pub(crate) fn cycle_len(
    frame_at: impl Fn(usize) -> Option<FrameId>,
    longest: usize,
) -> Option<usize> {
    let is_cycle = |&length: &usize| {
        (0..length).all(|idx| {
            let earlier = frame_at(idx + length);
            earlier.is_some() && earlier == frame_at(idx)
        })
    };
    (1..=longest).find(is_cycle)
}
