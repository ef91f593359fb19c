//! CGROUP: which path a control group id has.

use crate::format::Text;

wire! {
    /// `PERF_RECORD_CGROUP`.
    pub struct Cgroup<'a> in "cgroup" {
        /// Id, as in `PERF_SAMPLE_CGROUP`.
        pub id: u64,
        /// Path in the cgroup file system.
        pub path: &'a [u8] as Text,
    }
}
