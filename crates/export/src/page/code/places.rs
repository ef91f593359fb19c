//! Which instruction each row was sampled at, in few bytes: rows of one frame are at few instructions, so that a row
//! has the rank of its instruction among those of its frame.

use super::super::columns::{difference, unsigned};
use super::{PageCode, PlacedRows};
use foldhash::fast::RandomState;
use foldhash::{HashMap, HashMapExt};
use rprof_base::Interner;
use rprof_profile::SamplePlace;
use std::cmp::Reverse;

/// The columns: for each frame how many instructions its rows are at, and which, the most frequent first; then of each
/// row whose frame has any the rank, from 1 on, or 0. Instructions of all functions have numbers, from 0 on.
pub(super) fn columns(code: &PageCode, samples: PlacedRows<'_>) -> Vec<u8> {
    let instructions = instructions(code, samples);
    let (found, n_of) = found(samples, &instructions);
    let numbered = (0u32..).zip(found.ends.values()).zip(n_of);
    let mut all: Vec<(u32, Reverse<u64>, u64, u32)> = numbered
        .filter_map(|((number, &(frame, at)), n)| Some((frame, Reverse(n), at?, number)))
        .collect();
    all.sort_unstable();
    let n_frames = samples.stacks.frames.values().len();
    let mut has_any = vec![false; n_frames];
    // By number of an end.
    let mut ranks: Vec<u64> = vec![0; found.ends.values().len()];
    let mut bytes = Vec::new();
    let mut lists = all.chunk_by(|one, other| one.0 == other.0).peekable();
    for (frame, has_any) in (0u32..).zip(&mut has_any) {
        let list = lists.next_if(|list| list[0].0 == frame).unwrap_or_default();
        *has_any = !list.is_empty();
        unsigned(&mut bytes, list.len() as u64);
        let mut before = 0;
        for (&(_, _, at, number), rank) in list.iter().zip(1..) {
            difference(&mut bytes, at, before);
            before = at;
            ranks[number as usize] = rank;
        }
    }
    for number in found.rows {
        let (frame, _) = found.ends.values()[number as usize];
        if has_any.get(frame as usize) == Some(&true) {
            unsigned(&mut bytes, ranks[number as usize]);
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

/// Where rows end.
struct Found {
    /// The innermost frame, and the instruction that it is at; the frame of rows without a stack is `u32::MAX`.
    ends: Interner<u32, (u32, Option<u64>), RandomState>,
    /// By row, the number of its end.
    rows: Vec<u32>,
}

/// Where all rows end, and how many end there.
fn found(samples: PlacedRows<'_>, instructions: &[Option<u64>]) -> (Found, Vec<u64>) {
    let PlacedRows {
        rows,
        source,
        stacks,
        places,
    } = samples;
    let ends = rows.ends(source);
    let mut found = Found {
        ends: Interner::default(),
        rows: Vec::with_capacity(rows.len()),
    };
    let mut n_of = Vec::new();
    for (sample, stack) in ends {
        let frame = stack.map_or(u32::MAX, |stack| stacks.label(stack));
        let number = places.number(sample);
        let at = number.and_then(|number| instructions.get(number as usize).copied().flatten());
        let number = found.ends.intern((frame, at));
        if number as usize == n_of.len() {
            n_of.push(0);
        }
        n_of[number as usize] += 1;
        found.rows.push(number);
    }
    (found, n_of)
}
