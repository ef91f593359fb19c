//! Samples that are derived from others: the time of threads, as context switches tell it. Each stretch of time is a
//! sample of the record with whose stack it began, or that was sampled in it.

use super::{DecodedSample, WokenBy, has_switches};
use crate::about::is_off_cpu_time;
use crate::recording::Recording;
use crate::tracepoints::TracepointFormats;
use foldhash::HashMap;
use rprof_abi::record::Record;
use rprof_abi::{RawRecord, RecordKind, SampleHead, SampleType};
use rprof_perfdata::{Reader, RecordedEvent};
use rprof_profile::{Account, EventKind};
use rprof_scheduling::{Cause, ThreadState};
use rprof_untrusted::{Budget, Held, OverBudget};
use std::ops::Range;

/// A stretch of a thread's time in one state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stretch {
    /// What the thread did.
    pub state: ThreadState,
    /// Why.
    pub cause: Cause,
    /// Who woke it.
    pub waker: WokenBy,
    /// Whether it is on the critical path that was asked for.
    pub is_on_path: bool,
    /// Whether the stack of the record is that of the thread.
    pub(crate) has_stack: bool,
    /// The thread, if the record does not say that it is this one's; else 0.
    pub(crate) other_tid: i32,
}

/// A stretch, and the record that it is a sample of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct AccountedSample {
    /// Where the record is.
    pub(crate) offset: u64,
    /// How long the stretch took.
    pub(crate) ns: u64,
    pub(crate) stretch: Stretch,
}

impl AccountedSample {
    fn order(&self) -> (u64, i32, bool, bool) {
        let Stretch {
            state,
            is_on_path,
            other_tid,
            ..
        } = self.stretch;
        // A thread is blocked first, and runnable then.
        let is_runnable = state == ThreadState::Runnable;
        (self.offset, other_tid, is_runnable, is_on_path)
    }
}

/// The span that a stretch of time is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SampleSpan {
    /// That of its thread at the time of its record.
    ByRecord,
    /// None.
    Nowhere,
    /// The one with this number.
    In(u32),
}

impl From<Option<u32>> for SampleSpan {
    fn from(span: Option<u32>) -> Self {
        span.map_or(Self::Nowhere, Self::In)
    }
}

/// All samples of an account.
#[derive(Debug, Default)]
pub(crate) struct AccountedSamples {
    account: Account,
    /// In the order of the file.
    samples: Vec<AccountedSample>,
    /// The span of each; empty if spans were not asked for.
    spans: Vec<SampleSpan>,
    /// The address of the lock that each is a wait for, or 0; empty if locks were not asked for.
    locks: Vec<u64>,
    /// The processes of threads that have samples of other threads' records.
    pids: HashMap<i32, i32>,
    /// What is to be said of them, one sentence each.
    pub(crate) warnings: Vec<String>,
    /// Whether they are of the times alone that were asked for.
    pub(crate) is_cut: bool,
    /// The memory of the samples.
    _held: Option<Held>,
}

/// The number of the event that they are of: it stands in for the first of the recording.
pub(crate) const ACCOUNTED_EVENT: usize = 0;

impl AccountedSamples {
    /// Samples in any order, and the processes of threads that have samples of records that are not theirs.
    pub(crate) fn new(
        account: Account,
        (mut samples, mut spans, mut locks): (Vec<AccountedSample>, Vec<SampleSpan>, Vec<u64>),
        pids: HashMap<i32, i32>,
        warnings: Vec<String>,
    ) -> Self {
        if spans.is_empty() && locks.is_empty() {
            samples.sort_unstable_by_key(AccountedSample::order);
        } else {
            let mut places: Vec<usize> = (0..samples.len()).collect();
            // Parts of a wait stay in their order.
            places.sort_by_key(|&place| samples[place].order());
            samples = at_places(&samples, &places);
            spans = at_places(&spans, &places);
            locks = at_places(&locks, &places);
        }
        Self {
            account,
            samples,
            spans,
            locks,
            pids,
            warnings,
            is_cut: false,
            _held: None,
        }
    }

    /// Accounts for their memory.
    ///
    /// # Errors
    /// [`OverBudget`].
    pub(crate) fn hold(self, budget: &Budget) -> Result<Self, OverBudget> {
        let of_samples = self.samples.len() * size_of::<AccountedSample>();
        let of_locks = self.locks.len() * size_of::<u64>();
        let bytes = (of_samples + of_locks + self.spans.len() * size_of::<SampleSpan>()) as u64;
        Ok(Self {
            _held: Some(budget.hold(bytes)?),
            ..self
        })
    }

    /// What the event is called, and what it counts.
    pub(crate) fn event(&self) -> (&'static str, EventKind) {
        self.account.event().unwrap_or_default()
    }

    /// All samples, with their threads: `tid_of` says whose a record is.
    #[cfg(test)]
    pub(crate) fn for_each_task(
        &self,
        tid_of: impl Fn(u64) -> i32,
    ) -> impl Iterator<Item = (i32, AccountedSample)> {
        self.samples
            .iter()
            .map(move |sample| match sample.stretch.other_tid {
                0 => (tid_of(sample.offset), *sample),
                tid => (tid, *sample),
            })
    }

    /// The numbers of the samples from an offset on.
    pub(super) fn from(&self, offset: u64) -> usize {
        self.samples.partition_point(|one| one.offset < offset)
    }

    /// The numbers of the samples of a record, where those before `next` are of earlier ones.
    #[inline]
    pub(super) fn of_record(&self, next: usize, offset: u64) -> Range<usize> {
        let rest = self.samples.get(next..).unwrap_or_default();
        let start = next + rest.iter().take_while(|one| one.offset < offset).count();
        let rest = self.samples.get(start..).unwrap_or_default();
        start..start + rest.iter().take_while(|one| one.offset == offset).count()
    }

    /// A sample of a record, by its number.
    pub(crate) fn sample<'r>(
        &self,
        recording: &Recording<'_>,
        (offset, raw): (u64, RawRecord<'r>),
        number: u32,
    ) -> Option<DecodedSample<'r>> {
        let accounted = self.samples.get(number as usize)?;
        let mut sample = match raw.kind {
            RecordKind::SAMPLE => DecodedSample::of(recording, offset, raw)?,
            _ => of_record(recording, offset, raw)?,
        };
        sample.counts(ACCOUNTED_EVENT, accounted.ns);
        sample.stretch = Some((number, accounted.stretch));
        let tid = accounted.stretch.other_tid;
        if tid != 0 {
            (sample.pid, sample.tid) = (self.pids.get(&tid).copied().unwrap_or(-1), tid);
            sample.head.task = Some((sample.pid, tid));
        }
        sample.span = match self.spans.get(number as usize) {
            Some(SampleSpan::Nowhere) => None,
            Some(&SampleSpan::In(span)) => Some(span),
            Some(SampleSpan::ByRecord) | None => recording
                .spans()
                .and_then(|spans| spans.at(sample.tid, sample.key)),
        };
        let lock = self.locks.get(number as usize).copied();
        sample.lock = lock.filter(|&lock| lock != 0);
        if !accounted.stretch.has_stack {
            (sample.head.ip, sample.head.callchain) = (None, None);
        }
        Some(sample)
    }
}

/// What is at these places, if there is anything.
fn at_places<T: Copy>(all: &[T], places: &[usize]) -> Vec<T> {
    let found = places.iter().filter_map(|&place| all.get(place).copied());
    found.collect()
}

/// A record that is no sample as one without a stack.
fn of_record<'r>(
    recording: &Recording<'_>,
    offset: u64,
    raw: RawRecord<'r>,
) -> Option<DecodedSample<'r>> {
    let event = recording.reader.event_of(raw)?;
    let layout = &recording.reader.events().get(event)?.layout;
    let (_, id) = Record::parse(raw, layout).ok()?;
    let head = SampleHead {
        task: Some((id.pid.unwrap_or(-1), id.tid.unwrap_or(-1))),
        time_ns: id.time_ns,
        cpu: id.cpu,
        ..SampleHead::default()
    };
    Some(DecodedSample::with_head(
        recording,
        (offset, raw),
        event,
        head,
    ))
}

/// Whether a recording says when threads did not run.
pub(crate) fn tells_of_waits(reader: &Reader) -> bool {
    let has_times = |event: &RecordedEvent| event.attr.sample_type.has(SampleType::TIME);
    let mut events = reader.events().iter();
    let has_records = has_switches(reader) && reader.events().iter().any(has_times);
    has_records || events.any(is_off_cpu_time) || {
        let (formats, _) = TracepointFormats::of(reader);
        let mut events = reader.events().iter().enumerate();
        events.any(|(at, event)| {
            let format = formats.of_event(at).filter(|_| has_times(event));
            format.is_some_and(|format| format.name == "sched_switch")
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_are_found_by_their_record() {
        let at = |offset, ns, state, other_tid| AccountedSample {
            offset,
            ns,
            stretch: Stretch {
                state,
                cause: Cause::Unknown,
                waker: WokenBy::Nobody,
                is_on_path: false,
                has_stack: true,
                other_tid,
            },
        };
        let (first, second) = (ThreadState::Preempted, ThreadState::Runnable);
        let samples = vec![
            at(80, 1, second, 0),
            at(40, 2, second, 8),
            at(80, 3, first, 0),
            at(120, 4, first, 0),
        ];
        let all = AccountedSamples::new(
            Account::OffCpu,
            (samples, Vec::new(), Vec::new()),
            HashMap::default(),
            Vec::new(),
        );
        assert_eq!(all.from(41), 1);
        assert_eq!(all.of_record(0, 80), 1..3);
        assert_eq!(all.of_record(1, 100), 3..3);
        assert_eq!(all.of_record(3, 120), 3..4);
        let found: Vec<_> = all.for_each_task(|_| 9).collect();
        let found: Vec<_> = found.iter().map(|(tid, one)| (*tid, one.ns)).collect();
        assert_eq!(found, [(8, 2), (9, 3), (9, 1), (9, 4)]);
        assert_eq!(all.event().0, "offcpu-time");
        // Recordings have millions of them.
        assert_eq!(size_of::<AccountedSample>(), 32);
    }
}
