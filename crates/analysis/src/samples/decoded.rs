//! One sample, decoded as far as every pass asks.

use super::Stretch;
use crate::recording::Recording;
use crate::spans::NamedSpan;
use rprof_abi::record::Record;
use rprof_abi::{AttrFlags, Callchain, RawRecord, RecordKind, Sample, SampleHead, Weight, context};
use rprof_machine::Key;
use rprof_perfdata::Reader;

/// A sample, with what every pass asks of it.
#[derive(Debug)]
pub struct DecodedSample<'r> {
    /// Its record.
    pub raw: RawRecord<'r>,
    /// The fields that every pass asks for.
    pub head: SampleHead<'r>,
    /// Whether it is a member's part of a group's sample.
    pub is_member: bool,
    /// The user part of its chain, if that came later.
    pub deferred: Option<Callchain<'r>>,
    /// Which stretch of time it is a sample of, and its number, if it was derived from context switches.
    pub(crate) stretch: Option<(u32, Stretch)>,
    /// The number of the innermost span of its thread, if spans were asked for.
    pub(crate) span: Option<u32>,
    /// The address of the lock that it is a wait for, if locks were asked for and it is known.
    pub(crate) lock: Option<u64>,
    /// Number of the event in the recording that its record is of.
    pub(crate) recorded_event: usize,
    /// Number of its event: that of the record, but for members of groups and samples that were derived.
    pub event: usize,
    /// Process id; -1 if it was not recorded.
    pub pid: i32,
    /// Thread id; -1 if it was not recorded.
    pub tid: i32,
    /// When it was taken, and where it is in the file.
    pub key: Key,
}

impl<'r> DecodedSample<'r> {
    /// The innermost span that it is in, if spans were asked for.
    pub fn named_span<'a>(&self, recording: &'a Recording<'_>) -> Option<NamedSpan<'a>> {
        let spans = recording.spans()?;
        let span = spans.span(self.span?)?;
        Some(NamedSpan {
            name: spans.names().get(span.name as usize)?,
            start_ns: span.start.time_ns,
            ns: span.ns,
        })
    }

    /// Decodes the sample at an offset; `None` if its event is not known, or it is shorter than its fields.
    #[inline]
    pub(crate) fn of(recording: &Recording<'_>, offset: u64, raw: RawRecord<'r>) -> Option<Self> {
        let event = recording.reader.event_of(raw)?;
        let layout = &recording.reader.events().get(event)?.layout;
        let head = layout.parse_head(raw.body).ok()?;
        Some(Self::with_head(recording, (offset, raw), event, head))
    }

    /// A record of an event, with what is at the head of a sample.
    #[inline]
    pub(super) fn with_head(
        recording: &Recording<'_>,
        (offset, raw): (u64, RawRecord<'r>),
        event: usize,
        head: SampleHead<'r>,
    ) -> Self {
        let (pid, tid) = head.task.unwrap_or((-1, -1));
        Self {
            raw,
            deferred: None,
            is_member: false,
            stretch: None,
            span: None,
            lock: None,
            recorded_event: event,
            event,
            pid,
            tid,
            key: recording.index.key(head.time_ns, offset),
            head,
        }
    }

    /// The same as a sample of another event, which counts `period`: what a group's member gained.
    pub(crate) fn counts(&mut self, event: usize, period: u64) -> &Self {
        self.is_member = true;
        self.event = event;
        self.head.period = Some(period);
        self
    }

    /// The stretch of time that it is a sample of; `None` if it was recorded.
    pub fn stretch(&self) -> Option<Stretch> {
        self.stretch.map(|(_, stretch)| stretch)
    }

    /// Number of the event that its record is of: what the record has is that event's.
    #[inline]
    pub fn recorded_event(&self) -> usize {
        self.recorded_event
    }

    /// Whether its record's stack is its own.
    #[inline]
    pub(crate) fn has_stack(&self) -> bool {
        self.stretch.is_none_or(|(_, stretch)| stretch.has_stack)
    }

    /// All fields of the sample; `None` where it was derived from another record.
    pub fn all_fields(&self, reader: &Reader) -> Option<Sample<'r>> {
        if self.raw.kind != RecordKind::SAMPLE {
            return None;
        }
        let event = reader.event_of(self.raw)?;
        let layout = &reader.events().get(event)?.layout;
        layout.parse_sample(self.raw.body).ok()
    }

    /// Its weight: its period, or the event's fixed one.
    #[inline]
    pub fn weight(&self, reader: &Reader) -> u64 {
        if let Some(period) = self.head.period {
            return period;
        }
        let event = reader.events().get(self.event);
        event
            .map(|event| &event.attr)
            .filter(|attr| !attr.flags.has(AttrFlags::FREQ))
            .map_or(1, |attr| attr.sample_period.max(1))
    }

    /// What an access to memory cost: its weight, or 1 without one, as perf has it.
    pub(crate) fn cost(&self, reader: &Reader) -> u64 {
        let weight = self
            .all_fields(reader)
            .map_or(0, |fields| match fields.weight {
                Some(Weight::Whole(weight)) => weight,
                Some(Weight::Parts { var1, .. }) => var1.into(),
                None => 0,
            });
        weight.max(1)
    }

    /// Whether the user part of its chain comes later.
    #[inline]
    pub(crate) fn is_deferred(&self) -> bool {
        self.head.callchain.and_then(deferred_cookie).is_some()
    }

    /// Joins the user part of its chain that came later, read into `scratch`. Returns false if there should be one,
    /// and is none.
    #[inline]
    pub(crate) fn join(&mut self, recording: &Recording<'_>, scratch: &'r mut Vec<u8>) -> bool {
        let Some(cookie) = self.head.callchain.and_then(deferred_cookie) else {
            return true;
        };
        let at = recording.index.deferred.after(cookie, self.key);
        self.deferred = at.and_then(|at| deferred_chain(recording.reader, at, self.tid, scratch));
        self.deferred.is_some()
    }
}

/// The cookie under which the user part of a chain comes later.
fn deferred_cookie(chain: Callchain<'_>) -> Option<u64> {
    let mut entries = chain.entries().rev();
    let (cookie, marker) = (entries.next()?, entries.next()?);
    (marker == context::USER_DEFERRED).then_some(cookie)
}

/// Reads the deferred chain at an offset, if it is this thread's.
fn deferred_chain<'r>(
    reader: &Reader,
    offset: u64,
    tid: i32,
    scratch: &'r mut Vec<u8>,
) -> Option<Callchain<'r>> {
    let raw = reader.record_at(offset, scratch).ok()??;
    let layout = &reader.events().get(reader.event_of(raw)?)?.layout;
    let (record, id) = Record::parse(raw, layout).ok()?;
    match record {
        Record::CallchainDeferred(deferred) if id.tid.is_none_or(|other| other == tid) => {
            Some(deferred.chain)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rprof_abi::Endian;

    #[test]
    fn the_cookie_of_a_user_part_that_comes_later_is_the_last_entry() {
        let cookie = |entries: &[u64]| {
            let bytes: Vec<u8> = entries.iter().flat_map(|word| word.to_le_bytes()).collect();
            deferred_cookie(Callchain::from_encoded(&bytes, Endian::Little))
        };
        let deferred = [context::KERNEL, 100, context::USER_DEFERRED, 7];
        assert_eq!(cookie(&deferred), Some(7));
        assert_eq!(cookie(&deferred[..2]), None);
    }
}
