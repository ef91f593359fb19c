//! Feature sections: what a file says of the machine, the command and its own events.
//!
//! One file per shape; each parses its section, names its fields, and encodes it if rprof writes
//! it. A new section is its file (with its `mod` and `use` below) and one line of the table.

mod auxtrace;
mod bpf;
mod build_id;
mod compressed;
mod contents;
mod coverage;
mod cpu_budget;
mod domains;
mod event_desc;
mod groups;
mod left_out;
mod machine;
mod memory;
mod numbers;
mod pauses;
mod pmu;
mod protobuf;
mod recorder_cost;
mod section;
mod simpleperf;
mod simpleperf_file;
mod spans;
mod stack_ends;
mod symbols;
#[cfg(test)]
mod tests;
mod text;
mod thinning;
mod time;
mod topology;
mod tracing;
mod varint;
mod waited_files;

pub use auxtrace::AuxtraceIndexEntry;
pub use bpf::{BpfBtf, BpfFunction, BpfProgram};
pub use build_id::BuildIdEntry;
pub use compressed::Compression;
pub use contents::FileContents;
pub use coverage::{CoverageUnit, SampleCoverage};
pub use cpu_budget::CpuBudget;
pub use domains::{CpuDomainList, CpuDomains, SchedDomain};
pub use event_desc::EventDesc;
pub use groups::EventGroup;
pub use left_out::LeftOut;
pub use machine::{EMachine, NrCpus, NumaNode, encode_nr_cpus, encode_numa};
pub use memory::{Cache, Caches, MemNode, MemTopology};
pub use numbers::{CacheLine, ClockId, Command, DirFormat, TotalMem};
pub use pauses::EventPause;
pub use pmu::{HybridPmu, PmuCap, PmuCaps, PmuMapping};
pub use recorder_cost::RecorderCost;
pub(crate) use section::SectionItem;
pub use simpleperf::{DebugUnwindFile, MetaInfo};
pub use simpleperf_file::{SimpleperfFile, SimpleperfMessages, SimpleperfSymbol};
pub use spans::SpanEdge;
pub use stack_ends::{EndReason, EndedStack, StackEnds};
pub use symbols::{
    AddressName, EmbeddedNames, SymbolAddress, SymbolFrame, SymbolImage, SymbolPiece,
};
pub use text::{decode_string, decode_strings, encode_string, encode_strings};
pub use thinning::SampleThinning;
pub use time::{ClockData, SampleTime};
pub use topology::{CpuPlace, CpuTopology, encode_cpu_topology};
pub use tracing::{TracingData, TracingSummary};
pub use waited_files::{WaitedFd, WaitedFile};

use rprof_abi::{Endian, Fields, Value, WireError};
use section::Section;

/// Number of a feature bit; unknown ones are carried as such.
///
/// Source: tools/perf/util/header.h (v6.16; those from 32 on are newer). Bits from 128 on are
/// simpleperf's (AOSP, simpleperf/record_file_format.h), those from 200 on are rprof's own; perf
/// skips both.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FeatureId(pub u32);

macro_rules! features {
    ($($bit:literal $name:ident $(=> $variant:ident($data:ty))?, $doc:literal;)*) => {
        impl FeatureId {
            $(#[doc = $doc] pub const $name: Self = Self($bit);)*

            /// Every feature that has a name.
            pub const ALL: &[Self] = &[$(Self::$name),*];

            /// perf's name, without `HEADER_`.
            pub const fn name(self) -> &'static str {
                match self.0 {
                    $($bit => stringify!($name),)*
                    _ => "unknown",
                }
            }
        }

        /// A feature section, decoded. Texts are bytes: nobody promises UTF-8.
        #[derive(Clone, Debug, PartialEq)]
        #[non_exhaustive]
        pub enum Feature {
            $($(#[doc = $doc] $variant($data),)?)*
            /// A section that is not decoded here: unknown, or a stream of its own.
            Opaque {
                /// Which.
                id: FeatureId,
                /// Its size.
                len_bytes: u64,
            },
        }

        impl Feature {
            /// Decodes a section of a file, or the bytes of a HEADER_FEATURE record in pipe mode.
            ///
            /// # Errors
            /// [`WireError`] if it is shorter than its counts say.
            pub fn parse(id: FeatureId, section: &[u8], endian: Endian) -> Result<Self, WireError> {
                Ok(match told_by_len(id, section) {
                    $($(Some(FeatureId::$name) => {
                        Self::$variant(<$data>::parse_section(section, endian)?)
                    })?)*
                    _ => Self::Opaque { id, len_bytes: section.len() as u64 },
                })
            }

            /// Says the section as one field: perf's name for it in lower case (`feature_250` for
            /// one without a name), and under it what the section holds.
            pub fn visit(&self, fields: &mut dyn Fields) {
                match self {
                    $($(Self::$variant(data) => data.describe(&FeatureId::$name.field(), fields),)?)*
                    Self::Opaque { id, len_bytes } => fields.object(&id.field(), |fields| {
                        fields.field("len_bytes", Value::Unsigned(*len_bytes));
                    }),
                }
            }

            /// Checks what must hold of a section that is described by its fields.
            #[cfg(test)]
            fn check_description(id: FeatureId, bytes: &[u8], endian: Endian) {
                match id {
                    $($(FeatureId::$name => <$data as Section>::check_description(bytes, endian),)?)*
                    _ => {}
                }
            }
        }
    };
}

// Bit, perf's name, what it is decoded to.
features! {
    1 TRACING_DATA => TracingData(TracingSummary), "Formats of tracepoints.";
    2 BUILD_ID => BuildId(Vec<BuildIdEntry>), "Build ids of files.";
    3 HOSTNAME => Hostname(Vec<u8>), "Name of the machine.";
    4 OSRELEASE => OsRelease(Vec<u8>), "Kernel release.";
    5 VERSION => Version(Vec<u8>), "Version of the recording tool.";
    6 ARCH => Arch(Vec<u8>), "Machine architecture.";
    7 NRCPUS => NrCpus(NrCpus), "CPUs available and online.";
    8 CPUDESC => CpuDesc(Vec<u8>), "CPU model.";
    9 CPUID => CpuId(Vec<u8>), "CPU identification.";
    10 TOTAL_MEM => TotalMem(TotalMem), "Memory, KiB.";
    11 CMDLINE => Cmdline(Vec<Vec<u8>>), "Command line of the recording tool.";
    12 EVENT_DESC => EventDesc(Vec<EventDesc>), "Events with names and ids.";
    13 CPU_TOPOLOGY => CpuTopology(CpuTopology), "Cores and sockets.";
    14 NUMA_TOPOLOGY => NumaTopology(Vec<NumaNode>), "Memory nodes.";
    15 BRANCH_STACK => BranchStack(()), "Samples hold branch stacks; empty.";
    16 PMU_MAPPINGS => PmuMappings(Vec<PmuMapping>), "Types of PMUs with their names.";
    17 GROUP_DESC => GroupDesc(Vec<EventGroup>), "Groups of events.";
    18 AUXTRACE => Auxtrace(Vec<AuxtraceIndexEntry>), "Where AUX data is in the file.";
    19 STAT => Stat(()), "The file is of `perf stat record`; empty.";
    20 CACHE => Cache(Caches), "Caches.";
    21 SAMPLE_TIME => SampleTime(SampleTime), "Times of the first and last sample.";
    22 MEM_TOPOLOGY => MemTopology(MemTopology), "Memory blocks of the nodes.";
    23 CLOCKID => ClockId(ClockId), "Resolution of the clock.";
    24 DIR_FORMAT => DirFormat(DirFormat), "Version of a recording in a directory.";
    25 BPF_PROG_INFO => BpfProgInfo(Vec<BpfProgram>), "BPF programs.";
    26 BPF_BTF => BpfBtf(Vec<BpfBtf>), "Types of BPF programs.";
    27 COMPRESSED => Compressed(Compression), "How records are compressed.";
    28 CPU_PMU_CAPS => CpuPmuCaps(Vec<PmuCap>), "What the PMU `cpu` can do.";
    29 CLOCK_DATA => ClockData(ClockData), "The clock against wall time.";
    30 HYBRID_TOPOLOGY => HybridTopology(Vec<HybridPmu>), "PMUs that only some CPUs have.";
    31 PMU_CAPS => PmuCaps(Vec<PmuCaps>), "What the PMUs can do.";
    32 CPU_DOMAIN_INFO => CpuDomainInfo(CpuDomains), "Scheduling domains.";
    33 E_MACHINE => EMachine(EMachine), "Machine and flags of ELF headers.";
    34 CLN_SIZE => ClnSize(CacheLine), "Bytes of a cache line.";
    128 SIMPLEPERF_FILE => SimpleperfFiles(Vec<SimpleperfFile>), "Files with symbols.";
    129 SIMPLEPERF_META_INFO => SimpleperfMetaInfo(Vec<MetaInfo>), "Keys and values.";
    130 SIMPLEPERF_DEBUG_UNWIND => SimpleperfDebugUnwind(Vec<DebugUnwindFile>), "Files kept to repeat unwinding.";
    131 SIMPLEPERF_DEBUG_UNWIND_FILE, "Contents of those files.";
    132 SIMPLEPERF_FILE2 => SimpleperfFiles2(SimpleperfMessages), "Files with symbols, as protobuf messages.";
    133 SIMPLEPERF_ETM_BRANCH_LIST, "Branches of ETM traces.";
    134 SIMPLEPERF_INIT_MAP, "Records of what already ran.";
    200 STACK_ENDS => StackEnds(StackEnds), "How stacks ended that rprof unwound while recording.";
    201 SYMBOLS => Symbols(EmbeddedNames), "Names of the addresses that samples hit.";
    202 LEFT_OUT => LeftOut(LeftOut), "How many samples the recorder left out.";
    203 CONTENTS => Contents(Vec<FileContents>), "What was in mapped files that have no build id.";
    204 COVERAGE => Coverage(SampleCoverage), "How much of what was counted the samples stand for.";
    205 COMMAND => Command(Command), "The process that the recorded command was.";
    206 RECORDER_COST => RecorderCost(RecorderCost), "What recording cost: CPU time and bytes.";
    208 CPU_BUDGET => CpuBudget(CpuBudget), "What was given up to stay within a share of a CPU.";
    209 THINNING => Thinning(SampleThinning), "How many samples were kept of those that were taken.";
    210 SPANS => Spans(Vec<SpanEdge>), "Which events begin and end spans of threads' time.";
    211 PAUSES => Pauses(Vec<EventPause>), "When samples of events were paused.";
    212 WAITED_FILES => WaitedFiles(Vec<WaitedFile>), "What threads waited for through descriptors.";
}

impl FeatureId {
    /// The name of the section as a field.
    fn field(self) -> String {
        if Self::ALL.contains(&self) {
            self.name().to_ascii_lowercase()
        } else {
            format!("feature_{}", self.0)
        }
    }
}

/// Which section it is: `E_MACHINE` and `CLN_SIZE` are too new to rely on their order, but their
/// lengths tell them apart.
fn told_by_len(id: FeatureId, section: &[u8]) -> Option<FeatureId> {
    match (id, section.len()) {
        (FeatureId::E_MACHINE | FeatureId::CLN_SIZE, 8) => Some(FeatureId::E_MACHINE),
        (FeatureId::E_MACHINE | FeatureId::CLN_SIZE, 4) => Some(FeatureId::CLN_SIZE),
        (FeatureId::E_MACHINE | FeatureId::CLN_SIZE, _) => None,
        _ => Some(id),
    }
}
