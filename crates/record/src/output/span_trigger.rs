//! Spans that take longer than they should (`--trigger 'span > 50ms'`).
//!
//! The events that begin and end spans have rings of their own here: those of samples are overwritten. Beside them come
//! the ends of threads, and what executes another program.

use super::open_spans::{LiveEdge, LiveEdgeKind, OpenSpans};
use super::trigger_attr::prepared;
use crate::error::Error;
use crate::opening::attrs::Prepared;
use crate::opening::off_cpu::SpanPurpose;
use crate::opening::{Group, Scope, open_group};
use crate::settings::Settings;
use crate::words::{u32_at, u64_at};
use foldhash::HashMap;
use rprof_abi::record::Record;
use rprof_abi::{AttrFlags, Endian, Misc, RawRecord, RecordKind, SampleLayout, SampleType};
use rprof_events::Event;
use rprof_ringbuf::sys::{Clock, page_size};
use rprof_ringbuf::{Ring, Target};

/// Data pages of each ring.
const PAGES: usize = 64;

/// The events that begin and end spans.
#[derive(Debug)]
pub(crate) struct SpanTrigger {
    group: Group,
    /// What each counter's event is for, by its id.
    ids: HashMap<u64, SpanPurpose>,
    /// All of their records have the same fields.
    layout: SampleLayout,
    spans: OpenSpans,
    /// What is newer than the last look: something older may still come, from a CPU that was looked at before it did.
    newer: Vec<LiveEdge>,
    /// When that began.
    looked_ns: u64,
    clock: Clock,
    n_lost: u64,
}

impl SpanTrigger {
    /// `None` if no span is to be looked at.
    pub(super) fn open(
        settings: &Settings,
        edges: &[(SpanPurpose, Event)],
        scope: &Scope<'_>,
    ) -> Result<Option<Self>, Error> {
        let limits = limits_ns(settings);
        let is_looked_at =
            |purpose: &SpanPurpose| limits.get(purpose.span).is_some_and(Option::is_some);
        let edges: Vec<_> = edges
            .iter()
            .filter(|(purpose, _)| is_looked_at(purpose))
            .collect();
        let is_for_all = scope.targets.contains(&Target::All);
        let prepare = |(_, event): &&(SpanPurpose, Event)| with_time(event, is_for_all, settings);
        let mut prepared: Vec<_> = edges.iter().map(prepare).collect();
        let Some(first) = prepared.first_mut() else {
            return Ok(None);
        };
        // One of them tells of tasks.
        let flags = first.attr.flags.with(AttrFlags::TASK);
        first.attr.flags = flags.with(AttrFlags::COMM).with(AttrFlags::COMM_EXEC);
        let layout = SampleLayout::new(&first.attr, Endian::NATIVE);
        let group = open_group(&prepared, &scope.of_trigger(scope.targets.clone()), PAGES)?;
        let mut ids = HashMap::default();
        for (event, (purpose, _)) in group.events.iter().zip(&edges) {
            for counter in event.all() {
                let id = counter
                    .id()
                    .map_err(Error::system("asking for an event's id"))?;
                ids.insert(id, *purpose);
            }
        }
        Ok(Some(Self {
            group,
            ids,
            layout,
            spans: OpenSpans::new(limits),
            newer: Vec::new(),
            looked_ns: 0,
            clock: settings.clock,
            n_lost: 0,
        }))
    }

    pub(super) fn group(&self) -> &Group {
        &self.group
    }

    /// When a span began to take too long that was not known to: it has ended since this was last asked, or ran then.
    pub(super) fn has_fired(&mut self) -> Option<u64> {
        let now_ns = self.clock.now_ns();
        let until_ns = std::mem::replace(&mut self.looked_ns, now_ns);
        self.look(until_ns)
    }

    /// The same for all until now: nothing more comes.
    pub(super) fn has_fired_at_end(&mut self) -> Option<u64> {
        self.look(self.clock.now_ns())
    }

    /// Beginnings and ends that did not fit into the rings, as far as is known.
    pub(super) fn n_lost(&self) -> u64 {
        self.n_lost
    }

    fn look(&mut self, until_ns: u64) -> Option<u64> {
        let heads: Vec<u64> = self.group.rings.iter().map(Ring::head).collect();
        for (ring, head) in self.group.rings.iter_mut().zip(heads) {
            let mut batch = ring.batch_until(head);
            // Damage ends a batch.
            while let Ok(Some(record)) = batch.next() {
                let edge = edge(record, &self.ids, &self.layout);
                if edge.is_some_and(|edge| edge.what == LiveEdgeKind::Lost) {
                    // Header, id, count.
                    self.n_lost += u64_at(record, 16);
                }
                self.newer.extend(edge);
            }
        }
        // Threads go from one CPU to another.
        self.newer.sort_by_key(|edge| edge.time_ns);
        let n = (self.newer).partition_point(|edge| edge.time_ns <= until_ns);
        let newer = self.newer.split_off(n);
        let edges = std::mem::replace(&mut self.newer, newer);
        self.spans.take(&edges, until_ns)
    }
}

/// What spans of each name may take, in nanoseconds; `None` if that is not asked.
fn limits_ns(settings: &Settings) -> Vec<Option<u64>> {
    let plan = settings.writing.flight.as_ref();
    let slow = plan.map_or(&[][..], |plan| &plan.slow_spans);
    let limit = |name: &String| {
        let of_name = slow
            .iter()
            .filter(|slow| slow.name.as_ref().is_none_or(|asked| asked == name));
        let shortest = of_name.map(|slow| slow.limit).min()?;
        Some(u64::try_from(shortest.as_nanos()).unwrap_or(u64::MAX))
    };
    let limits = settings.spans.iter().map(|span| limit(&span.name));
    limits.collect()
}

fn with_time(event: &Event, is_for_all: bool, settings: &Settings) -> Prepared {
    let mut prepared = prepared(event, is_for_all);
    let attr = &mut prepared.attr;
    attr.sample_type = attr.sample_type.with(SampleType::TIME);
    let flags = attr.flags.with(AttrFlags::USE_CLOCKID);
    attr.flags = flags.with(AttrFlags::SAMPLE_ID_ALL);
    attr.clockid = settings.clock.id();
    // Rings are looked at now and then, and before they are full.
    attr.wakeup = u32::try_from(PAGES * page_size() / 2).unwrap_or(u32::MAX);
    prepared
}

fn edge(record: &[u8], ids: &HashMap<u64, SpanPurpose>, layout: &SampleLayout) -> Option<LiveEdge> {
    match RecordKind(u32_at(record, 0)?) {
        RecordKind::SAMPLE => {
            // Header, IDENTIFIER, TID, TIME.
            let SpanPurpose { span, is_end } = *ids.get(&u64_at(record, 8))?;
            Some(LiveEdge {
                time_ns: u64_at(record, 24),
                pid: u32_at(record, 16)?.cast_signed(),
                tid: u32_at(record, 20)?.cast_signed(),
                what: if is_end {
                    LiveEdgeKind::End(span)
                } else {
                    LiveEdgeKind::Begin(span)
                },
            })
        }
        RecordKind::EXIT | RecordKind::COMM | RecordKind::LOST => {
            let raw = RawRecord::parse(record, Endian::NATIVE).ok()?;
            let (parsed, id) = Record::parse(raw, layout).ok()?;
            let (pid, tid, what) = match parsed {
                Record::Exit(task) => (task.pid, task.tid, LiveEdgeKind::Exit),
                Record::Comm(comm) if raw.misc.has(Misc::COMM_EXEC) => {
                    (comm.pid, comm.tid, LiveEdgeKind::Exec)
                }
                Record::Lost(_) => (-1, -1, LiveEdgeKind::Lost),
                _ => return None,
            };
            Some(LiveEdge {
                time_ns: id.time_ns.unwrap_or(0),
                pid,
                tid,
                what,
            })
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rprof_abi::record::{Comm, Task};
    use rprof_abi::{PerfEventAttr, SampleId};

    #[test]
    fn records_say_what_happens_to_spans() {
        let attr = PerfEventAttr {
            sample_type: SampleType::IDENTIFIER
                .with(SampleType::TID)
                .with(SampleType::TIME),
            flags: AttrFlags::SAMPLE_ID_ALL,
            ..PerfEventAttr::default()
        };
        let layout = SampleLayout::new(&attr, Endian::NATIVE);
        let id = SampleId {
            pid: Some(5),
            tid: Some(6),
            time_ns: Some(77),
            id: Some(9),
            ..SampleId::default()
        };
        let purpose = SpanPurpose {
            span: 3,
            is_end: true,
        };
        let ids = HashMap::from_iter([(9, purpose)]);
        let of = |record: Record<'_>, misc: Misc| {
            let mut bytes = Vec::new();
            record.encode(misc, &id, &layout, &mut bytes).unwrap();
            edge(&bytes, &ids, &layout)
        };
        let expected = |what| {
            Some(LiveEdge {
                time_ns: 77,
                pid: 5,
                tid: 6,
                what,
            })
        };
        let task = Task {
            pid: 5,
            ppid: 1,
            tid: 6,
            ptid: 1,
            time_ns: 77,
        };
        let exit = of(Record::Exit(task), Misc::default());
        assert_eq!(exit, expected(LiveEdgeKind::Exit));
        let comm = || {
            Record::Comm(Comm {
                pid: 5,
                tid: 6,
                comm: b"next",
            })
        };
        assert_eq!(of(comm(), Misc::COMM_EXEC), expected(LiveEdgeKind::Exec));
        assert_eq!(of(comm(), Misc::default()), None);
        let sample = [9, 32 << 16, 9, 0, 5, 6, 77, 0]
            .map(u32::to_ne_bytes)
            .concat();
        assert_eq!(edge(&sample, &ids, &layout), expected(LiveEdgeKind::End(3)));
    }
}
