//! COMM, FORK and EXIT: threads and their names.

use crate::format::Text;

wire! {
    /// `PERF_RECORD_COMM`: a thread got a name, by exec if `misc` has `COMM_EXEC`.
    pub struct Comm<'a> in "comm" {
        /// Process.
        pub pid: i32,
        /// Thread.
        pub tid: i32,
        /// The name: any bytes but NUL, at most 15 from the kernel.
        pub comm: &'a [u8] as Text,
    }

    /// `PERF_RECORD_FORK` and `PERF_RECORD_EXIT`.
    #[derive(Copy)]
    pub struct Task in "fork or exit" {
        /// Process that was made or ended.
        pub pid: i32,
        /// Its parent.
        pub ppid: i32,
        /// Thread that was made or ended.
        pub tid: i32,
        /// The thread that made it.
        pub ptid: i32,
        /// When.
        pub time_ns: u64,
    }
}
