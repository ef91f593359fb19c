//! Where execution goes in a function: jumps, and loops.

mod dominators;
mod graph;
mod jumps;
mod loops;

pub use jumps::{Jumps, Lane, MAX_LANES};
pub use loops::CodeLoop;
pub(crate) use loops::loops;

use crate::listed::ListedInstruction;
use rprof_disassembly::{Flow, Instruction};

/// Numbers of instructions, sorted by address.
pub(crate) fn by_address(instructions: &[impl AsRef<Instruction>]) -> Vec<usize> {
    let mut places: Vec<usize> = (0..instructions.len()).collect();
    places.sort_by_key(|&at| address(instructions, at));
    places
}

/// The number of the instruction that an address is in.
pub(crate) fn covering(
    places: &[usize],
    instructions: &[impl AsRef<Instruction>],
    wanted: u64,
) -> Option<usize> {
    let after = places.partition_point(|&at| address(instructions, at) <= wanted);
    let &at = places.get(after.checked_sub(1)?)?;
    let found = instructions.get(at)?.as_ref();
    (wanted - found.address < u64::from(found.len)).then_some(at)
}

/// Finds the jumps that stay in the function, by instructions' starts.
pub(crate) fn find_targets(instructions: &mut [ListedInstruction<'_>]) {
    let places = by_address(instructions);
    let targets = instructions.iter().map(|from| {
        let (Flow::Jump(target) | Flow::Branch(target)) = from.instruction.flow else {
            return None;
        };
        let target = target?;
        let found = covering(&places, instructions, target)?;
        (address(instructions, found) == target).then_some(found)
    });
    let targets: Vec<Option<usize>> = targets.collect();
    for (from, target) in instructions.iter_mut().zip(targets) {
        from.target = target;
    }
}

fn address(instructions: &[impl AsRef<Instruction>], at: usize) -> u64 {
    instructions.get(at).map_or(0, |it| it.as_ref().address)
}
