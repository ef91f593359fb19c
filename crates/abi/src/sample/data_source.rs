//! Where the data of a memory sample came from.

/// `union perf_mem_data_src`: each part is a set of bits, but for two that are numbers.
///
/// The same number on machines of either byte order: the kernel has two definitions of it.
///
/// Source: include/uapi/linux/perf_event.h (v6.19).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DataSource(pub u64);

impl DataSource {
    /// What samples without any have: `PERF_MEM_DATA_SRC_NONE` of perf, each part not known.
    pub const NONE: Self = Self(1 | 1 << 5 | 1 << 19 | 1 << 24 | 1 << 26);

    /// Bits of all that says which level of memory it was.
    pub const LEVEL: u64 = 0x3fff << 5 | 0x1f << 33 | 0x7 << 43;
    /// Bits of all that other caches said.
    pub const SNOOP: u64 = 0x1f << 19 | 0x3 << 38;
    /// Bits of the translation of its address.
    pub const TLB: u64 = 0x7f << 26;
    /// Bits that say whether the instruction was locked.
    pub const LOCK: u64 = 0x3 << 24;
    /// Bits of what it had to wait for.
    pub const BLOCKED: u64 = 0x7 << 40;

    /// What was done: `PERF_MEM_OP_*`.
    pub const fn operation(self) -> u64 {
        self.bits(0, 5)
    }

    /// The level of memory: `PERF_MEM_LVL_*`.
    pub const fn level(self) -> u64 {
        self.bits(5, 14)
    }

    /// What other caches said: `PERF_MEM_SNOOP_*`.
    pub const fn snoop(self) -> u64 {
        self.bits(19, 5)
    }

    /// Whether by a locked instruction: `PERF_MEM_LOCK_*`.
    pub const fn lock(self) -> u64 {
        self.bits(24, 2)
    }

    /// The translation of its address: `PERF_MEM_TLB_*`.
    pub const fn tlb(self) -> u64 {
        self.bits(26, 7)
    }

    /// The level of memory as a number: `PERF_MEM_LVLNUM_*`.
    pub const fn level_number(self) -> u64 {
        self.bits(33, 4)
    }

    /// Whether that level is another core's or node's.
    pub const fn is_remote(self) -> bool {
        self.bits(37, 1) != 0
    }

    /// More of what other caches said: `PERF_MEM_SNOOPX_*`.
    pub const fn snoop_more(self) -> u64 {
        self.bits(38, 2)
    }

    /// What it had to wait for: `PERF_MEM_BLK_*`.
    pub const fn blocked(self) -> u64 {
        self.bits(40, 3)
    }

    /// How far away, a number: `PERF_MEM_HOPS_*`.
    pub const fn hops(self) -> u64 {
        self.bits(43, 3)
    }

    const fn bits(self, at: u32, len: u32) -> u64 {
        self.0 >> at & ((1 << len) - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_part_has_its_own_bits() {
        // What the kernel gives where it knows nothing: `PERF_MEM_NA`.
        let unknown = DataSource(0x0005_0800_0021 | 1 << 24 | 1 << 19);
        assert_eq!((unknown.operation(), unknown.level()), (1, 1));
        assert_eq!((unknown.snoop(), unknown.lock()), (1, 1));
        let all = DataSource(u64::MAX);
        let parts = [
            all.operation(),
            all.level(),
            all.snoop(),
            all.lock(),
            all.tlb(),
            all.level_number(),
            u64::from(all.is_remote()),
            all.snoop_more(),
            all.blocked(),
            all.hops(),
        ];
        let n_bits: u32 = parts.iter().map(|part| part.count_ones()).sum();
        assert_eq!(n_bits, 64 - 18);
    }
}
