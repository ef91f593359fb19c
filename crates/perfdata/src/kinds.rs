//! Record kinds that are the file's, not the kernel's: perf's `enum perf_user_event_type`, and
//! simpleperf's.

use rprof_abi::RecordKind;

/// Gives the table to the macro `$make`: number, name, and what `file_record` decodes it to.
macro_rules! with_file_kinds {
    ($make:ident) => {
        $make! {
            64 HEADER_ATTR => HeaderAttr(Box<HeaderAttr>), "An event with its ids, in pipe mode.";
            65 HEADER_EVENT_TYPE => HeaderEventType(EventType<'a>), "Name of an event (before 3.12).";
            66 HEADER_TRACING_DATA => HeaderTracingData(HeaderTracingData), "Tracepoint formats, in pipe mode; its data follows the record.";
            67 HEADER_BUILD_ID => HeaderBuildId(BuildIdEntry), "A build id.";
            68 FINISHED_ROUND => FinishedRound(()), "One pass over all rings is written; see the ordering rule in perf's ordered-events.c.";
            69 ID_INDEX => IdIndex(Vec<IdIndexEntry>), "Ids of events with their CPUs and threads.";
            70 AUXTRACE_INFO => AuxtraceInfo(AuxtraceInfo), "What the decoder of AUX data needs to know.";
            71 AUXTRACE => Auxtrace(Auxtrace), "AUX data; its data follows the record.";
            72 AUXTRACE_ERROR => AuxtraceError(AuxtraceError<'a>), "AUX data could not be decoded.";
            73 THREAD_MAP => ThreadMap(Vec<ThreadMapEntry<'a>>), "Threads that were recorded.";
            74 CPU_MAP => CpuMap(CpuMap<'a>), "CPUs that were recorded.";
            75 STAT_CONFIG => StatConfig(Vec<StatConfigTerm>), "How perf stat counted.";
            76 STAT => Stat(Stat), "A count of perf stat.";
            77 STAT_ROUND => StatRound(StatRound), "The counts of one interval are written.";
            78 EVENT_UPDATE => EventUpdate(EventUpdate<'a>), "Unit, scale, name or CPUs of an event.";
            79 TIME_CONV => TimeConv(TimeConv), "Time stamp counter against the clock.";
            80 HEADER_FEATURE => HeaderFeature(HeaderFeature<'a>), "A feature section, in pipe mode.";
            81 COMPRESSED => Compressed(Data<'a>), "Records, compressed.";
            82 FINISHED_INIT => FinishedInit(()), "Records of what already ran are written.";
            83 COMPRESSED2 => Compressed2(DataOfLen64<'a>), "Records, compressed and padded (6.16).";
            84 BPF_METADATA => BpfMetadata(BpfMetadata<'a>), "Variables by which a BPF program describes itself (6.16).";
            85 SCHEDSTAT_CPU => SchedstatCpu(SchedstatCpu), "A CPU's line of /proc/schedstat.";
            86 SCHEDSTAT_DOMAIN => SchedstatDomain(SchedstatDomain), "A scheduling domain's line of /proc/schedstat.";
            32769 SIMPLEPERF_KERNEL_SYMBOL => SimpleperfKernelSymbol(DataOfLen32<'a>), "/proc/kallsyms.";
            32770 SIMPLEPERF_DSO => SimpleperfDso(SimpleperfDso<'a>), "A file, for `SIMPLEPERF_SYMBOL`.";
            32771 SIMPLEPERF_SYMBOL => SimpleperfSymbol(SimpleperfSymbolRecord<'a>), "A symbol.";
            32772 SIMPLEPERF_SPLIT => SimpleperfSplit(Data<'a>), "A part of a record that is longer than a record can be.";
            32773 SIMPLEPERF_SPLIT_END => SimpleperfSplitEnd(()), "That record is complete.";
            32774 SIMPLEPERF_EVENT_ID => SimpleperfEventId(Vec<SimpleperfEventId>), "Ids of events.";
            32775 SIMPLEPERF_CALLCHAIN => SimpleperfCallchain(SimpleperfCallchain<'a>), "A call chain with its stack pointers.";
            32776 SIMPLEPERF_UNWINDING_RESULT => SimpleperfUnwindingResult(SimpleperfUnwindingResult<'a>), "How unwinding of the next sample ended.";
            32777 SIMPLEPERF_TRACING_DATA => SimpleperfTracingData(DataOfLen32<'a>), "Tracepoint formats.";
            32778 SIMPLEPERF_DEBUG => SimpleperfDebug(SimpleperfNote<'a>), "A note of the recorder.";
        }
    };
}
pub(crate) use with_file_kinds;

/// Kinds from 64 on: perf's (tools/lib/perf/include/perf/event.h, v6.16; the last two are newer)
/// and, from 32768 on, simpleperf's (AOSP, simpleperf/record.h, `enum user_record_type`).
pub mod file_kind {
    use rprof_abi::{RecordHeader, RecordKind};

    macro_rules! kinds {
        ($($number:literal $kind:ident $(=> $variant:ident($body:ty))?, $doc:literal;)*) => {
            $(#[doc = $doc] pub const $kind: RecordKind = RecordKind($number);)*

            /// Every kind that has a name.
            pub const ALL: &[RecordKind] = &[$($kind),*];

            /// The name, without its `PERF_RECORD_` or `SIMPLE_PERF_RECORD_`; `None` for unknown
            /// kinds and for the kernel's.
            pub const fn name(kind: RecordKind) -> Option<&'static str> {
                match kind.0 {
                    $($number => Some(stringify!($kind)),)*
                    _ => None,
                }
            }
        };
    }

    with_file_kinds!(kinds);

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

/// The kernel's, perf's or simpleperf's name of a kind, or its number.
pub fn kind_name(kind: RecordKind) -> String {
    match kind.name().or(file_kind::name(kind)) {
        Some(name) => name.to_owned(),
        None => format!("kind_{}", kind.0),
    }
}
