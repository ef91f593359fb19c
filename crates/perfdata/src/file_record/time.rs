//! `TIME_CONV`: the time stamp counter of the CPU against the clock of the recording.

use super::body::Described;
use rprof_abi::format::{Flag, Hex, IfMore};
use rprof_abi::wire;

wire! {
    /// `PERF_RECORD_TIME_CONV`; what the fields mean is said at `struct perf_event_mmap_page`,
    /// `include/uapi/linux/perf_event.h`.
    #[derive(Copy)]
    pub struct TimeConv in "time conversion" {
        /// `time_shift`.
        pub shift: u64,
        /// `time_mult`.
        pub mult: u64,
        /// `time_zero`, nanoseconds.
        pub zero: u64,
        /// For counters of few bits (5.10).
        pub short: Option<ShortCounter> as IfMore,
    }

    /// How a counter of less than 64 bits is made long.
    #[derive(Copy)]
    pub struct ShortCounter in "time conversion" {
        /// `time_cycles`.
        pub cycles: u64,
        /// `time_mask`.
        pub mask: u64 as Hex,
        /// `cap_user_time_zero`.
        pub has_zero: bool as Flag,
        /// `cap_user_time_short`.
        pub is_short: bool as Flag,
    }
}

impl Described<'_> for TimeConv {}
