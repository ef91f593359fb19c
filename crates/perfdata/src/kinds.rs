//! Record kinds that are the file's, not the kernel's: perf's `enum perf_user_event_type`.

/// Kinds from 64 on (tools/lib/perf/include/perf/event.h, v6.16).
pub mod file_kind {
    use rprof_abi::RecordKind;

    /// An attr and its ids, in pipe mode.
    pub const HEADER_ATTR: RecordKind = RecordKind(64);
    /// Tracepoint formats, in pipe mode; its data follows the record.
    pub const HEADER_TRACING_DATA: RecordKind = RecordKind(66);
    /// A build id.
    pub const HEADER_BUILD_ID: RecordKind = RecordKind(67);
    /// One pass over all rings is written; see the ordering rule in perf's ordered-events.c.
    pub const FINISHED_ROUND: RecordKind = RecordKind(68);
    /// AUX data; its data follows the record.
    pub const AUXTRACE: RecordKind = RecordKind(71);
    /// A name, unit or scale of an event.
    pub const EVENT_UPDATE: RecordKind = RecordKind(78);
    /// A feature section, in pipe mode.
    pub const HEADER_FEATURE: RecordKind = RecordKind(80);
    /// Records, compressed; its size need not be a multiple of 8.
    pub const COMPRESSED: RecordKind = RecordKind(81);
    /// Records, compressed, with the size of the data before them.
    pub const COMPRESSED2: RecordKind = RecordKind(83);
}
