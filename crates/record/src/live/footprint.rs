//! What keeps a recorder small that runs for days: once a minute, tables of programs that have ended, and rows of
//! functions that were sampled once, are forgotten with all others, if they take much.

use super::tables::Tables;
use rprof_ringbuf::sys::give_back_free_memory;

/// Between two looks at what tables take.
const PERIOD_NS: u64 = 60_000_000_000;

/// Tables that may stay. Those of one compiler with its LLVM take 18 MB, and to read them again some 20 ms of CPU time.
const KEPT_BYTES: u64 = 32 << 20;

/// When memory is looked at.
#[derive(Debug, Default)]
pub(super) struct Footprint {
    /// When it was last time; `None` before the first round.
    looked_ns: Option<u64>,
}

impl Footprint {
    /// Ends a round at this time.
    pub(super) fn end_round(&mut self, now_ns: u64, tables: &mut Tables) {
        if self.is_due(now_ns) {
            tables.trim_to(KEPT_BYTES);
            // Glibc keeps most of it: what is free lies between what is not.
            give_back_free_memory();
        }
    }

    fn is_due(&mut self, now_ns: u64) -> bool {
        let looked_ns = *self.looked_ns.get_or_insert(now_ns);
        let is_due = now_ns.saturating_sub(looked_ns) >= PERIOD_NS;
        if is_due {
            self.looked_ns = Some(now_ns);
        }
        is_due
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_looked_at_once_in_a_period_whatever_the_clock_begins_at() {
        let mut footprint = Footprint::default();
        let start_ns = 5 * PERIOD_NS;
        let due = [0, PERIOD_NS - 1, PERIOD_NS, PERIOD_NS + 1, 2 * PERIOD_NS]
            .map(|later_ns| footprint.is_due(start_ns + later_ns));
        assert_eq!(due, [false, false, true, false, true]);
    }
}
