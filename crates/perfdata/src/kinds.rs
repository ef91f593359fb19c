//! Record kinds that are the file's, not the kernel's: perf's `enum perf_user_event_type`, and
//! simpleperf's.

/// Kinds from 64 on: perf's (tools/lib/perf/include/perf/event.h, v6.16; the last two are newer)
/// and, from 32768 on, simpleperf's (AOSP, simpleperf/record.h, `enum user_record_type`).
pub mod file_kind {
    use rprof_abi::{RecordHeader, RecordKind};

    macro_rules! file_kinds {
        ($($name:ident = $number:literal, $doc:literal;)*) => {
            $(#[doc = $doc] pub const $name: RecordKind = RecordKind($number);)*

            /// Every kind that has a name.
            pub const ALL: &[RecordKind] = &[$($name),*];

            /// The name, without its `PERF_RECORD_` or `SIMPLE_PERF_RECORD_`; `None` for unknown
            /// kinds and for the kernel's.
            pub const fn name(kind: RecordKind) -> Option<&'static str> {
                match kind.0 {
                    $($number => Some(stringify!($name)),)*
                    _ => None,
                }
            }
        };
    }

    file_kinds! {
        HEADER_ATTR = 64, "An event with its ids, in pipe mode.";
        HEADER_EVENT_TYPE = 65, "Name of an event (before 3.12).";
        HEADER_TRACING_DATA = 66, "Tracepoint formats, in pipe mode; its data follows the record.";
        HEADER_BUILD_ID = 67, "A build id.";
        FINISHED_ROUND = 68, "One pass over all rings is written; see the ordering rule in perf's ordered-events.c.";
        ID_INDEX = 69, "Ids of events with their CPUs and threads.";
        AUXTRACE_INFO = 70, "What the decoder of AUX data needs to know.";
        AUXTRACE = 71, "AUX data; its data follows the record.";
        AUXTRACE_ERROR = 72, "AUX data could not be decoded.";
        THREAD_MAP = 73, "Threads that were recorded.";
        CPU_MAP = 74, "CPUs that were recorded.";
        STAT_CONFIG = 75, "How perf stat counted.";
        STAT = 76, "A count of perf stat.";
        STAT_ROUND = 77, "The counts of one interval are written.";
        EVENT_UPDATE = 78, "Unit, scale, name or CPUs of an event.";
        TIME_CONV = 79, "Time stamp counter against the clock.";
        HEADER_FEATURE = 80, "A feature section, in pipe mode.";
        COMPRESSED = 81, "Records, compressed.";
        FINISHED_INIT = 82, "Records of what already ran are written.";
        COMPRESSED2 = 83, "Records, compressed and padded (6.16).";
        BPF_METADATA = 84, "Variables by which a BPF program describes itself (6.16).";
        SCHEDSTAT_CPU = 85, "A CPU's line of /proc/schedstat.";
        SCHEDSTAT_DOMAIN = 86, "A scheduling domain's line of /proc/schedstat.";
        SIMPLEPERF_KERNEL_SYMBOL = 32769, "/proc/kallsyms.";
        SIMPLEPERF_DSO = 32770, "A file, for `SIMPLEPERF_SYMBOL`.";
        SIMPLEPERF_SYMBOL = 32771, "A symbol.";
        SIMPLEPERF_SPLIT = 32772, "A part of a record that is longer than a record can be.";
        SIMPLEPERF_SPLIT_END = 32773, "That record is complete.";
        SIMPLEPERF_EVENT_ID = 32774, "Ids of events.";
        SIMPLEPERF_CALLCHAIN = 32775, "A call chain with its stack pointers.";
        SIMPLEPERF_UNWINDING_RESULT = 32776, "How unwinding of the next sample ended.";
        SIMPLEPERF_TRACING_DATA = 32777, "Tracepoint formats.";
        SIMPLEPERF_DEBUG = 32778, "A note of the recorder.";
    }

    /// The first of simpleperf's own kinds.
    const SIMPLEPERF_START: u32 = 32768;

    /// Bytes of a record with this header, header included. Simpleperf's own records use the
    /// `misc` word for the upper half of their size.
    pub const fn record_len(header: RecordHeader) -> u32 {
        // `From` is not const.
        let size = header.size as u32;
        if header.kind.0 < SIMPLEPERF_START {
            size
        } else {
            (header.misc.0 as u32) << 16 | size
        }
    }
}
