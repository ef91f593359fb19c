//! When a recording was paused, as its recorder says.

use rprof_perfdata::feature::EventPause;
use rprof_perfdata::{Feature, FeatureId, Reader};
use rprof_scheduling::joined;
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
