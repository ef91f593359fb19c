//! Which samples are between those that switch samples on and off.

use super::DecodedSample;
use crate::Error;
use crate::recording::Recording;
use rprof_abi::RecordKind;
use rprof_base::parallel;
use rprof_machine::Key;
use rprof_perfdata::{Reader, Step};
use rprof_profile::{EventSwitches, FilterError};
use std::ops::RangeInclusive;

/// The spans of a recording in which samples count.
#[derive(Debug)]
pub(super) struct SwitchedSpans {
    /// In order; with the samples that begin and end them.
    spans: Vec<RangeInclusive<Key>>,
    are_shown: bool,
}

impl SwitchedSpans {
    /// Those between the samples of some events, as far as their times count (`has_time`).
    pub(super) fn of(
        recording: &Recording<'_>,
        switches: &EventSwitches,
        has_time: impl Fn(Option<u64>) -> bool + Sync,
    ) -> Result<Self, Error> {
        let find = |name: &Option<String>, option| {
            let name = name.as_deref();
            name.map(|name| event_of(recording.reader, name, option))
                .transpose()
        };
        let on = find(&switches.on, "--switch-on")?;
        let off = find(&switches.off, "--switch-off")?;
        let visit = |keys: &mut Vec<(Key, usize)>, chunk: usize| -> Result<(), Error> {
            let Some(range) = recording.index.chunks.get(chunk) else {
                return Ok(());
            };
            recording.reader.walk_windows(range.clone(), |records| {
                let samples = records.filter(|(_, raw)| raw.kind == RecordKind::SAMPLE);
                let samples = samples.filter_map(|(at, raw)| DecodedSample::of(recording, at, raw));
                let switching = samples.filter(|sample| {
                    let event = Some(sample.event);
                    (event == on || event == off) && has_time(sample.head.time_ns)
                });
                keys.extend(switching.map(|sample| (sample.key, sample.event)));
                Step::On
            })?;
            Ok(())
        };
        let work = (recording.index.chunks.len(), parallel::n_cpus());
        let found = parallel::for_each(work, Vec::new, visit, &mut |_| {})?;
        let mut keys = found.concat();
        keys.sort_unstable();
        Ok(Self {
            spans: spans(&keys, on, off),
            are_shown: switches.are_shown,
        })
    }

    /// Whether the sample at a moment counts.
    pub(super) fn has(&self, key: Key) -> bool {
        let after = self.spans.partition_point(|span| *span.start() <= key);
        let before = after.checked_sub(1).and_then(|at| self.spans.get(at));
        before.is_some_and(|span| {
            let switches = key == *span.start() || key == *span.end();
            span.contains(&key) && (self.are_shown || !switches)
        })
    }
}

/// The event with a name.
fn event_of(reader: &Reader, name: &str, option: &str) -> Result<usize, Error> {
    let mut events = reader.events().iter();
    let found = events.position(|event| event.name.raw() == name);
    found.ok_or_else(|| {
        let names = reader.events().iter().map(|event| event.name.to_string());
        let names = names.collect::<Vec<_>>().join(", ");
        let why = format!("{option}: the recording has no event '{name}' (events are: {names})");
        FilterError(why).into()
    })
}

/// The spans between samples of events that switch on and off, which are in order. Without an event that switches on,
/// samples count from the first one on.
fn spans(keys: &[(Key, usize)], on: Option<usize>, off: Option<usize>) -> Vec<RangeInclusive<Key>> {
    let mut spans = Vec::new();
    let mut start = on.is_none().then_some(Key::FIRST);
    for &(key, event) in keys {
        match start {
            None if Some(event) == on => start = Some(key),
            Some(begun) if Some(event) == off => {
                spans.push(begun..=key);
                start = None;
            }
            _ => {}
        }
    }
    spans.extend(start.map(|begun| begun..=Key::LAST));
    spans
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(time_ns: u64) -> Key {
        Key { time_ns, offset: 0 }
    }

    /// Times from 0 to 9 that count; samples that switch are of the events 0 and 1.
    fn counted(
        samples: &[(u64, usize)],
        on: Option<usize>,
        off: Option<usize>,
        are_shown: bool,
    ) -> Vec<u64> {
        let keys: Vec<_> = samples
            .iter()
            .map(|&(at, event)| (key(at), event))
            .collect();
        let spans = spans(&keys, on, off);
        let switched = SwitchedSpans { spans, are_shown };
        (0..10).filter(|&at| switched.has(key(at))).collect()
    }

    #[test]
    fn samples_count_between_those_that_switch() {
        let samples = [(1, 1), (2, 0), (3, 0), (5, 1), (6, 1), (8, 0)];
        let both = |are_shown| counted(&samples, Some(0), Some(1), are_shown);
        assert_eq!(both(false), [3, 4, 9]);
        assert_eq!(both(true), [2, 3, 4, 5, 8, 9]);
        assert_eq!(
            counted(&samples, Some(0), None, false),
            [3, 4, 5, 6, 7, 8, 9]
        );
        let by_one = [(2, 0), (4, 0), (7, 0)];
        assert_eq!(counted(&by_one, Some(0), Some(0), false), [3, 8, 9]);
        // What is switched off without being on before stays off.
        assert_eq!(
            counted(&samples[1..], None, Some(1), true),
            [0, 1, 2, 3, 4, 5]
        );
        assert_eq!(counted(&[], Some(0), None, true), []);
    }
}
