//! Feature sections: what a file says of the machine, the command and its own events.
//!
//! One file per shape; each has `parse`, and `encode` where rprof writes it. [`Feature`] is any
//! of them.

mod auxtrace;
mod bpf;
mod build_id;
mod compressed;
mod contents;
mod coverage;
mod domains;
mod event_desc;
mod groups;
mod left_out;
mod machine;
mod memory;
mod pmu;
mod protobuf;
mod simpleperf;
mod simpleperf_file;
mod stack_ends;
mod symbols;
mod text;
mod time;
mod topology;
mod tracing;
mod typed;
mod varint;
mod visit;

pub use auxtrace::AuxtraceIndexEntry;
pub use bpf::{BpfBtf, BpfFunction, BpfProgram};
pub use build_id::BuildIdEntry;
pub use compressed::Compression;
pub use contents::FileContents;
pub use coverage::{Coverage, CoverageUnit};
pub use domains::{CpuDomainList, CpuDomains, SchedDomain};
pub use event_desc::EventDesc;
pub use groups::EventGroup;
pub use left_out::LeftOut;
pub use machine::{ElfMachine, NrCpus, NumaNode, encode_nr_cpus, encode_numa};
pub use memory::{Cache, Caches, MemNode, MemTopology};
pub use pmu::{HybridPmu, PmuCap, PmuCaps, PmuMapping};
pub use simpleperf::{DebugUnwindFile, MetaInfo};
pub use simpleperf_file::{SimpleperfFile, SimpleperfSymbol};
pub use stack_ends::{EndReason, EndedStack, StackEnds};
pub use symbols::{AddressName, SymbolAddress, SymbolFrame, SymbolImage, SymbolPiece, Symbols};
pub use text::{decode_string, decode_strings, encode_string, encode_strings};
pub use time::{ClockData, SampleTime};
pub use topology::{CpuPlace, CpuTopology, encode_cpu_topology};
pub use tracing::TracingData;
pub use typed::Feature;

/// Number of a feature bit; unknown ones are carried as such.
///
/// Source: tools/perf/util/header.h (v6.16; those from 32 on are newer). Bits from 128 on are
/// simpleperf's (AOSP, simpleperf/record_file_format.h), those from 200 on are rprof's own; perf
/// skips both.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FeatureId(pub u32);

macro_rules! features {
    ($($name:ident = $number:literal, $doc:literal;)*) => {
        impl FeatureId {
            $(#[doc = $doc] pub const $name: Self = Self($number);)*

            /// Every feature that has a name.
            pub const ALL: &[Self] = &[$(Self::$name),*];

            /// perf's name, without `HEADER_`.
            pub const fn name(self) -> &'static str {
                match self.0 {
                    $($number => stringify!($name),)*
                    _ => "unknown",
                }
            }
        }
    };
}

features! {
    TRACING_DATA = 1, "Formats of tracepoints.";
    BUILD_ID = 2, "Build ids of files.";
    HOSTNAME = 3, "Name of the machine.";
    OSRELEASE = 4, "Kernel release.";
    VERSION = 5, "Version of the recording tool.";
    ARCH = 6, "Machine architecture.";
    NRCPUS = 7, "CPUs available and online.";
    CPUDESC = 8, "CPU model.";
    CPUID = 9, "CPU identification.";
    TOTAL_MEM = 10, "Memory, KiB.";
    CMDLINE = 11, "Command line of the recording tool.";
    EVENT_DESC = 12, "Events with names and ids.";
    CPU_TOPOLOGY = 13, "Cores and sockets.";
    NUMA_TOPOLOGY = 14, "Memory nodes.";
    BRANCH_STACK = 15, "Samples hold branch stacks; empty.";
    PMU_MAPPINGS = 16, "Types of PMUs with their names.";
    GROUP_DESC = 17, "Groups of events.";
    AUXTRACE = 18, "Where AUX data is in the file.";
    STAT = 19, "The file is of `perf stat record`; empty.";
    CACHE = 20, "Caches.";
    SAMPLE_TIME = 21, "Times of the first and last sample.";
    MEM_TOPOLOGY = 22, "Memory blocks of the nodes.";
    CLOCKID = 23, "Resolution of the clock.";
    DIR_FORMAT = 24, "Version of a recording in a directory.";
    BPF_PROG_INFO = 25, "BPF programs.";
    BPF_BTF = 26, "Types of BPF programs.";
    COMPRESSED = 27, "How records are compressed.";
    CPU_PMU_CAPS = 28, "What the PMU `cpu` can do.";
    CLOCK_DATA = 29, "The clock against wall time.";
    HYBRID_TOPOLOGY = 30, "PMUs that only some CPUs have.";
    PMU_CAPS = 31, "What the PMUs can do.";
    CPU_DOMAIN_INFO = 32, "Scheduling domains.";
    E_MACHINE = 33, "Machine and flags of ELF headers.";
    CLN_SIZE = 34, "Bytes of a cache line.";
    SIMPLEPERF_FILE = 128, "Files with symbols.";
    SIMPLEPERF_META_INFO = 129, "Keys and values.";
    SIMPLEPERF_DEBUG_UNWIND = 130, "Files kept to repeat unwinding.";
    SIMPLEPERF_DEBUG_UNWIND_FILE = 131, "Contents of those files.";
    SIMPLEPERF_FILE2 = 132, "Files with symbols, as protobuf messages.";
    SIMPLEPERF_ETM_BRANCH_LIST = 133, "Branches of ETM traces.";
    SIMPLEPERF_INIT_MAP = 134, "Records of what already ran.";
    STACK_ENDS = 200, "How stacks ended that rprof unwound while recording.";
    SYMBOLS = 201, "Names of the addresses that samples hit.";
    LEFT_OUT = 202, "How many samples the recorder left out.";
    CONTENTS = 203, "What was in mapped files that have no build id.";
    COVERAGE = 204, "How much of what was counted the samples stand for.";
    COMMAND = 205, "The process that the recorded command was.";
}
