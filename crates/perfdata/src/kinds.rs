//! Record kinds that are the file's, not the kernel's: perf's `enum perf_user_event_type`.

/// Kinds from 64 on (tools/lib/perf/include/perf/event.h, v6.16).
pub mod file_kind {
    use rprof_abi::RecordKind;

    /// Tracepoint formats, in pipe mode; its data follows the record.
    pub const HEADER_TRACING_DATA: RecordKind = RecordKind(66);
    /// A build id.
    pub const HEADER_BUILD_ID: RecordKind = RecordKind(67);
    /// One pass over all rings is written; see the ordering rule in perf's ordered-events.c.
    pub const FINISHED_ROUND: RecordKind = RecordKind(68);
    /// AUX data; its data follows the record.
    pub const AUXTRACE: RecordKind = RecordKind(71);
}
