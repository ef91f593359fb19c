//! Which span is the innermost one of a thread, from moment to moment.

use super::span::Span;
use super::told::ToldOfSpans;
use foldhash::HashMap;
use rprof_machine::Key;
use rprof_untrusted::{Budget, Held, OverBudget};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::Range;

/// What is innermost where there is no span.
const NONE: u32 = u32::MAX;

/// All threads' timelines.
#[derive(Debug, Default)]
pub(super) struct Timelines {
    /// From each moment on, the number of the innermost span; of one thread after the other, in order.
    changes: Vec<(Key, u32)>,
    threads: HashMap<i32, Range<usize>>,
    /// By span: the one that it is inside of.
    parents: Vec<u32>,
}

impl Timelines {
    /// The memory for a span, bytes.
    pub(super) const BYTES: usize = 2 * size_of::<(Key, u32)>() + size_of::<u32>();

    /// Those of spans that are in the order of threads and of their beginning.
    ///
    /// # Errors
    /// [`OverBudget`]: too many are open at once. What is returned is not counted.
    pub(super) fn of(
        spans: &[Span],
        told: &mut ToldOfSpans,
        budget: &Budget,
    ) -> Result<Self, OverBudget> {
        let mut timelines = Self {
            changes: Vec::with_capacity(2 * spans.len()),
            threads: HashMap::default(),
            parents: Vec::with_capacity(spans.len()),
        };
        let mut first = 0;
        for of_thread in spans.chunk_by(|a, b| a.tid == b.tid) {
            let Some(tid) = of_thread.first().map(|span| span.tid) else {
                continue;
            };
            let start = timelines.changes.len();
            let mut open = OpenSpans {
                first,
                spans: of_thread,
                timelines: &mut timelines,
                start,
                stack: Vec::new(),
                ends: BinaryHeap::new(),
                is_closed: vec![false; of_thread.len()],
                n_overlapping: 0,
                held: budget.hold(of_thread.len() as u64)?,
            };
            open.run()?;
            told.n_overlapping += open.n_overlapping;
            first += of_thread.len();
            let end = timelines.changes.len();
            timelines.threads.insert(tid, start..end);
        }
        Ok(timelines)
    }

    fn of_thread(&self, tid: i32) -> &[(Key, u32)] {
        let range = self.threads.get(&tid).cloned().unwrap_or_default();
        self.changes.get(range).unwrap_or_default()
    }

    /// The number of the innermost span of a thread at a moment.
    #[inline]
    pub(super) fn at(&self, tid: i32, key: Key) -> Option<u32> {
        let changes = self.of_thread(tid);
        let after = changes.partition_point(|(from, _)| *from <= key);
        let (_, span) = changes.get(after.checked_sub(1)?)?;
        Some(*span).filter(|&span| span != NONE)
    }

    /// The span that one is inside of.
    pub(super) fn parent(&self, span: u32) -> Option<u32> {
        let parent = self.parents.get(span as usize).copied();
        parent.filter(|&parent| parent != NONE)
    }

    /// The parts of a stretch of time: how long each is, and the number of its span.
    pub(super) fn parts(
        &self,
        tid: i32,
        (start_ns, end_ns): (u64, u64),
    ) -> impl Iterator<Item = (u64, Option<u32>)> {
        let changes = self.of_thread(tid);
        let first = changes.partition_point(|(from, _)| from.time_ns <= start_ns);
        let before = first.checked_sub(1).and_then(|at| changes.get(at));
        let before = before.map_or(NONE, |&(_, span)| span);
        let rest = changes.get(first..).unwrap_or_default().iter();
        let rest = rest.take_while(move |(from, _)| from.time_ns < end_ns);
        let starts = std::iter::once((start_ns, before));
        let starts = starts.chain(rest.clone().map(|&(from, span)| (from.time_ns, span)));
        let ends = rest.map(|(from, _)| from.time_ns).chain([end_ns]);
        starts
            .zip(ends)
            .map(|((start, span), end)| {
                let span = Some(span).filter(|&span| span != NONE);
                (end.saturating_sub(start), span)
            })
            .filter(|(ns, _)| *ns > 0)
    }
}

/// The spans of a thread that are open as time goes on.
struct OpenSpans<'a> {
    /// The number of the thread's first span.
    first: usize,
    spans: &'a [Span],
    timelines: &'a mut Timelines,
    /// Where the changes of the thread begin.
    start: usize,
    /// Those that began, the innermost last; some may be closed already.
    stack: Vec<usize>,
    /// When they end.
    ends: BinaryHeap<Reverse<(Key, Reverse<usize>)>>,
    is_closed: Vec<bool>,
    n_overlapping: u64,
    /// The memory of these.
    held: Held,
}

impl OpenSpans<'_> {
    fn run(&mut self) -> Result<(), OverBudget> {
        for (at, span) in self.spans.iter().enumerate() {
            self.close_until(span.start);
            let parent = self.stack.last().copied();
            // One that outlives another is not inside of it.
            let outer = parent.and_then(|parent| self.spans.get(parent));
            let is_inside = outer.is_some_and(|outer| span.end <= outer.end);
            let parent = parent.filter(|_| is_inside);
            let number = parent.map_or(NONE, |parent| self.number(parent));
            self.timelines.parents.push(number);
            if span.end > span.start {
                self.stack.push(at);
                self.ends.push(Reverse((span.end, Reverse(at))));
                self.hold()?;
                self.change(span.start);
            }
        }
        self.close_until(Key::LAST);
        Ok(())
    }

    fn hold(&mut self) -> Result<(), OverBudget> {
        let stack = self.stack.capacity() * size_of::<usize>();
        let ends = self.ends.capacity() * size_of::<Reverse<(Key, Reverse<usize>)>>();
        let bytes = (stack + ends + self.is_closed.len()) as u64;
        self.held.grow(bytes.saturating_sub(self.held.bytes()))
    }

    /// Closes those that end up to a moment.
    fn close_until(&mut self, until: Key) {
        while let Some(&Reverse((end, Reverse(at)))) = self.ends.peek()
            && end <= until
        {
            self.ends.pop();
            if let Some(is_closed) = self.is_closed.get_mut(at) {
                *is_closed = true;
            }
            // Those inside of it go on.
            let is_ended = |at: usize| self.spans.get(at).is_some_and(|span| span.is_ended);
            let last = self.stack.last().copied();
            if last != Some(at) && is_ended(at) && last.is_some_and(is_ended) {
                self.n_overlapping += 1;
            }
            while let Some(&last) = self.stack.last()
                && self.is_closed.get(last) == Some(&true)
            {
                self.stack.pop();
            }
            if end < Key::LAST {
                self.change(end);
            }
        }
    }

    /// From a moment on, the last one that is open is the innermost.
    fn change(&mut self, from: Key) {
        let innermost = self.stack.last();
        let innermost = innermost.map_or(NONE, |&at| self.number(at));
        let changes = &mut self.timelines.changes;
        let own = changes.get_mut(self.start..).unwrap_or_default();
        match own.last_mut() {
            Some((last, span)) if *last == from => *span = innermost,
            _ => changes.push((from, innermost)),
        }
    }

    fn number(&self, at: usize) -> u32 {
        u32::try_from(self.first + at).unwrap_or(NONE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(time_ns: u64) -> Key {
        Key { time_ns, offset: 0 }
    }

    fn timelines(spans: &[(i32, u64, u64)]) -> (Timelines, ToldOfSpans) {
        let span = |&(tid, start, end): &(i32, u64, u64)| Span {
            name: 0,
            tid,
            start: key(start),
            end: key(end),
            ns: end - start,
            is_ended: true,
        };
        let spans: Vec<Span> = spans.iter().map(span).collect();
        let mut told = ToldOfSpans::default();
        let timelines = Timelines::of(&spans, &mut told, &Budget::default());
        (timelines.unwrap(), told)
    }

    #[test]
    fn a_moment_belongs_to_the_innermost_span() {
        let (all, told) = timelines(&[
            (7, 10, 50),
            (7, 20, 30),
            (7, 25, 30),
            (7, 60, 70),
            (8, 10, 20),
        ]);
        let at = |time_ns| all.at(7, key(time_ns));
        let found = [9, 10, 19, 20, 25, 29, 30, 49, 50, 65, 70].map(at);
        let expected = [
            None,
            Some(0),
            Some(0),
            Some(1),
            Some(2),
            Some(2),
            Some(0),
            Some(0),
            None,
            Some(3),
            None,
        ];
        assert_eq!(found, expected);
        assert_eq!((all.at(8, key(15)), all.at(9, key(15))), (Some(4), None));
        let parents: Vec<_> = (0..5).map(|span| all.parent(span)).collect();
        assert_eq!(parents, [None, Some(0), Some(1), None, None]);
        assert_eq!(told.n_overlapping, 0);
    }

    #[test]
    fn spans_that_overlap_are_counted_and_the_last_one_has_the_time() {
        let (all, told) = timelines(&[(7, 10, 30), (7, 20, 40)]);
        let at = |time_ns| all.at(7, key(time_ns));
        assert_eq!([15, 25, 35, 45].map(at), [Some(0), Some(1), Some(1), None]);
        assert_eq!(all.parent(1), None);
        assert_eq!(told.n_overlapping, 1);
    }

    #[test]
    fn a_wait_is_cut_where_spans_begin_and_end() {
        let (all, _) = timelines(&[(7, 10, 50), (7, 20, 30)]);
        let parts = |times| all.parts(7, times).collect::<Vec<_>>();
        assert_eq!(
            parts((5, 60)),
            [
                (5, None),
                (10, Some(0)),
                (10, Some(1)),
                (20, Some(0)),
                (10, None)
            ]
        );
        assert_eq!(parts((20, 30)), [(10, Some(1))]);
        assert_eq!(parts((12, 12)), []);
        assert_eq!(all.parts(9, (1, 2)).collect::<Vec<_>>(), [(1, None)]);
    }
}
