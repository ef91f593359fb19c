//! AUX, `ITRACE_START`, `AUX_OUTPUT_HW_ID`: hardware traces, named so that they can be skipped.

use crate::format::Hex;

wire! {
    /// `PERF_RECORD_AUX`.
    #[derive(Copy)]
    pub struct Aux in "aux" {
        /// Offset in the AUX area, bytes.
        pub offset: u64 as Hex,
        /// Bytes.
        pub size: u64,
        /// Truncated, overwrite, partial, collision, and a PMU-specific byte.
        pub flags: u64 as Hex,
    }

    /// `PERF_RECORD_ITRACE_START`.
    #[derive(Copy)]
    pub struct ItraceStart in "itrace start" {
        /// Process.
        pub pid: i32,
        /// Thread.
        pub tid: i32,
    }

    /// `PERF_RECORD_AUX_OUTPUT_HW_ID`.
    #[derive(Copy)]
    pub struct AuxOutputHwId in "aux output hw id" {
        /// The PMU's own id of the event.
        pub hw_id: u64 as Hex,
    }
}
