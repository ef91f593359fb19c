//! Time off the CPU as samples: one for each span from where a thread was switched out to where it ran again. It has
//! the stack of the sample that was taken at the switch (`context-switches`, `sched:sched_switch`), or none.

use super::DecodedSample;
use crate::Error;
use crate::recording::Recording;
use foldhash::HashMap;
use rprof_abi::record::Record;
use rprof_abi::{Misc, RawRecord, RecordKind, SampleHead};
use rprof_base::parallel;
use rprof_machine::Key;
use rprof_perfdata::{RecordedEvent, Step};
use std::collections::hash_map::Entry;

/// What a record says of a thread; in this order at one moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Change {
    /// A sample is taken as it is switched out.
    Sampled,
    Out,
    In,
}

/// Spans off the CPU.
#[derive(Debug)]
pub(super) struct OffCpu {
    /// Where each begins, in order, and how long it is in nanoseconds.
    spans: Vec<(Key, u64)>,
    /// The event that they are of.
    pub(super) event: usize,
}

impl OffCpu {
    /// The spans of a recording with context switches.
    pub(super) fn find(recording: &Recording<'_>) -> Result<Self, Error> {
        let visit = |changes: &mut Vec<(Key, i32, Change)>, chunk: usize| -> Result<(), Error> {
            let Some(range) = recording.index.chunks.get(chunk) else {
                return Ok(());
            };
            recording.reader.walk_windows(range.clone(), |records| {
                changes.extend(records.filter_map(|(offset, raw)| match raw.kind {
                    RecordKind::SAMPLE => {
                        let sample = DecodedSample::of(recording, offset, raw)?;
                        let events = recording.reader.events();
                        let is_switch = events.get(sample.event).is_some_and(is_switch);
                        is_switch.then_some((sample.key, sample.tid, Change::Sampled))
                    }
                    RecordKind::SWITCH | RecordKind::SWITCH_CPU_WIDE => {
                        let event = recording.reader.event_of(raw)?;
                        let layout = &recording.reader.events().get(event)?.layout;
                        let (_, id) = Record::parse(raw, layout).ok()?;
                        let key = recording.index.key(id.time_ns, offset);
                        let is_out = raw.misc.has(Misc::SWITCH_OUT);
                        let change = if is_out { Change::Out } else { Change::In };
                        Some((key, id.tid.filter(|&tid| tid > 0)?, change))
                    }
                    _ => None,
                }));
                Step::On
            })?;
            Ok(())
        };
        let work = (recording.index.chunks.len(), parallel::n_cpus());
        let mut changes = parallel::for_each(work, Vec::new, visit, &mut |_| {})?.concat();
        changes.sort_unstable();
        Ok(Self {
            spans: spans(&changes),
            event: recording
                .reader
                .events()
                .iter()
                .position(is_switch)
                .unwrap_or(0),
        })
    }

    /// The span that begins with a sample; `None` if none does.
    pub(super) fn span_from<'r>(&self, mut sample: DecodedSample<'r>) -> Option<DecodedSample<'r>> {
        let key = sample.key;
        let at = self.spans.binary_search_by_key(&key, |&(start, _)| start);
        let &(_, ns) = self.spans.get(at.ok()?)?;
        sample.counts(self.event, ns);
        Some(sample)
    }
}

/// The sample at an offset, or a switch as one without a stack; `None` for other records.
pub(super) fn at_switch<'r>(
    recording: &Recording<'_>,
    offset: u64,
    raw: RawRecord<'r>,
) -> Option<DecodedSample<'r>> {
    match raw.kind {
        RecordKind::SAMPLE => return DecodedSample::of(recording, offset, raw),
        RecordKind::SWITCH | RecordKind::SWITCH_CPU_WIDE => {}
        _ => return None,
    }
    let event = recording.reader.event_of(raw)?;
    let layout = &recording.reader.events().get(event)?.layout;
    let (_, id) = Record::parse(raw, layout).ok()?;
    let (pid, tid) = (id.pid.unwrap_or(-1), id.tid.unwrap_or(-1));
    Some(DecodedSample {
        raw,
        deferred: None,
        is_member: false,
        event,
        pid,
        tid,
        key: recording.index.key(id.time_ns, offset),
        head: SampleHead {
            task: Some((pid, tid)),
            time_ns: id.time_ns,
            cpu: id.cpu,
            ..SampleHead::default()
        },
    })
}

/// Whether samples of an event are taken as threads are switched out.
fn is_switch(event: &RecordedEvent) -> bool {
    let name = event.name.raw();
    name.starts_with("context-switches") || name.starts_with("sched:sched_switch")
}

fn spans(changes: &[(Key, i32, Change)]) -> Vec<(Key, u64)> {
    let mut off: HashMap<i32, Key> = HashMap::default();
    let mut spans = Vec::new();
    for &(key, tid, change) in changes {
        match (change, off.entry(tid)) {
            (Change::Sampled, entry) => {
                entry.insert_entry(key);
            }
            // Without a sample it begins where the record of the switch is.
            (Change::Out, entry) => {
                entry.or_insert(key);
            }
            (Change::In, Entry::Occupied(begun)) => {
                let start = begun.remove();
                spans.push((start, key.time_ns.saturating_sub(start.time_ns)));
            }
            (Change::In, Entry::Vacant(_)) => {}
        }
    }
    spans.sort_unstable();
    spans
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_begin_with_the_sample_or_the_switch_and_end_where_the_thread_runs_again() {
        let key = |time_ns| Key { time_ns, offset: 0 };
        let changes = [
            (key(1), 7, Change::In),
            (key(10), 7, Change::Sampled),
            (key(11), 7, Change::Out),
            (key(12), 8, Change::Out),
            (key(30), 7, Change::In),
            (key(50), 8, Change::In),
            (key(60), 8, Change::Out),
        ];
        assert_eq!(spans(&changes), [(key(10), 20), (key(12), 38)]);
    }
}
