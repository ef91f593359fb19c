//! RECORDER_COST, rprof's own: what the recording cost the machine, beside what was recorded.

use super::section::DescribedObject;
use rprof_abi::wire;

wire! {
    /// What it cost until the end of the records.
    #[derive(Copy, Default)]
    pub struct RecorderCost in "recorder's cost" {
        /// CPU time of the recorder's own threads, nanoseconds.
        pub cpu_ns: u64,
        /// Time that passed, nanoseconds.
        pub wall_ns: u64,
        /// Bytes of records that the kernel delivered: samples with their stack dumps.
        pub ring_bytes: u64,
        /// Bytes of records that were written.
        pub written_bytes: u64,
    }
}

impl DescribedObject for RecorderCost {}
