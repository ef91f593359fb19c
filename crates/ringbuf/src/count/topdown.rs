//! Where the slots of a CPU's pipeline went: the register `PERF_METRICS` of Intel CPUs since Ice Lake.
//!
//! The register has the shares of the slots since it was reset, 8 bits each. Two readings are compared by
//! the slots of each: share times slots. As 8 bits of many slots say little about few of them, the register
//! should be reset every few seconds; the kernel does that whenever a counter of the group is read by `read(2)`,
//! so the two ways of reading must not be mixed.
//!
//! Source: `tools/perf/Documentation/topdown.txt` (v6.12).

use super::page::PageLoads;

/// The register: retiring, bad speculation, frontend bound, backend bound; from Sapphire Rapids on also heavy
/// operations, branch mispredicts, fetch latency, memory bound. Each is a byte, the lowest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PerfMetrics(pub u64);

impl PerfMetrics {
    /// Parts of 255 of the slots.
    fn byte(self, nth: usize) -> u8 {
        self.0.to_le_bytes().get(nth).copied().unwrap_or(0)
    }

    /// The shares since the register was reset, from 0 to 1.
    pub fn topdown(self) -> Topdown {
        Topdown::of(|nth| f64::from(self.byte(nth)) / 255.0)
    }
}

/// Both registers at one moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TopdownSample {
    /// Slots since they were reset.
    pub slots: u64,
    /// Where they went.
    pub metrics: PerfMetrics,
}

/// Counters that `rdpmc` finds by these numbers, not by that of a page.
const FIXED_SLOTS: u32 = 1 << 30 | 3;
const METRICS: u32 = 1 << 29;

impl TopdownSample {
    /// Reads both registers without a system call.
    ///
    /// `page` is that of the group's leader, which must count `slots` (raw event 0x400) of this thread; one of
    /// the metrics (such as raw event 0x8000, retiring) must be its member. `None` if the page forbids it, if
    /// the group is not on the PMU at the moment, or if its leader is something else: other CPUs end a process
    /// that reads these registers.
    pub fn read(page: &impl PageLoads) -> Option<Self> {
        super::page::read_registers(page, FIXED_SLOTS, || Self {
            slots: page.performance_counter(FIXED_SLOTS),
            metrics: PerfMetrics(page.performance_counter(METRICS)),
        })
    }

    /// The shares of the slots between an earlier sample and this one, if nothing was reset meanwhile; `None` if
    /// there were no slots.
    pub fn since(&self, before: &Self) -> Option<Topdown> {
        let slots = self.slots.checked_sub(before.slots)?;
        if slots == 0 {
            return None;
        }
        let slots_of = |sample: &Self, nth| {
            f64::from(sample.metrics.byte(nth)) / 255.0 * as_float(sample.slots)
        };
        Some(Topdown::of(|nth| {
            (slots_of(self, nth) - slots_of(before, nth)) / as_float(slots)
        }))
    }
}

#[expect(
    clippy::cast_precision_loss,
    reason = "shares of 8 bits need no more than a float has"
)]
fn as_float(slots: u64) -> f64 {
    slots as f64
}

/// Where slots went, in shares of all.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Topdown {
    /// Work that was kept.
    pub retiring: f64,
    /// Work that was thrown away.
    pub bad_speculation: f64,
    /// No work came in.
    pub frontend_bound: f64,
    /// Work could not go on.
    pub backend_bound: f64,
    /// The same in more detail. On CPUs before Sapphire Rapids, whose register has no more than four bytes,
    /// it says nothing.
    pub level_2: TopdownLevel2,
}

/// Each of the four, split in two.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TopdownLevel2 {
    /// Of retiring: instructions of more than one operation.
    pub heavy_operations: f64,
    /// Of retiring: all else.
    pub light_operations: f64,
    /// Of bad speculation: branches that went elsewhere.
    pub branch_mispredicts: f64,
    /// Of bad speculation: all else.
    pub machine_clears: f64,
    /// Of frontend bound: waiting for instructions.
    pub fetch_latency: f64,
    /// Of frontend bound: too few instructions at a time.
    pub fetch_bandwidth: f64,
    /// Of backend bound: waiting for memory.
    pub memory_bound: f64,
    /// Of backend bound: all else.
    pub core_bound: f64,
}

impl Topdown {
    /// From the eight shares that are counted, in the register's order; the other four are what is left.
    pub fn of(share: impl Fn(usize) -> f64) -> Self {
        let [retiring, bad_speculation, frontend_bound, backend_bound] = [0, 1, 2, 3].map(&share);
        let [heavy, mispredicts, latency, memory] = [4, 5, 6, 7].map(&share);
        Self {
            retiring,
            bad_speculation,
            frontend_bound,
            backend_bound,
            level_2: TopdownLevel2 {
                heavy_operations: heavy,
                light_operations: retiring - heavy,
                branch_mispredicts: mispredicts,
                machine_clears: bad_speculation - mispredicts,
                fetch_latency: latency,
                fetch_bandwidth: frontend_bound - latency,
                memory_bound: memory,
                core_bound: backend_bound - memory,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    fn percent(share: f64) -> String {
        format!("{:.2}", 100.0 * share)
    }

    #[test]
    fn bytes_are_parts_of_255() {
        // 255 parts in all: 51, 102, 51, 51; of these 17, 51, 34, 0.
        let topdown = PerfMetrics(0x0022_3311_3333_6633).topdown();
        let level_1 = [
            topdown.retiring,
            topdown.bad_speculation,
            topdown.frontend_bound,
            topdown.backend_bound,
        ];
        assert_eq!(level_1.map(percent), ["20.00", "40.00", "20.00", "20.00"]);
        let two = topdown.level_2;
        let level_2 = [
            (two.heavy_operations, "6.67"),
            (two.light_operations, "13.33"),
            (two.branch_mispredicts, "20.00"),
            (two.machine_clears, "20.00"),
            (two.fetch_latency, "13.33"),
            (two.fetch_bandwidth, "6.67"),
            (two.memory_bound, "0.00"),
            (two.core_bound, "20.00"),
        ];
        for (share, expected) in level_2 {
            assert_eq!(percent(share), expected);
        }
    }

    /// A page with this index, and registers that are read while the page is changed `n_changes` times.
    struct Registers {
        index: u32,
        n_changes: Cell<u32>,
        lock: Cell<u32>,
    }

    impl PageLoads for Registers {
        fn load(&self, offset: usize) -> u64 {
            let low_first = |[low, high]: [u32; 2]| {
                let bytes = [low.to_ne_bytes(), high.to_ne_bytes()].concat();
                u64::from_ne_bytes(bytes.try_into().unwrap())
            };
            match offset {
                8 => low_first([self.lock.get(), self.index]),
                // rdpmc is allowed.
                40 => 4,
                _ => 0,
            }
        }

        fn performance_counter(&self, index: u32) -> u64 {
            assert!([FIXED_SLOTS, METRICS].contains(&index));
            if self.n_changes.get() > 0 {
                self.n_changes.set(self.n_changes.get() - 1);
                self.lock.set(self.lock.get() + 2);
                return 0;
            }
            u64::from(index)
        }

        fn cycles(&self) -> u64 {
            0
        }
    }

    #[test]
    fn both_registers_are_of_one_moment_and_of_slots_only() {
        let page = |index, n_changes| Registers {
            index,
            n_changes: Cell::new(n_changes),
            lock: Cell::new(0),
        };
        let both = Some(TopdownSample {
            slots: u64::from(FIXED_SLOTS),
            metrics: PerfMetrics(u64::from(METRICS)),
        });
        for n_changes in 0..5 {
            assert_eq!(TopdownSample::read(&page(FIXED_SLOTS + 1, n_changes)), both);
        }
        assert_eq!(TopdownSample::read(&page(FIXED_SLOTS + 1, u32::MAX)), None);
        // Not on the PMU; a counter of something else.
        for index in [0, 1, 1 << 30 | 2] {
            assert_eq!(TopdownSample::read(&page(index, 0)), None);
        }
    }

    #[test]
    fn the_difference_of_two_samples_is_weighted_with_their_slots() {
        let sample = |slots, bytes: [u8; 8]| TopdownSample {
            slots,
            metrics: PerfMetrics(u64::from_le_bytes(bytes)),
        };
        // Of 1000 slots half retire; of 4000 three quarters are backend bound: so of the 3000 between them, all.
        let a = sample(1000, [255, 0, 0, 0, 255, 0, 0, 0]);
        let b = sample(4000, [64, 0, 0, 191, 64, 0, 0, 191]);
        let between = b.since(&a).unwrap();
        let expected_retiring = (64.0 / 255.0 * 4000.0 - 1000.0) / 3000.0;
        assert_eq!(percent(between.retiring), percent(expected_retiring));
        assert_eq!(percent(between.retiring), "0.13");
        assert_eq!(percent(between.backend_bound), "99.87");
        assert_eq!(percent(between.level_2.memory_bound), "99.87");
        assert_eq!(percent(between.level_2.core_bound), "0.00");
        assert_eq!(percent(between.level_2.light_operations), "0.00");
        assert_eq!(a.since(&a), None);
        assert_eq!(a.since(&b), None);
    }
}
