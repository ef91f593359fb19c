//! Feature sections: what a file says of the machine, the command and its own events.
//!
//! One file per shape; each has `encode` and, where a report needs it, `parse`.

mod build_id;
mod event_desc;
mod machine;
mod text;
mod time;
mod tracing;

pub use build_id::BuildIdEntry;
pub use event_desc::EventDesc;
pub use machine::{
    CpuPlace, CpuTopology, NumaNode, encode_cpu_topology, encode_nr_cpus, encode_numa,
};
pub use text::{decode_string, decode_strings, encode_string, encode_strings};
pub use time::{ClockData, SampleTime};
pub use tracing::TracingData;

/// Number of a feature bit; unknown ones are carried as such.
///
/// Source: tools/perf/util/header.h (v6.16). Bits from 200 on are rprof's own; perf skips them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FeatureId(pub u32);

macro_rules! features {
    ($($name:ident = $number:literal, $doc:literal;)*) => {
        impl FeatureId {
            $(#[doc = $doc] pub const $name: Self = Self($number);)*

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
    SAMPLE_TIME = 21, "Times of the first and last sample.";
    CLOCKID = 23, "Resolution of the clock.";
    COMPRESSED = 27, "How records are compressed.";
    CLOCK_DATA = 29, "The clock against wall time.";
}
