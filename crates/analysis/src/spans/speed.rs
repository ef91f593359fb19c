//! Which spans are slow, or not.

use super::all::Spans;
use super::span::Span;
use crate::Error;
use rprof_base::Counted;
use rprof_profile::{SpanLimit, SpanSide, SpanSpeed, SpanTimes};
use rprof_untrusted::Untrusted;

/// The spans whose samples count.
#[derive(Debug)]
pub(crate) struct SpeedFilter {
    /// By span.
    counts: Vec<bool>,
    /// What is to be said of limits, one sentence each.
    pub(crate) warnings: Vec<String>,
}

impl SpeedFilter {
    /// Those that are asked for. A span is slow if one that it is inside of is.
    pub(crate) fn of(spans: &Spans, speed: &SpanSpeed) -> Result<Self, Error> {
        if let Some(name) = &speed.name
            && !spans.names().iter().any(|known| known.raw() == name)
        {
            return Err(Error::NoSuchSpan {
                option: speed.option(),
                name: Untrusted::new(name.clone()),
                names: spans.names().iter().map(ToString::to_string).collect(),
            });
        }
        let times = spans.times();
        let limits: Vec<Option<u64>> = times
            .iter()
            .map(|times| {
                let name = speed.name.as_deref();
                let is_asked = name.is_none_or(|name| name == times.name.raw());
                if !is_asked {
                    return None;
                }
                match &speed.limit {
                    SpanLimit::Ns(ns) => Some(*ns),
                    SpanLimit::Percentile(percent) => Some(times.percentile_ns(*percent)),
                    SpanLimit::OfNames(limits) => limits.get(times.name.raw()).copied(),
                }
            })
            .collect();
        let named = times.iter().zip(&limits);
        let warnings = match speed {
            &SpanSpeed {
                limit: SpanLimit::Percentile(percent),
                side: SpanSide::Slower,
                ..
            } => named
                .filter(|(times, limit)| limit.is_some() && times.n() > 0)
                .filter(|(times, limit)| **limit >= Some(times.max_ns()))
                .map(|(times, _)| none_is_slower(times, percent))
                .take(MOST_WARNINGS)
                .collect(),
            _ => Vec::new(),
        };
        // Slow, as far as that is asked of its name; or of those that it is inside of, which come first.
        let mut slow: Vec<Option<bool>> = Vec::with_capacity(spans.all().len());
        for (number, span) in (0..).zip(spans.all()) {
            let own = is_slow(span, &limits);
            let parent = spans.parent(number);
            let outer = parent.and_then(|parent| *slow.get(parent as usize)?);
            slow.push(match (own, outer) {
                (Some(own), Some(outer)) => Some(own || outer),
                (own, outer) => own.or(outer),
            });
        }
        let wanted = speed.side == SpanSide::Slower;
        Ok(Self {
            counts: slow.into_iter().map(|slow| slow == Some(wanted)).collect(),
            warnings,
        })
    }

    /// Whether the samples of a span count.
    #[inline]
    pub(crate) fn accepts(&self, span: Option<u32>) -> bool {
        span.is_some_and(|span| self.counts.get(span as usize) == Some(&true))
    }
}

/// Names of which it is said that none of their spans are slow.
const MOST_WARNINGS: usize = 3;

fn none_is_slower(times: &SpanTimes, percent: f64) -> String {
    let spans = Counted::new(times.n(), "span", "spans");
    format!(
        "{}: {spans}: p{percent} is the longest, and none is slower (a lower percentile or a time such as 10ms divides \
         them)",
        times.name
    )
}

/// `None` if its name is not asked for, or its speed is not known.
fn is_slow(span: &Span, limits: &[Option<u64>]) -> Option<bool> {
    let limit = *limits.get(span.name as usize)?;
    let is_slow = span.ns > limit?;
    // One that has not ended may yet be.
    (is_slow || span.is_ended).then_some(is_slow)
}
