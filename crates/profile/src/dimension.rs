//! What samples can be grouped by beside thread names, images and functions.
//!
//! A new one is a line of the table here, and its value in `rprof_analysis` (`pass/dimensions.rs`).

use crate::{StrId, Strings};
use cells::{
    address, cpu, cycles, dso_size, number, page_size, physical, socket, symbol_size, task, text,
    time, transaction,
};

mod cells;
mod sets;

pub(crate) use sets::AlikeSets;
pub use sets::{ValueSets, ValuesId};

macro_rules! dimensions {
    ($($dimension:ident = $name:literal, $heading:literal, $cell:ident, $doc:literal;)*) => {
        /// One thing that samples can be grouped by.
        #[allow(rustdoc::invalid_html_tags, reason = "its texts are for tables: <N> is a number")]
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Dimension {
            $(#[doc = concat!("The ", $doc, ".")] $dimension,)*
            /// The field of tracepoints with a number: who asks has their names.
            TraceField(u8),
        }

        impl Dimension {
            /// All of them that have a name.
            pub const ALL: &[Self] = &[$(Self::$dimension),*];

            /// perf's name of the sort key.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$dimension => $name,)*
                    Self::TraceField(_) => "trace field",
                }
            }

            /// What it is, in a line.
            pub const fn about(self) -> &'static str {
                match self {
                    $(Self::$dimension => $doc,)*
                    Self::TraceField(_) => "tracepoint field",
                }
            }

            /// perf's heading of the column.
            pub const fn heading(self) -> &'static str {
                match self {
                    $(Self::$dimension => $heading,)*
                    Self::TraceField(_) => "trace field",
                }
            }

            /// A value as perf shows it.
            pub fn cell(self, value: DimensionValue, strings: &Strings) -> String {
                match self {
                    $(Self::$dimension => $cell(value, strings),)*
                    Self::TraceField(_) => text(value, strings),
                }
            }
        }
    };
}

dimensions! {
    Pid = "pid", "    Pid:Command", task, "process id and name";
    Tid = "tid", "    Tid:Command", task, "thread id and name";
    CommNoDigit = "comm_nodigit", "CommandNoDigit", text, "thread name, with <N> in place of digits";
    Cpu = "cpu", "CPU", cpu, "CPU";
    Socket = "socket", "Socket", socket, "socket of the CPU";
    Parallelism = "parallelism", "Parallelism", number, "number of recorded threads running at the time";
    Cgroup = "cgroup", "Cgroup", text, "control group";
    CgroupId = "cgroup_id", "cgroup id (dev/inode)", text, "cgroup namespace, as device and inode";
    DsoSize = "dso_size", "DSO size", dso_size, "size of the mapping with the code, in bytes";
    SymSize = "symbol_size", "Symbol size", symbol_size, "size of the function, in bytes";
    SymStart = "symbol_start", "Symbol Start", address,
        "start address of the function: distinguishes functions with the same name";
    SymOff = "symoff", "Symbol Offset", text, "function and offset into it";
    Time = "time", "Time", time, "time, in steps of --time-quantum";
    Machine = "machine", "Machine", text, "host name of the recorded machine";
    Recording = "recording", "Recording", text, "recording, if several are read";
    Parent = "parent", "Parent symbol", text, "caller that matches --parent";
    Trace = "trace", "Trace output", text, "formatted text of tracepoints";
    LocalWeight = "local_weight", "Local Weight", number, "weight";
    Weight = "weight", "Weight", number, "weight, summed over the row's samples";
    LocalInsLat = "local_ins_lat", "Local INSTR Latency", number, "instruction latency";
    InsLat = "ins_lat", "INSTR Latency", number, "instruction latency, summed over the row's samples";
    LocalPStageCyc = "local_p_stage_cyc", "Local Pipeline Stage Cycle", number,
        "cycles in a pipeline stage";
    PStageCyc = "p_stage_cyc", "Pipeline Stage Cycle", number,
        "cycles in a pipeline stage, summed over the row's samples";
    LocalRetireLat = "local_retire_lat", "Local Retire Latency", number, "cycles until retirement";
    RetireLat = "retire_lat", "Retire Latency", number, "cycles until retirement, summed over the row's samples";
    Transaction = "transaction", "Transaction", transaction, "transaction flags";
    CodePageSize = "code_page_size", "Code Page Size", page_size, "page size of the code";
    DataPageSize = "data_page_size", "Data Page Size", page_size, "page size of the data";
    PhysDaddr = "phys_daddr", "Data Physical Address", physical, "physical address of the data";
    Addr = "addr", "Address", address, "address of the code";
    Mem = "mem", "Memory access", text, "memory: level that held the data";
    Snoop = "snoop", "Snoop", text, "memory: snoop result of other caches";
    Tlb = "tlb", "TLB access", text, "memory: TLB level that translated the address";
    Locked = "locked", "Locked", text, "memory: whether the instruction was locked";
    Blocked = "blocked", "Blocked", text, "memory: what blocked the access";
    SymbolDaddr = "symbol_daddr", "Data Symbol", text, "memory: data symbol or address";
    DsoDaddr = "dso_daddr", "Data Object", text, "memory: mapping that contains the data";
    Dcacheline = "dcacheline", "Data Cacheline", text, "memory: 64-byte cache line of the data";
    SymbolIaddr = "symbol_iaddr", "Code Symbol", text, "memory: function that accesses the data";
    DsoFrom = "dso_from", "Source Shared Object", text, "branches: source program or library";
    DsoTo = "dso_to", "Target Shared Object", text, "branches: target program or library";
    SymbolFrom = "symbol_from", "Source Symbol", text, "branches: source function";
    SymbolTo = "symbol_to", "Target Symbol", text, "branches: target function";
    SrclineFrom = "srcline_from", "From Source:Line", text, "branches: source line at the source";
    SrclineTo = "srcline_to", "To Source:Line", text, "branches: source line at the target";
    Mispredict = "mispredict", "Branch Mispredicted", text, "branches: whether mispredicted";
    InTx = "in_tx", "Branch in transaction", text, "branches: whether in a transaction";
    Abort = "abort", "Transaction abort", text, "branches: whether they aborted a transaction";
    State = "state", "State", text, "what the thread did: running, runnable, preempted, sleeping ...";
    Cause = "cause", "Cause", text, "why the thread waited: futex, pipe, socket, sleep ..., from kernel functions";
    Waker = "waker", "Waker", text, "thread that ended the wait, or [timer], [irq], [softirq]";
    Wakee = "wakee", "Wakee", text, "thread whose wait was ended: with waker, who woke whom";
    Lock = "lock", "Lock", text, "lock that the thread waited for: data symbol or address (record --off-cpu --lock)";
    File = "file", "File", text, "descriptor that the thread waited for, and its pipe, socket or path (record --off-cpu)";
    Critical = "critical", "Critical", text, "whether the time is on the critical path: yes or no";
    Span = "span", "Span", text, "span that the thread was in, such as a request (record --span)";
    Cycles = "cycles", "Basic Block Cycles", cycles, "branches: cycles since the previous branch";
}

impl Dimension {
    /// The value of samples without a parent.
    pub(crate) const OTHER: &str = "[other]";

    /// Whether a row shows the value times the number of its samples.
    pub const fn is_summed(self) -> bool {
        matches!(
            self,
            Self::Weight | Self::InsLat | Self::PStageCyc | Self::RetireLat
        )
    }

    /// Whether a value is that of samples without one: no caller was a parent.
    pub(crate) fn is_other(self, value: StrId, strings: &Strings) -> bool {
        self == Self::Parent && strings.of(value).raw() == Self::OTHER
    }

    /// Whether it is of branches: of each of a sample's, and not of the sample.
    pub const fn is_of_branches(self) -> bool {
        matches!(
            self,
            Self::DsoFrom
                | Self::DsoTo
                | Self::SymbolFrom
                | Self::SymbolTo
                | Self::SrclineFrom
                | Self::SrclineTo
                | Self::Mispredict
                | Self::InTx
                | Self::Abort
                | Self::Cycles
        )
    }

    /// Whether it is of the time of threads: samples that were recorded have no value.
    pub const fn is_of_account(self) -> bool {
        matches!(
            self,
            Self::State
                | Self::Cause
                | Self::Waker
                | Self::Wakee
                | Self::Lock
                | Self::File
                | Self::Critical
        )
    }

    /// Whether it is of the code that ran, and not of who called it.
    pub const fn is_of_own_code(self) -> bool {
        matches!(
            self,
            Self::Addr | Self::DsoSize | Self::SymSize | Self::SymStart | Self::SymOff
        )
    }

    /// Whether rows go from the largest value on, as perf has them.
    pub const fn is_descending(self) -> bool {
        self.is_summed()
            || matches!(
                self,
                Self::LocalWeight
                    | Self::LocalInsLat
                    | Self::LocalPStageCyc
                    | Self::LocalRetireLat
                    | Self::Transaction
                    | Self::CgroupId
                    | Self::DsoFrom
                    | Self::DsoDaddr
                    | Self::DsoTo
                    | Self::Cycles
            )
    }
}

/// A value in a dimension.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum DimensionValue {
    /// An id or a number.
    Number(i64),
    /// A process or thread, and its name.
    Task(i32, StrId),
    /// A text of the profile.
    Text(StrId),
}

/// A group's values, in the order in which they are asked for; none where one was not recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct DimensionValues([Option<(Dimension, DimensionValue)>; Self::MOST]);

impl DimensionValues {
    /// How many dimensions there are at most, at once.
    pub const MOST: usize = 12;

    /// None at all.
    pub const NONE: Self = Self([None; Self::MOST]);

    /// The value in a dimension.
    pub fn get(&self, dimension: Dimension) -> Option<DimensionValue> {
        let values = self.0.iter().flatten();
        let found = values.into_iter().find(|(of, _)| *of == dimension);
        found.map(|&(_, value)| value)
    }

    /// Adds the value in a dimension; none is none, and there is room for [`Self::MOST`].
    pub fn set(&mut self, dimension: Dimension, value: Option<DimensionValue>) {
        let places = &mut self.0;
        let is_its = |place: &&mut Option<(Dimension, _)>| match place {
            Some((of, _)) => *of == dimension,
            None => true,
        };
        if let (Some(place), Some(value)) = (places.iter_mut().find(is_its), value) {
            *place = Some((dimension, value));
        }
    }

    /// All but the value in a dimension.
    pub(crate) fn without(&self, dimension: Dimension) -> Self {
        let mut kept = Self::NONE;
        let others = self.0.iter().flatten().filter(|(of, _)| *of != dimension);
        others.for_each(|&(of, value)| kept.set(of, Some(value)));
        kept
    }

    /// The same dimensions with other values.
    pub(crate) fn map(mut self, mut value: impl FnMut(DimensionValue) -> DimensionValue) -> Self {
        for (_, own) in self.0.iter_mut().flatten() {
            *own = value(*own);
        }
        self
    }

    /// The number or id in a dimension that has one.
    pub fn number(&self, dimension: Dimension) -> Option<i64> {
        match self.get(dimension)? {
            DimensionValue::Number(number) => Some(number),
            DimensionValue::Task(id, _) => Some(id.into()),
            DimensionValue::Text(_) => None,
        }
    }
}
