//! Spans that take longer than they should (`--trigger 'span > 50ms'`).

use crate::error::Error;
use crate::opening::off_cpu::SpanPurpose;
use crate::opening::{Group, Scope, open_group};
use crate::output::trigger::prepared;
use crate::settings::Settings;
use crate::words::{u32_at, u64_at};
use foldhash::HashMap;
use rprof_abi::{AttrFlags, RecordKind, SampleType};
use rprof_events::Event;
use rprof_ringbuf::sys::{Clock, page_size};
use rprof_ringbuf::{Ring, Target};

/// Data pages of each ring.
const PAGES: usize = 64;

/// Spans that are open, at most, of one name of a thread; and threads with any.
const MOST_NESTED: usize = 64;
const MOST_OPEN: usize = 1 << 16;

/// The events that begin and end spans, with rings of their own: those of samples are overwritten.
#[derive(Debug)]
pub(crate) struct SpanTrigger {
    group: Group,
    /// What each counter's event is for, by its id.
    ids: HashMap<u64, SpanPurpose>,
    spans: OpenSpans,
    clock: Clock,
}

impl SpanTrigger {
    /// `None` if no span is to be looked at.
    pub(super) fn open(
        settings: &Settings,
        edges: &[(SpanPurpose, Event)],
        scope: &Scope<'_>,
    ) -> Result<Option<Self>, Error> {
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
        let limits: Vec<Option<u64>> = limits.collect();
        let is_looked_at =
            |purpose: &SpanPurpose| limits.get(purpose.span).is_some_and(Option::is_some);
        let edges: Vec<_> = edges
            .iter()
            .filter(|(purpose, _)| is_looked_at(purpose))
            .collect();
        if edges.is_empty() {
            return Ok(None);
        }
        let is_for_all = scope.targets.contains(&Target::All);
        let prepare = |(_, event): &&(SpanPurpose, Event)| {
            let mut prepared = prepared(event, is_for_all);
            let attr = &mut prepared.attr;
            attr.sample_type = attr.sample_type.with(SampleType::TIME);
            attr.flags = attr.flags.with(AttrFlags::USE_CLOCKID);
            attr.clockid = settings.clock.id();
            // Rings are looked at now and then, and before they are full.
            attr.wakeup = u32::try_from(PAGES * page_size() / 2).unwrap_or(u32::MAX);
            prepared
        };
        let prepared: Vec<_> = edges.iter().map(prepare).collect();
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
            spans: OpenSpans::new(limits),
            clock: settings.clock,
        }))
    }

    pub(super) fn group(&self) -> &Group {
        &self.group
    }

    /// Whether any span took too long, or does so by now, since this was last asked.
    pub(super) fn has_happened(&mut self) -> bool {
        let now_ns = self.clock.now_ns();
        let heads: Vec<u64> = self.group.rings.iter().map(Ring::head).collect();
        let mut edges = Vec::new();
        for (ring, head) in self.group.rings.iter_mut().zip(heads) {
            let mut batch = ring.batch_until(head);
            while let Ok(Some(record)) = batch.next() {
                edges.extend(edge(record, &self.ids));
            }
        }
        // Threads may have gone from one CPU to another.
        edges.sort_unstable_by_key(|edge| edge.time_ns);
        self.spans.take(&edges, now_ns)
    }
}

/// A span begins or ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct LiveEdge {
    time_ns: u64,
    tid: u32,
    purpose: SpanPurpose,
}

/// A sample: header, IDENTIFIER, TID, TIME.
fn edge(record: &[u8], ids: &HashMap<u64, SpanPurpose>) -> Option<LiveEdge> {
    if u32_at(record, 0) != Some(RecordKind::SAMPLE.0) {
        return None;
    }
    Some(LiveEdge {
        time_ns: u64_at(record, 24),
        tid: u32_at(record, 20)?,
        purpose: *ids.get(&u64_at(record, 8))?,
    })
}

/// Spans that have begun, by thread and name.
#[derive(Debug)]
struct OpenSpans {
    /// By number of the name; `None` for those that may take any time.
    limits: Vec<Option<u64>>,
    /// When each began, and whether it is known to take too long.
    open: HashMap<(u32, usize), Vec<(u64, bool)>>,
    /// Ends whose beginning was not there yet: it may be in a ring that was read before.
    late: Vec<LiveEdge>,
}

impl OpenSpans {
    fn new(limits: Vec<Option<u64>>) -> Self {
        Self {
            limits,
            open: HashMap::default(),
            late: Vec::new(),
        }
    }

    /// Takes what came since, in order. Returns whether a span took too long that was not known to.
    fn take(&mut self, edges: &[LiveEdge], now_ns: u64) -> bool {
        let mut is_slow = false;
        let late = std::mem::take(&mut self.late);
        for edge in edges.iter().filter(|edge| !edge.purpose.is_end) {
            self.begin(edge);
        }
        for edge in late {
            is_slow |= self.end(&edge).unwrap_or(false);
        }
        for edge in edges.iter().filter(|edge| edge.purpose.is_end) {
            match self.end(edge) {
                Some(slow) => is_slow |= slow,
                None => self.late.push(*edge),
            }
        }
        let limits = &self.limits;
        for ((_, span), open) in &mut self.open {
            let limit = limits.get(*span).copied().flatten();
            for (start_ns, is_told) in open.iter_mut().filter(|(_, is_told)| !is_told) {
                *is_told = limit.is_some_and(|limit| now_ns.saturating_sub(*start_ns) > limit);
                is_slow |= *is_told;
            }
        }
        is_slow
    }

    fn begin(&mut self, edge: &LiveEdge) {
        // Ends that are missing let them grow.
        if self.open.len() > MOST_OPEN {
            self.open.clear();
        }
        let open = self.open.entry((edge.tid, edge.purpose.span)).or_default();
        if open.len() == MOST_NESTED {
            open.remove(0);
        }
        open.push((edge.time_ns, false));
    }

    /// Whether the span took too long, and was not known to; `None` if it has not begun.
    fn end(&mut self, edge: &LiveEdge) -> Option<bool> {
        let span = edge.purpose.span;
        let open = self.open.get_mut(&(edge.tid, span))?;
        // Beginnings of later ones may be known already.
        let at = open
            .iter()
            .rposition(|(start_ns, _)| *start_ns <= edge.time_ns)?;
        let (start_ns, is_told) = open.remove(at);
        if open.is_empty() {
            self.open.remove(&(edge.tid, span));
        }
        let limit = self.limits.get(span).copied().flatten();
        let is_slow = limit.is_some_and(|limit| edge.time_ns - start_ns > limit);
        Some(is_slow && !is_told)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edge(time_ns: u64, tid: u32, is_end: bool) -> LiveEdge {
        let purpose = SpanPurpose { span: 0, is_end };
        LiveEdge {
            time_ns,
            tid,
            purpose,
        }
    }

    #[test]
    fn spans_that_take_long_are_told_once() {
        let mut spans = OpenSpans::new(vec![Some(10)]);
        let quick = [
            edge(1, 7, false),
            edge(5, 7, true),
            edge(6, 7, false),
            edge(9, 7, true),
        ];
        assert!(!spans.take(&quick, 10));
        assert!(spans.take(&[edge(20, 7, false), edge(31, 7, true)], 31));
        // It goes on.
        assert!(!spans.take(&[edge(40, 7, false), edge(41, 8, false)], 45));
        assert!(spans.take(&[], 51));
        assert!(!spans.take(&[edge(51, 8, true), edge(60, 7, true)], 61));
        assert!(spans.open.is_empty());
    }

    #[test]
    fn an_end_may_be_read_before_its_beginning() {
        let mut spans = OpenSpans::new(vec![Some(10)]);
        assert!(!spans.take(&[edge(20, 7, true)], 20));
        assert!(spans.take(&[edge(1, 7, false)], 21));
        // One that never began is forgotten.
        assert!(!spans.take(&[edge(30, 9, true)], 30));
        assert!(!spans.take(&[], 31) && spans.late.is_empty());
    }
}
