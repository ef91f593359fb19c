//! Where samples come from, before any filter and any pass. Which records are samples, what each counts, and which
//! samples stand for several is known here alone: passes see samples, one after the other, and do not ask.

use super::chosen_events::hidden;
use super::group_values::{Gain, GroupValues, LastValues, holds_values};
use super::{ACCOUNTED_EVENT, AccountedSamples, DecodedSample, IgnoredSamples};
use crate::Error;
use crate::about;
use crate::recording::Recording;
use rprof_abi::{RawRecord, RecordKind};
use rprof_perfdata::Step;
use rprof_profile::{EventKind, Filter};
use rprof_untrusted::Untrusted;
use std::slice;

/// Samples decoded at a time: what is looked up for all of them at once does not wait for memory as often.
pub(crate) const BATCH: usize = 64;

/// The samples of a recording, in the order of the file.
#[derive(Debug)]
pub(crate) struct SampleSource<'a> {
    recording: &'a Recording<'a>,
    /// By event, whether nobody asked for it; empty if all are wanted.
    hidden: Vec<bool>,
    values: GroupValues,
    /// The samples that count instead, if a part of the time of threads is asked for.
    accounted: Option<AccountedSamples>,
}

impl<'a> SampleSource<'a> {
    /// The samples that were recorded, of the events that a filter asks for.
    pub(super) fn recorded(recording: &'a Recording<'a>, filter: &Filter) -> Self {
        Self {
            recording,
            hidden: hidden(recording.reader, filter),
            values: GroupValues::of(recording.reader),
            accounted: None,
        }
    }

    /// Others, derived from those that were recorded.
    pub(crate) fn accounted(self, samples: AccountedSamples) -> Self {
        Self {
            accounted: Some(samples),
            ..self
        }
    }
}

impl SampleSource<'_> {
    /// Whether chunks have to be read one after the other.
    pub(crate) fn needs_order(&self) -> bool {
        self.accounted.is_none() && self.values.need_order()
    }

    /// Whether samples were derived, not recorded.
    pub(crate) fn is_derived(&self) -> bool {
        self.accounted.is_some()
    }

    /// Whether samples count for nothing but times that are asked for: those of their records do not matter.
    pub(crate) fn is_cut(&self) -> bool {
        let samples = self.accounted.as_ref();
        samples.is_some_and(|samples| samples.is_cut)
    }

    /// Whether an event has no samples, since others count, or nobody asked for it.
    pub(crate) fn leaves_out(&self, event: usize) -> bool {
        self.is_derived() && event != ACCOUNTED_EVENT || self.is_hidden(event)
    }

    /// Whether nobody asked for the samples of an event.
    #[inline]
    fn is_hidden(&self, event: usize) -> bool {
        self.hidden.get(event) == Some(&true)
    }

    /// What is to be said of derived samples and of spans, one sentence each.
    pub(crate) fn warnings(&self) -> impl Iterator<Item = String> {
        let spans = self.recording.spans().map(|spans| &spans.warnings);
        let accounted = self.accounted.as_ref().map(|samples| &samples.warnings);
        accounted.into_iter().chain(spans).flatten().cloned()
    }

    /// What the samples of an event are called, and what they count; `None` for a number of none.
    pub(crate) fn event(&self, event: usize) -> Option<(Untrusted<String>, EventKind)> {
        let recorded = self.recording.reader.events().get(event)?;
        match &self.accounted {
            Some(samples) if event == ACCOUNTED_EVENT => {
                let (name, kind) = samples.event();
                Some((Untrusted::new(name.to_owned()), kind))
            }
            _ => Some((recorded.name.clone(), about::kind_of(recorded))),
        }
    }

    /// Remembers what has been read before a chunk: the next pass begins there.
    pub(crate) fn remember_values(&self, chunk: usize) {
        self.values.remember(chunk);
    }

    /// The sample at an offset, without the members of its group; `None` if it cannot be decoded.
    #[inline]
    pub(crate) fn sample_at<'r>(
        &self,
        offset: u64,
        raw: RawRecord<'r>,
    ) -> Option<DecodedSample<'r>> {
        let mut sample = DecodedSample::of(self.recording, offset, raw)?;
        if let Some(spans) = self.recording.spans() {
            sample.span = spans.at(sample.tid, sample.key);
        }
        Some(sample)
    }

    /// The derived sample of a record with a number.
    pub(crate) fn derived_at<'r>(
        &self,
        record: (u64, RawRecord<'r>),
        number: u32,
    ) -> Option<DecodedSample<'r>> {
        (self.accounted.as_ref()?).sample(self.recording, record, number)
    }

    /// Calls `visit` for the samples of a chunk that are accepted, some at a time.
    pub(super) fn for_each_batch(
        &self,
        chunk: usize,
        accepts: impl Fn(&DecodedSample<'_>) -> bool,
        visit: impl FnMut(&[DecodedSample<'_>]),
    ) -> Result<IgnoredSamples, Error> {
        match &self.accounted {
            Some(samples) => self.for_each_derived(samples, chunk, accepts, visit),
            None => self.for_each_recorded(chunk, accepts, visit),
        }
    }

    fn for_each_derived(
        &self,
        samples: &AccountedSamples,
        chunk: usize,
        accepts: impl Fn(&DecodedSample<'_>) -> bool,
        mut visit: impl FnMut(&[DecodedSample<'_>]),
    ) -> Result<IgnoredSamples, Error> {
        let mut ignored = IgnoredSamples::default();
        let Some(range) = self.recording.index.chunks.get(chunk) else {
            return Ok(ignored);
        };
        let mut next = samples.from(range.start);
        let mut scratch = Vec::new();
        self.recording
            .reader
            .walk_windows(range.clone(), |records| {
                let mut batch = Vec::with_capacity(BATCH);
                for (offset, raw) in records {
                    let numbers = samples.of_record(next, offset);
                    next = numbers.end;
                    for number in numbers {
                        let number = u32::try_from(number).unwrap_or(u32::MAX);
                        let sample = samples.sample(self.recording, (offset, raw), number);
                        let Some(sample) = sample.filter(&accepts) else {
                            continue;
                        };
                        if batch.len() == BATCH || sample.is_deferred() {
                            visit(&batch);
                            batch.clear();
                        }
                        if !sample.is_deferred() {
                            batch.push(sample);
                            continue;
                        }
                        let mut joined = sample;
                        let is_joined = joined.join(self.recording, &mut scratch);
                        ignored.n_unjoined += u64::from(!is_joined);
                        visit(slice::from_ref(&joined));
                    }
                }
                visit(&batch);
                Step::On
            })?;
        Ok(ignored)
    }

    fn for_each_recorded(
        &self,
        chunk: usize,
        accepts: impl Fn(&DecodedSample<'_>) -> bool,
        mut visit: impl FnMut(&[DecodedSample<'_>]),
    ) -> Result<IgnoredSamples, Error> {
        let mut ignored = IgnoredSamples::default();
        let Some(range) = self.recording.index.chunks.get(chunk) else {
            return Ok(ignored);
        };
        let mut values = self.values.before(chunk);
        let (mut scratch, mut gains) = (Vec::new(), Vec::new());
        self.recording
            .reader
            .walk_windows(range.clone(), |records| {
                let mut batch = Vec::with_capacity(BATCH);
                for (offset, raw) in records {
                    if raw.kind != RecordKind::SAMPLE {
                        continue;
                    }
                    let Some(sample) = self.sample_at(offset, raw) else {
                        ignored.n_bad += 1;
                        continue;
                    };
                    let values = values.as_mut().filter(|_| self.holds_values(sample.event));
                    let is_plain = values.is_none() && !sample.is_deferred();
                    // Samples stay in the file's order: what came before goes first.
                    if batch.len() == BATCH || !is_plain {
                        visit(&batch);
                        batch.clear();
                    }
                    // The members of a group have their own events.
                    let is_wanted = values.is_some() || !self.is_hidden(sample.event);
                    let is_accepted = is_wanted && accepts(&sample);
                    if is_plain {
                        batch.extend(is_accepted.then_some(sample));
                        continue;
                    }
                    let mut joined = sample;
                    let is_joined = joined.join(self.recording, &mut scratch);
                    ignored.n_unjoined += u64::from(!is_joined);
                    match values {
                        None if is_accepted => visit(slice::from_ref(&joined)),
                        None => {}
                        Some(values) => {
                            self.take_values(&joined, &mut values.last, &mut gains, &mut ignored);
                            let gains = gains.iter().filter(|gain| !self.is_hidden(gain.event));
                            for gain in gains.filter(|_| is_accepted) {
                                visit(slice::from_ref(joined.counts(gain.event, gain.gained)));
                            }
                        }
                    }
                }
                visit(&batch);
                Step::On
            })?;
        Ok(ignored)
    }

    fn holds_values(&self, event: usize) -> bool {
        let event = self.recording.reader.events().get(event);
        event.is_some_and(holds_values)
    }

    /// What the members of a sample's group gained.
    fn take_values(
        &self,
        sample: &DecodedSample<'_>,
        values: &mut LastValues,
        gains: &mut Vec<Gain>,
        ignored: &mut IgnoredSamples,
    ) {
        let reader = self.recording.reader;
        let event = reader.events().get(sample.event);
        match event.zip(sample.all_fields(reader)) {
            Some((event, fields)) => {
                ignored.n_unknown += values.take(reader, event, &fields, gains);
            }
            None => {
                gains.clear();
                ignored.n_bad += 1;
            }
        }
    }
}
