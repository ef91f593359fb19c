//! Stretches without samples that are left out.

use super::Folding;
use super::summary::is_counted;
use crate::listing::CodeListing;
use std::ops::Range;

/// Fewer instructions are not worth a line that says that they are left out.
const LEAST: usize = 3;

/// Ranges of instructions that are left out, ascending; none goes over a part's end.
pub(crate) fn folded(listing: &CodeListing<'_>, folding: Folding) -> Vec<Range<usize>> {
    let around = match folding {
        Folding::Off => return Vec::new(),
        Folding::Automatic if listing.instructions.len() <= Folding::MANY => return Vec::new(),
        Folding::Automatic => Folding::AROUND,
        Folding::Around(around) => around,
    };
    let mut ranges = Vec::new();
    for part in &listing.parts {
        let Range { start, end } = part.instructions;
        let mut from = start;
        for at in start..end {
            if has_samples(listing, at) {
                push(&mut ranges, from..at.saturating_sub(around));
                from = from.max(at.saturating_add(around).saturating_add(1));
            }
        }
        push(&mut ranges, from..end);
    }
    ranges
}

fn push(ranges: &mut Vec<Range<usize>>, range: Range<usize>) {
    if range.len() >= LEAST {
        ranges.push(range);
    }
}

fn has_samples(listing: &CodeListing<'_>, at: usize) -> bool {
    let found = listing.instructions.get(at);
    found.is_some_and(|it| is_counted(&it.counts))
}
