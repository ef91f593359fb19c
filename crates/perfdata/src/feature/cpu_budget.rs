//! CPU_BUDGET, rprof's own: what a recording gave up to stay within its share of a CPU.

use super::section::DescribedObject;
use rprof_abi::wire;

wire! {
    /// What was given up, and when: nanoseconds since the recording began, 0 for what was not.
    #[derive(Copy, Default)]
    pub struct CpuBudget in "CPU budget" {
        /// What was allowed, percent of one CPU.
        pub percent: u64,
        /// From then on, stack dumps were small, whatever stacks needed.
        pub small_dumps_after_ns: u64,
        /// From then on, callers were found by frame pointers, if at all.
        pub not_unwound_after_ns: u64,
        /// From then on, samples were rarer.
        pub rarer_after_ns: u64,
        /// How often they were taken at last, Hz.
        pub hz: u64,
    }
}

impl DescribedObject for CpuBudget {}
