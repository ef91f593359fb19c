//! Facts of counted stacks that several formats tell: the memory that code takes, periods, times.

use rprof_profile::{CodeKind, CodeTable, CountedStacks, EventKind, EventProfile, Sampling};
use std::ops::RangeInclusive;

const PAGE: u64 = 4096;

/// The pages of an image that were sampled. Addresses are offsets in the image's file, those of the kernel are in
/// memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ImageSpan {
    pub(crate) start: u64,
    pub(crate) limit: u64,
    pub(crate) file_offset: u64,
}

/// The span of each image, in their order.
pub(crate) fn image_spans(code: &CodeTable) -> Vec<ImageSpan> {
    let mut sampled = vec![(u64::MAX, 0); code.images.len()];
    for location in &code.locations {
        if let Some((lowest, highest)) = sampled.get_mut(location.image as usize) {
            *lowest = location.address.min(*lowest);
            *highest = location.address.max(*highest);
        }
    }
    let spans = sampled.into_iter().zip(&code.images);
    let spans = spans.map(|((lowest, highest), image)| {
        let start = lowest.min(highest) / PAGE * PAGE;
        ImageSpan {
            start,
            limit: (highest / PAGE * PAGE).saturating_add(PAGE),
            file_offset: if image.kind == CodeKind::Kernel {
                0
            } else {
                start
            },
        }
    });
    spans.collect()
}

/// How much of an event there is between samples, in its unit; 0 if that varies.
pub(crate) fn period(event: &EventProfile) -> u64 {
    match (event.sampling, event.kind) {
        (Sampling::Every(period), _) => period,
        (Sampling::PerSecond(frequency), EventKind::CpuTime) if frequency > 0 => {
            1_000_000_000 / frequency
        }
        // The kernel chose, and may have changed it all the time.
        (Sampling::PerSecond(_) | Sampling::Mixed, _) => 0,
    }
}

/// When samples were taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SampledTime {
    /// The first: nanoseconds since 1970, or 0 if that is not known.
    pub start_ns: u64,
    /// Nanoseconds from there to the last.
    pub duration_ns: u64,
}

impl SampledTime {
    /// Of all that is counted.
    pub fn of(stacks: &CountedStacks) -> Self {
        let span_ns = stacks.span_ns.clone();
        let (first_ns, last_ns) = span_ns.map_or((0, 0), RangeInclusive::into_inner);
        let wall = stacks.profile.about.wall_clock.filter(|_| first_ns > 0);
        Self {
            start_ns: wall.and_then(|clock| clock.at(first_ns)).unwrap_or(0),
            duration_ns: last_ns.saturating_sub(first_ns),
        }
    }
}

/// Numbers of protocol buffers are signed.
pub(crate) fn signed(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}
