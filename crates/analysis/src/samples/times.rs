//! Which times a filter accepts, in a recording.

use super::DecodedSample;
use crate::Error;
use crate::recording::Recording;
use rprof_abi::RecordKind;
use rprof_perfdata::{Feature, FeatureId, Reader, Step};
use rprof_profile::{Filter, TimeSlices};
use std::ops::RangeInclusive;

/// The times that a filter accepts; `None` for all.
pub(super) fn ranges(
    recording: &Recording<'_>,
    filter: &Filter,
) -> Result<Option<Vec<RangeInclusive<u64>>>, Error> {
    let Some(times) = &filter.times else {
        return Ok(None);
    };
    let span = if times.needs_span() {
        span(recording)?
    } else {
        None
    };
    Ok(Some(times.ranges(span.unwrap_or(0..=0))?))
}

/// From the first of some times to the last one.
pub(crate) fn asked_span(
    recording: &Recording<'_>,
    times: &TimeSlices,
) -> Result<Option<RangeInclusive<u64>>, Error> {
    let filter = Filter {
        times: Some(times.clone()),
        ..Filter::default()
    };
    let ranges = ranges(recording, &filter)?.unwrap_or_default();
    let first = ranges.iter().map(|range| *range.start()).min();
    let last = ranges.iter().map(|range| *range.end()).max();
    Ok(first.zip(last).map(|(first, last)| first..=last))
}

/// From the first sample to the last one; `None` if there are none, or without times.
pub(crate) fn span(recording: &Recording<'_>) -> Result<Option<RangeInclusive<u64>>, Error> {
    if let Some(span) = recorded_span(recording.reader) {
        return Ok(Some(span));
    }
    let mut span: Option<RangeInclusive<u64>> = None;
    for chunk in &recording.index.chunks {
        recording.reader.walk_windows(chunk.clone(), |records| {
            let samples = records.filter(|(_, raw)| raw.kind == RecordKind::SAMPLE);
            for (offset, raw) in samples {
                let decoded = DecodedSample::of(recording, offset, raw);
                let Some(time) = decoded.and_then(|decoded| decoded.head.time_ns) else {
                    continue;
                };
                span = Some(match &span {
                    Some(span) => time.min(*span.start())..=time.max(*span.end()),
                    None => time..=time,
                });
            }
            Step::On
        })?;
    }
    Ok(span)
}

/// As the recorder says.
fn recorded_span(reader: &Reader) -> Option<RangeInclusive<u64>> {
    let section = reader.feature(FeatureId::SAMPLE_TIME).ok()??;
    match Feature::parse(FeatureId::SAMPLE_TIME, &section, reader.endian()) {
        Ok(Feature::SampleTime(times)) if times.last_ns > 0 && times.first_ns <= times.last_ns => {
            Some(times.first_ns..=times.last_ns)
        }
        _ => None,
    }
}

/// Times as far as they are within others: in order, those that touch as one.
pub(super) fn joined(
    times: &[RangeInclusive<u64>],
    within: &RangeInclusive<u64>,
) -> Vec<RangeInclusive<u64>> {
    let cut = times.iter().map(|range| {
        let (start, stop) = (*range.start(), *range.end());
        start.max(*within.start())..=stop.min(*within.end())
    });
    let mut cut: Vec<_> = cut.filter(|range| !range.is_empty()).collect();
    cut.sort_unstable_by_key(|range| *range.start());
    let mut joined: Vec<RangeInclusive<u64>> = Vec::new();
    for range in cut {
        match joined.last_mut() {
            Some(last) if *range.start() <= last.end().saturating_add(1) => {
                *last = *last.start()..=*last.end().max(range.end());
            }
            _ => joined.push(range),
        }
    }
    joined
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_that_touch_are_one() {
        let of = |times: &[RangeInclusive<u64>]| joined(times, &(10..=99));
        assert_eq!(of(&[0..=20, 90..=u64::MAX]), [10..=20, 90..=99]);
        assert_eq!(of(&[50..=60, 10..=49, 20..=30]), [10..=60]);
        assert_eq!(of(&[0..=9, 100..=200]), []);
    }
}
