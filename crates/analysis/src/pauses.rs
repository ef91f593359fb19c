//! When a recording was paused, as its recorder says.

use rprof_perfdata::feature::EventPause;
use rprof_perfdata::{Feature, FeatureId, Reader};
use std::ops::RangeInclusive;

/// Whether a recording says when events were paused: if it does, they were recorded at all other times.
pub(crate) fn says_pauses(reader: &Reader) -> bool {
    read(reader).is_some()
}

/// When any of the asked events was paused, nanoseconds of the recording's clock: in order, apart from each other.
pub(crate) fn pauses_of(
    reader: &Reader,
    is_asked: impl Fn(usize) -> bool,
) -> Vec<RangeInclusive<u64>> {
    let all = read(reader).unwrap_or_default().into_iter();
    let asked = all.filter(|pause| usize::try_from(pause.event_idx).is_ok_and(&is_asked));
    joined(asked.map(|pause| pause.start_ns..=pause.end_ns).collect())
}

fn read(reader: &Reader) -> Option<Vec<EventPause>> {
    let section = reader.feature(FeatureId::PAUSES).ok().flatten()?;
    match Feature::parse(FeatureId::PAUSES, &section, reader.endian()) {
        Ok(Feature::Pauses(pauses)) => Some(pauses),
        _ => None,
    }
}

/// Ranges in order, apart from each other; those that end before they begin are none.
pub(crate) fn joined(mut ranges: Vec<RangeInclusive<u64>>) -> Vec<RangeInclusive<u64>> {
    ranges.retain(|range| !range.is_empty());
    ranges.sort_unstable_by_key(|range| *range.start());
    let mut all: Vec<RangeInclusive<u64>> = Vec::new();
    for range in ranges {
        match all.last_mut() {
            Some(last) if range.start() <= last.end() => {
                *last = *last.start()..=*range.end().max(last.end());
            }
            _ => all.push(range),
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_that_touch_are_one_and_reversed_ones_are_none() {
        let reversed = RangeInclusive::new(40, 30);
        let all = joined(vec![20..=22, reversed, 5..=7, 21..=25, 7..=8]);
        assert_eq!(all, [5..=8, 20..=25]);
    }
}
