//! All spans of a recording.

use super::names::SpanNames;
use super::span::Span;
use super::timelines::Timelines;
use super::told::ToldOfSpans;
use rprof_machine::Key;
use rprof_profile::SpanTimes;
use rprof_untrusted::{Held, OverBudget, Untrusted};
use std::cmp::Reverse;

/// All spans of a recording.
#[derive(Debug)]
pub(crate) struct Spans {
    names: Vec<Untrusted<String>>,
    /// In the order of threads, and of their beginning.
    spans: Vec<Span>,
    timelines: Timelines,
    /// What is to be said of them, one sentence each.
    pub(crate) warnings: Vec<String>,
    /// The memory of names, and of spans.
    _held: [Held; 2],
}

/// Memory for a span in what is made of all of them, bytes: how long it took, twice, and whether it counts.
const BYTES_LATER: usize = 2 * size_of::<u64>() + 3 * size_of::<bool>();

impl Spans {
    /// Spans in any order; their names; and what was said of them. `held` is the memory that the spans themselves take.
    ///
    /// # Errors
    /// [`OverBudget`].
    pub(crate) fn new(
        mut spans: Vec<Span>,
        names: SpanNames,
        mut told: ToldOfSpans,
        mut held: Held,
    ) -> Result<Self, OverBudget> {
        held.grow((spans.len() * (Timelines::BYTES + BYTES_LATER)) as u64)?;
        told.n_other += names.n_other();
        spans.sort_unstable_by_key(|span| (span.tid, span.start, Reverse(span.end)));
        let timelines = Timelines::of(&spans, &mut told, held.budget())?;
        let (names, names_held) = names.into_all();
        Ok(Self {
            names,
            spans,
            timelines,
            warnings: told.warnings(),
            _held: [names_held, held],
        })
    }

    /// The number of the innermost span that a thread is in at a moment.
    #[inline]
    pub(crate) fn at(&self, tid: i32, key: Key) -> Option<u32> {
        self.timelines.at(tid, key)
    }

    /// A stretch of a thread's time, cut where spans begin and end: how long each part is, and the number of its span.
    pub(crate) fn parts(
        &self,
        tid: i32,
        times: (u64, u64),
    ) -> impl Iterator<Item = (u64, Option<u32>)> {
        self.timelines.parts(tid, times)
    }

    /// All of them: those that one is inside of come before it.
    pub(crate) fn all(&self) -> &[Span] {
        &self.spans
    }

    /// The span that one is inside of, by number.
    pub(crate) fn parent(&self, span: u32) -> Option<u32> {
        self.timelines.parent(span)
    }

    /// A span by its number.
    pub(crate) fn span(&self, number: u32) -> Option<&Span> {
        self.spans.get(number as usize)
    }

    /// Names by number.
    pub(crate) fn names(&self) -> &[Untrusted<String>] {
        &self.names
    }

    /// How long those of each name took.
    pub(crate) fn times(&self) -> Vec<SpanTimes> {
        let mut n_by_name = vec![0; self.names.len()];
        for span in &self.spans {
            if let Some(n) = n_by_name.get_mut(span.name as usize) {
                *n += usize::from(span.is_ended);
            }
        }
        let none = |n| (Vec::with_capacity(n), 0);
        let mut by_name: Vec<(Vec<u64>, u64)> = n_by_name.into_iter().map(none).collect();
        for span in &self.spans {
            if let Some((ended, n_open)) = by_name.get_mut(span.name as usize) {
                if span.is_ended {
                    ended.push(span.ns);
                } else {
                    *n_open += 1;
                }
            }
        }
        let named = self.names.iter().zip(by_name);
        named
            .map(|(name, (ns, n_open))| SpanTimes::new(name.clone(), ns, n_open))
            .collect()
    }
}
