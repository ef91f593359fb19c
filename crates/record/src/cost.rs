//! What a recording costs, and which rings would have held what was lost.

use crate::drain::DrainCounts;
use rprof_perfdata::feature::RecorderCost;
use rprof_ringbuf::sys::{Clock, page_size};

/// The clocks when a file begins.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CostClock {
    cpu_ns: u64,
    wall_ns: u64,
}

impl CostClock {
    pub(crate) fn start() -> Self {
        Self {
            cpu_ns: Clock::OwnCpu.now_ns(),
            wall_ns: Clock::Monotonic.now_ns(),
        }
    }

    /// What it cost since then.
    pub(crate) fn cost(self, counts: &DrainCounts, written_bytes: u64) -> RecorderCost {
        let now = Self::start();
        RecorderCost {
            cpu_ns: now.cpu_ns.saturating_sub(self.cpu_ns),
            wall_ns: now.wall_ns.saturating_sub(self.wall_ns),
            ring_bytes: counts.ring_bytes,
            written_bytes,
        }
    }
}

/// Larger rings are no advice: they are locked memory, on every CPU.
const MOST_BYTES: u64 = 256 << 20;

/// Data pages of a ring that would have held what was lost at once; `None` if nothing was lost, or if no
/// ring is that large. `lost` is the kernel's count, if it has one.
pub(crate) fn enough_pages(
    ring_bytes: u64,
    counts: &DrainCounts,
    lost: Option<u64>,
) -> Option<u64> {
    // What is lost at the end has no record that says it.
    let unsaid = lost.unwrap_or(0).saturating_sub(counts.lost_at_least);
    let burst = counts.worst_loss.max(unsaid);
    let n_records = counts.ring_records.max(1);
    if burst == 0 {
        return None;
    }
    let burst_bytes = burst.saturating_mul(counts.ring_bytes.div_ceil(n_records));
    let bytes = ring_bytes.saturating_add(burst_bytes);
    let page = u64::try_from(page_size()).unwrap_or(4096);
    (bytes <= MOST_BYTES).then(|| bytes.div_ceil(page).next_power_of_two())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rings_are_enough_that_hold_the_worst_burst() {
        let counts = DrainCounts {
            ring_records: 10,
            ring_bytes: 1000,
            lost_at_least: 50,
            worst_loss: 40,
            ..DrainCounts::default()
        };
        let page = u64::try_from(page_size()).unwrap();
        let ring = page * 4;
        let pages = |counts: &DrainCounts, lost| enough_pages(ring, counts, lost);
        // 40 records of 100 bytes fit into another page; there is a power of two of them.
        assert_eq!(pages(&counts, Some(50)), Some(8));
        assert_eq!(pages(&counts, None), Some(8));
        // 12 pages more, at the end.
        let lost = 50 + 12 * page / 100;
        assert_eq!(pages(&counts, Some(lost)), Some(16));
        assert_eq!(pages(&DrainCounts::default(), Some(0)), None);
        assert_eq!(pages(&counts, Some(1 << 40)), None);
    }
}
