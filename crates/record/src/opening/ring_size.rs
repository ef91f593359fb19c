//! How large rings are, and which are smaller than they should be.

use crate::note::SmallRings;
use crate::opening::attrs::{Attrs, Prepared};
use crate::opening::{EventCounters, Group, Scope, stack_dump};
use crate::settings::{Inherit, Settings};
use rprof_abi::{AttrFlags, PerfEventAttr};
use rprof_events::{Sources, online_cpus};
use rprof_ringbuf::{Ring, sys};
use rprof_targets::rights::{Capability, Facts, refusal};
use std::time::Duration;

/// Bytes of a sample ring, as perf's.
const SAMPLE_BYTES: u64 = 512 << 10;
/// The largest ring unless the user asks for one, and the most for all rings together.
const MOST_SAMPLE_BYTES: u64 = 16 << 20;
const MOST_BYTES: u64 = 128 << 20;
/// The smallest ring of a thread that has its own.
const THREAD_BYTES: u64 = 64 << 10;

/// A sample with the chain that the kernel finds.
const CHAIN_BYTES: u32 = 1 << 10;

/// Data pages of each sample ring: a power of two, with room for the samples of a fifth of a second on a
/// busy CPU.
pub(crate) fn ring_pages(settings: &Settings, attrs: &Attrs, n_rings: usize) -> usize {
    if let Some(pages) = settings.ring_pages {
        return pages;
    }
    if let Some(flight) = &settings.writing.flight {
        return flight_pages(flight.around, attrs, n_rings);
    }
    let share = MOST_BYTES / n_rings.max(1) as u64;
    let least = match settings.inherit {
        Inherit::PerThread => share.clamp(THREAD_BYTES, SAMPLE_BYTES),
        _ => SAMPLE_BYTES,
    };
    let most = share.clamp(least, MOST_SAMPLE_BYTES);
    let rates = attrs.sampling.iter().map(bytes_per_second);
    let bytes = rates.max().unwrap_or(0) / 5;
    let bytes = bytes.clamp(least, most);
    let bytes = 1u64 << bytes.ilog2();
    usize::try_from(bytes).unwrap_or(usize::MAX) / sys::page_size()
}

/// The most for the rings of a flight recorder together, a usual sample with its chain, and hits a second of an event
/// whose every hit is a sample.
const MOST_FLIGHT_BYTES: u64 = 128 << 20;
const FLIGHT_SAMPLE_BYTES: u64 = 512;
const FLIGHT_HITS: u64 = 10_000;

/// Data pages of rings that hold the samples of a busy CPU before and after a trigger.
fn flight_pages(around: Duration, attrs: &Attrs, n_rings: usize) -> usize {
    let rate = |event: &Prepared| {
        if event.attr.flags.has(AttrFlags::FREQ) {
            event.attr.sample_period
        } else {
            FLIGHT_HITS
        }
    };
    let hz: u64 = attrs.sampling.iter().map(rate).fold(0, u64::saturating_add);
    usize::try_from(flight_bytes(hz, around, n_rings)).unwrap_or(usize::MAX) / sys::page_size()
}

/// A power of two.
fn flight_bytes(hz: u64, around: Duration, n_rings: usize) -> u64 {
    // The trigger is noticed a little later.
    let seconds = around.as_secs().saturating_add(1).saturating_mul(2);
    let bytes = hz
        .saturating_mul(FLIGHT_SAMPLE_BYTES)
        .saturating_mul(seconds);
    let most = MOST_FLIGHT_BYTES / n_rings.max(1) as u64;
    let most = 1u64 << most.max(THREAD_BYTES).ilog2();
    bytes.clamp(THREAD_BYTES, most).next_power_of_two()
}

/// Bytes of an event's samples a second, at most.
fn bytes_per_second(event: &Prepared) -> u64 {
    rate_of(&event.attr)
}

fn rate_of(attr: &PerfEventAttr) -> u64 {
    let hz = match (attr.flags.has(AttrFlags::FREQ), attr.sample_period) {
        (true, hz) => hz,
        // Its group's leader has its counts.
        (false, 0) => 0,
        // As often as it happens: more than any frequency.
        (false, _) => u64::MAX,
    };
    hz.saturating_mul(attr.sample_stack_user.max(CHAIN_BYTES).into())
}

/// How long a half of each ring is to last, whatever a recorder waits for: longer than where dumps are large.
const HALF_LASTS: Duration = Duration::from_millis(100);

impl Group {
    /// Whether all rings may become half full before anybody reads them: a half is free then, which lasts for a while
    /// with small dumps.
    pub(crate) fn has_ample_rings(&self) -> bool {
        let small = |event: &EventCounters| match &event.small_dumps {
            Some(small) => rate_of(&small.attr),
            None => rate_of(&event.attr),
        };
        let rate = self.events.iter().map(small).fold(0, u64::saturating_add);
        let size_bytes = self.rings.iter().map(Ring::size_bytes).min();
        size_bytes.is_some_and(|bytes| is_ample(bytes, rate))
    }

    /// Whether no ring is half full.
    pub(crate) fn is_half_empty(&self) -> bool {
        let unread = |ring: &Ring| ring.head().saturating_sub(ring.tail());
        let mut rings = self.rings.iter();
        rings.all(|ring| unread(ring) < ring.size_bytes() / 2)
    }
}

/// Whether half a ring lasts at a rate of bytes a second.
fn is_ample(ring_bytes: u64, rate: u64) -> bool {
    u128::from(ring_bytes / 2) >= u128::from(rate) * HALF_LASTS.as_millis() / 1000
}

/// Sample rings that are smaller than asked for. They are not worth a word if they are as large as perf's
/// and hold the largest dumps, unless the user asked for their size.
pub(super) fn small_rings(sampling: &Group, scope: &Scope<'_>) -> Option<SmallRings> {
    let asked = (scope.ring_pages * sys::page_size()) as u64;
    let size_bytes = sampling.rings.iter().map(Ring::size_bytes).min()?;
    let dumps = sampling
        .events
        .iter()
        .map(|event| event.attr.sample_stack_user);
    let stack_bytes = dumps
        .max()
        .filter(|_| scope.dump_sizes.is_some())
        .map(u64::from);
    let stack_bytes = stack_bytes.filter(|&bytes| bytes < stack_dump::LARGE_BYTES.into());
    let matters = size_bytes < SAMPLE_BYTES || stack_bytes.is_some() || scope.is_size_asked;
    // Each CPU has its own; threads with rings of their own share what all CPUs have.
    let n_rings = scope.places(&scope.targets).len();
    let n_cpus = online_cpus(&Sources::default()).map_or(1, |cpus| cpus.len().max(1));
    let enough_kib = if scope.is_size_asked {
        refusal::locked_kib(asked)
    } else {
        refusal::locked_kib(asked.min(refusal::USUAL_RING_BYTES))
    };
    (size_bytes < asked && matters).then_some(SmallRings {
        size_bytes,
        enough_kib: enough_kib.saturating_mul(n_rings.div_ceil(n_cpus) as u64),
        stack_bytes,
    })
}

/// The largest sideband ring where everybody is recorded, pages, and the most for all of them.
const MOST_SIDEBAND: usize = 256;
const MOST_SIDEBAND_IN_ALL: usize = 8192;

/// Data pages of a sideband ring where everybody is recorded: what thousands of short processes a second leave
/// in a ring has more room, if memory for rings has no limit.
pub(crate) fn everybodys_sideband(usual: usize, n_cpus: usize) -> usize {
    if !Facts::now().has(Capability::IpcLock) {
        return usual;
    }
    let share = MOST_SIDEBAND_IN_ALL / n_cpus.max(1);
    usual.max(1 << share.clamp(1, MOST_SIDEBAND).ilog2())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_a_ring_lasts_a_tenth_of_a_second_or_is_not_waited_for() {
        assert!(is_ample(2000, 10_000));
        assert!(!is_ample(1998, 10_000));
        assert!(!is_ample(1 << 40, u64::MAX) && is_ample(0, 0));
    }

    #[test]
    fn rings_of_a_flight_recorder_hold_what_is_around_a_trigger_within_a_limit() {
        let bytes = |hz, seconds, n| flight_bytes(hz, Duration::from_secs(seconds), n);
        // 22 s of 1000 samples with 512 bytes are more than 8 MiB.
        assert_eq!(bytes(1000, 10, 1), 16 << 20);
        assert_eq!(bytes(1, 1, 4), THREAD_BYTES);
        assert_eq!(bytes(u64::MAX, 86400, 1), MOST_FLIGHT_BYTES);
        // A third of 128 MiB is no power of two.
        assert_eq!(bytes(u64::MAX, 86400, 3), 32 << 20);
        assert_eq!(bytes(u64::MAX, 1, usize::MAX), THREAD_BYTES);
    }
}
