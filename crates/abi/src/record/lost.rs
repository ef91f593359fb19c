//! LOST, `LOST_SAMPLES`, THROTTLE: what is missing from a recording.

wire! {
    /// `PERF_RECORD_LOST`: written when a later record fits again, so losses at the end of a
    /// recording never appear here.
    #[derive(Copy)]
    pub struct Lost in "lost" {
        /// Event whose ring was full.
        pub id: u64,
        /// Records lost since the last one.
        pub lost: u64,
    }

    /// `PERF_RECORD_LOST_SAMPLES`: exact counts, from the kernel or (since perf 6.1) by tools that
    /// read them with `PERF_FORMAT_LOST`.
    #[derive(Copy)]
    pub struct LostSamples in "lost samples" {
        /// Samples lost.
        pub lost: u64,
    }

    /// `PERF_RECORD_THROTTLE` and `PERF_RECORD_UNTHROTTLE`; the time between is not sampled.
    #[derive(Copy)]
    pub struct Throttle in "throttle" {
        /// When.
        pub time_ns: u64,
        /// Event.
        pub id: u64,
        /// Stream.
        pub stream_id: u64,
    }
}
