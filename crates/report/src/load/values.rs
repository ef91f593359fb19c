//! Counter values in samples (`PERF_SAMPLE_READ`): a group's leader is sampled, and the values of
//! all members are read with it.

use rprof_abi::{AttrFlags, RawRecord, ReadFormat, Sample, SampleType};
use rprof_perfdata::{Reader, RecordedEvent};
use rustc_hash::FxHashMap;

/// The last value of each counter, for samples that hold values (`PERF_SAMPLE_READ`): a sample of
/// a member counts what it gained since.
#[derive(Clone, Debug, Default)]
pub(crate) struct LastValues(FxHashMap<(u64, Option<i32>), u64>);

impl LastValues {
    /// What a counter gained since the last time, and notes its value.
    fn gain(&mut self, id: u64, tid: Option<i32>, value: u64) -> u64 {
        let last = self.0.insert((id, tid), value).unwrap_or(0);
        value.wrapping_sub(last)
    }

    /// Calls `visit` with the id of each counter of a sample and what it gained.
    pub(crate) fn take(
        &mut self,
        event: &RecordedEvent,
        sample: &Sample<'_>,
        mut visit: impl FnMut(u64, u64),
    ) {
        let Some(read) = &sample.read else {
            return;
        };
        // An inherited event counts for each task by itself.
        let per_task = event.attr.flags.has(AttrFlags::INHERIT);
        for value in read.values() {
            if let Some(id) = value.id {
                let gained = self.gain(id, sample.tid.filter(|_| per_task), value.value);
                visit(id, gained);
            }
        }
    }
}

/// Whether samples of this event stand for several: a group's leader is sampled, and the values of
/// all members are read with it.
pub(crate) fn holds_values(event: &RecordedEvent) -> bool {
    event.attr.sample_type.has(SampleType::READ) && event.attr.read_format.has(ReadFormat::ID)
}

/// Counter values at the starts of chunks: chunks are read in any order, and what a counter gained
/// is known only in order.
pub(crate) struct Values {
    is_needed: bool,
    now: LastValues,
    pub(crate) at_starts: Vec<LastValues>,
}

impl Values {
    pub(crate) fn of(reader: &Reader) -> Self {
        Self {
            is_needed: reader.events().iter().any(holds_values),
            now: LastValues::default(),
            at_starts: Vec::new(),
        }
    }

    pub(crate) fn start_chunk(&mut self) {
        if self.is_needed {
            self.at_starts.push(self.now.clone());
        }
    }

    #[inline]
    pub(crate) fn take(&mut self, reader: &Reader, raw: RawRecord<'_>) {
        if !self.is_needed {
            return;
        }
        let event = reader
            .event_of(raw)
            .and_then(|idx| reader.events().get(idx));
        let Some(event) = event.filter(|event| holds_values(event)) else {
            return;
        };
        // Samples that cannot be decoded are counted when they are read.
        if let Ok(sample) = event.layout.parse_sample(raw.body) {
            self.now.take(event, &sample, |_, _| {});
        }
    }
}
