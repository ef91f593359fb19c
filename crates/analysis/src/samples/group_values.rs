//! Counter values in samples (`PERF_SAMPLE_READ`): a group's leader is sampled, and the values of
//! all members are read with it. A sample of a member counts what it gained since the last one, so
//! such recordings are read in order, by one thread.

use foldhash::HashMap;
use rprof_abi::{AttrFlags, ReadFormat, Sample, SampleType};
use rprof_perfdata::{Reader, RecordedEvent};
use std::sync::{Mutex, MutexGuard};

/// Whether samples of this event stand for several.
pub(crate) fn holds_values(event: &RecordedEvent) -> bool {
    event.attr.sample_type.has(SampleType::READ) && event.attr.read_format.has(ReadFormat::ID)
}

/// The last value of each counter, by event id and, for inherited events, by thread.
#[derive(Clone, Debug, Default)]
pub(crate) struct LastValues {
    last: HashMap<(u64, Option<i32>), u64>,
    /// By event: the last sample that it gained in.
    gained_in: HashMap<usize, u64>,
    n_samples: u64,
}

/// What a counter of a sample gained.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Gain {
    /// The counter's event.
    pub(crate) event: usize,
    pub(crate) gained: u64,
}

impl LastValues {
    /// Notes the values of a sample, and says what each counter gained. Returns how many are of no
    /// event that the file knows.
    pub(crate) fn take(
        &mut self,
        reader: &Reader,
        event: &RecordedEvent,
        sample: &Sample<'_>,
        gains: &mut Vec<Gain>,
    ) -> u64 {
        gains.clear();
        self.n_samples += 1;
        let Some(read) = &sample.read else {
            return 0;
        };
        let mut n_unknown = 0;
        let task = sample
            .tid
            .filter(|_| event.attr.flags.has(AttrFlags::INHERIT));
        let nth = Some(self.n_samples);
        for value in read.values() {
            let id = value.id.unwrap_or(0);
            let only = (reader.events().len() == 1).then_some(0);
            let Some(event) = reader.event_of_id(id).or(only) else {
                n_unknown += 1;
                continue;
            };
            let last = self.last.insert((id, task), value.value).unwrap_or(0);
            // A member counts once in a sample, whatever a damaged one says.
            if value.value != last && self.gained_in.insert(event, self.n_samples) != nth {
                gains.push(Gain {
                    event,
                    gained: value.value.wrapping_sub(last),
                });
            }
        }
        n_unknown
    }
}

/// The values of a recording that has some, for one pass at a time.
#[derive(Debug)]
pub(crate) struct GroupValues(Option<Mutex<ValuesInOrder>>);

/// Values as chunks are read, one after the other.
#[derive(Debug, Default)]
pub(crate) struct ValuesInOrder {
    /// Those of the samples so far.
    pub(crate) last: LastValues,
    /// A chunk from which a pass may begin, and what they were before it.
    remembered: (usize, LastValues),
}

impl GroupValues {
    pub(crate) fn of(reader: &Reader) -> Self {
        let has_values = reader.events().iter().any(holds_values);
        Self(has_values.then(Mutex::default))
    }

    /// Whether chunks must be read in order, by one thread.
    pub(crate) fn need_order(&self) -> bool {
        self.0.is_some()
    }

    /// The values as they are before a chunk; the first one starts anew.
    pub(crate) fn before(&self, chunk: usize) -> Option<MutexGuard<'_, ValuesInOrder>> {
        // A thread that panicked ends the program.
        let mut values = self.0.as_ref()?.lock().ok()?;
        if chunk == 0 {
            values.last = LastValues::default();
        } else if chunk == values.remembered.0 {
            values.last = values.remembered.1.clone();
        }
        Some(values)
    }

    /// Remembers the values as they are: a later pass begins with this chunk.
    pub(crate) fn remember(&self, chunk: usize) {
        if let Some(mut values) = self.0.as_ref().and_then(|values| values.lock().ok()) {
            values.remembered = (chunk, values.last.clone());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pass_that_begins_with_a_remembered_chunk_knows_the_values_before_it() {
        let values = GroupValues(Some(Mutex::default()));
        let n_samples = |chunk| values.before(chunk).unwrap().last.n_samples;
        let read = |chunk| values.before(chunk).unwrap().last.n_samples += 1;
        read(0);
        values.remember(1);
        read(1);
        read(2);
        assert_eq!(n_samples(1), 1);
        read(1);
        assert_eq!(n_samples(2), 2);
        assert_eq!(n_samples(0), 0);
    }
}
