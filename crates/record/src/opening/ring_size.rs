//! Rings that are smaller than they should be, and what would make them larger.

use super::{Group, SAMPLE_BYTES, Scope, stack_dump};
use crate::note::SmallRings;
use crate::permission::refusal;
use rprof_events::{Sources, online_cpus};
use rprof_ringbuf::{Ring, sys};

/// Sample rings that are smaller than asked for. They are not worth a word if they are as large as perf's
/// and hold the largest dumps, unless the user asked for their size.
pub(super) fn small_rings(sampling: &Group, scope: &Scope<'_>) -> Option<SmallRings> {
    let asked = (scope.ring_pages * sys::page_size()) as u64;
    let size_bytes = sampling.rings.iter().map(Ring::size_bytes).min()?;
    let dumps = sampling
        .events
        .iter()
        .map(|event| event.attr.sample_stack_user);
    let stack_bytes = dumps.max().filter(|_| scope.two_dump_sizes).map(u64::from);
    let stack_bytes = stack_bytes.filter(|&bytes| bytes < stack_dump::LARGE_BYTES.into());
    let matters = size_bytes < SAMPLE_BYTES || stack_bytes.is_some() || scope.is_size_asked;
    // Each CPU has its own; threads with rings of their own share what all CPUs have.
    let n_rings = scope.places(&scope.targets).len();
    let n_cpus = online_cpus(&Sources::default()).map_or(1, |cpus| cpus.len().max(1));
    let enough_kib = match scope.is_size_asked {
        true => refusal::locked_kib(asked),
        false => refusal::locked_kib(asked.min(refusal::USUAL_RING_BYTES)),
    };
    (size_bytes < asked && matters).then_some(SmallRings {
        size_bytes,
        enough_kib: enough_kib.saturating_mul(n_rings.div_ceil(n_cpus) as u64),
        stack_bytes,
    })
}
