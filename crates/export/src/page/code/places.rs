//! Which instruction each row was sampled at, in few bytes: rows of one frame are at few instructions, so that a row
//! has the rank of its instruction among those of its frame.

use super::super::columns::{difference, unsigned};
use super::{PageCode, PlacedRows};
use foldhash::{HashMap, HashMapExt};
use rprof_profile::SamplePlace;
use std::cmp::Reverse;

/// The columns: for each frame how many instructions its rows are at, and which, the most frequent first; then of each
/// row whose frame has any the rank, from 1 on, or 0. Instructions of all functions have numbers, from 0 on.
pub(super) fn columns(code: &PageCode, samples: PlacedRows<'_>) -> Vec<u8> {
    let instructions = instructions(code, samples);
    let found: Vec<(u32, Option<u64>)> = found(samples, &instructions);
    let mut n_of: HashMap<(u32, u64), u64> = HashMap::new();
    for &(frame, at) in &found {
        if let Some(at) = at {
            *n_of.entry((frame, at)).or_default() += 1;
        }
    }
    let mut all: Vec<(u32, Reverse<u64>, u64)> = n_of
        .into_iter()
        .map(|((frame, at), n)| (frame, Reverse(n), at))
        .collect();
    all.sort_unstable();
    let n_frames = samples.stacks.frames.values().len();
    let mut ranks: HashMap<(u32, u64), u64> = HashMap::new();
    let mut bytes = Vec::new();
    let mut lists = all.chunk_by(|one, other| one.0 == other.0).peekable();
    for frame in (0u32..).take(n_frames) {
        let list = lists.next_if(|list| list[0].0 == frame).unwrap_or_default();
        unsigned(&mut bytes, list.len() as u64);
        let mut before = 0;
        for (&(_, _, at), rank) in list.iter().zip(1..) {
            difference(&mut bytes, at, before);
            before = at;
            ranks.insert((frame, at), rank);
        }
    }
    let has_any: Vec<bool> = {
        let mut has_any = vec![false; n_frames];
        all.iter()
            .for_each(|&(frame, ..)| has_any[frame as usize] = true);
        has_any
    };
    for (frame, at) in found {
        if has_any.get(frame as usize) == Some(&true) {
            let rank = at.and_then(|at| ranks.get(&(frame, at)).copied());
            unsigned(&mut bytes, rank.unwrap_or(0));
        }
    }
    bytes
}

/// By number of a place, the number of its instruction.
fn instructions(code: &PageCode, samples: PlacedRows<'_>) -> Vec<Option<u64>> {
    let mut at: HashMap<SamplePlace, u64> = HashMap::new();
    let mut first = 0;
    for function in &code.functions {
        let places = function.places.iter();
        at.extend(places.map(|&(place, number)| (place, first + number as u64)));
        first += function.instructions.len() as u64;
    }
    let places = samples.places.places().iter();
    places.map(|place| at.get(place).copied()).collect()
}

/// The innermost frame of each row, and the instruction that it is at; the frame of a row
/// without a stack is `u32::MAX`.
fn found(samples: PlacedRows<'_>, instructions: &[Option<u64>]) -> Vec<(u32, Option<u64>)> {
    let PlacedRows {
        rows,
        source,
        stacks,
        places,
    } = samples;
    let ends = rows.ends(source);
    let found = ends.map(|(sample, stack)| {
        let frame = stack.map_or(u32::MAX, |stack| stacks.label(stack));
        let number = places.number(sample);
        let at = number.and_then(|number| instructions.get(number as usize).copied().flatten());
        (frame, at)
    });
    found.collect()
}
