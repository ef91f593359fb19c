//! Which parts of a sample are printed: perf's names of them.

use crate::choice::Kind;
use rprof_abi::{PerfEventAttr, SampleType, event_type, hw, sw};

macro_rules! columns {
    ($($column:ident = $name:literal, $needs:expr;)*) => {
        /// One part of a sample.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) enum Column {
            $($column,)*
        }

        impl Column {
            /// Symbols, and what an event has to record: one of these.
            pub(crate) const ALL: &[(Self, &str, Option<SampleType>)] = &[
                $((Self::$column, $name, $needs),)*
            ];
        }
    };
}

columns! {
    Comm = "comm", None;
    Tid = "tid", Some(SampleType::TID);
    Pid = "pid", Some(SampleType::TID);
    Time = "time", Some(SampleType::TIME);
    Cpu = "cpu", Some(SampleType::CPU);
    Event = "event", None;
    Trace = "trace", None;
    Ip = "ip", Some(SampleType::IP);
    Sym = "sym", None;
    Symoff = "symoff", None;
    Dso = "dso", None;
    Addr = "addr", Some(SampleType::ADDR);
    Period = "period", None;
    Weight = "weight", Some(SampleType::WEIGHT.with(SampleType::WEIGHT_STRUCT));
    PhysAddr = "phys_addr", Some(SampleType::PHYS_ADDR);
    DataPageSize = "data_page_size", Some(SampleType::DATA_PAGE_SIZE);
    CodePageSize = "code_page_size", Some(SampleType::CODE_PAGE_SIZE);
    StackEnd = "stackend", None;
    Iregs = "iregs", Some(SampleType::REGS_INTR);
    Uregs = "uregs", Some(SampleType::REGS_USER);
    Brstack = "brstack", Some(SampleType::BRANCH_STACK);
    Brstacksym = "brstacksym", Some(SampleType::BRANCH_STACK);
    Brstackoff = "brstackoff", Some(SampleType::BRANCH_STACK);
    DataSrc = "data_src", Some(SampleType::DATA_SRC);
    InsLat = "ins_lat", Some(SampleType::WEIGHT_STRUCT);
    RetireLat = "retire_lat", Some(SampleType::WEIGHT_STRUCT);
    BpfOutput = "bpf-output", Some(SampleType::RAW);
    Cgroup = "cgroup", Some(SampleType::CGROUP);
    Misc = "misc", None;
    Flags = "flags", None;
    Tod = "tod", Some(SampleType::TIME);
    Dsoff = "dsoff", None;
    Srcline = "srcline", None;
}

/// A choice of columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(crate) struct Columns(u64);

impl Columns {
    pub(crate) fn has(self, column: Column) -> bool {
        self.0 & 1 << column as u64 != 0
    }

    /// Whether more of a sample is needed than every reader wants.
    pub(crate) fn need_whole(self) -> bool {
        use Column as C;
        let task = [C::Comm, C::Tid, C::Pid, C::Time, C::Tod, C::Cpu, C::Misc];
        let event = [C::Event, C::Period, C::Flags];
        let code = [
            C::Ip,
            C::Sym,
            C::Symoff,
            C::Dso,
            C::Dsoff,
            C::Srcline,
            C::StackEnd,
        ];
        let head = Self::of(&task)
            .union(Self::of(&event))
            .union(Self::of(&code));
        !self.minus(head).is_empty()
    }

    pub(crate) fn of(columns: &[Column]) -> Self {
        columns
            .iter()
            .fold(Self::default(), |all, &one| all.with(one))
    }

    pub(crate) fn with(self, column: Column) -> Self {
        Self(self.0 | 1 << column as u64)
    }

    pub(crate) fn without(self, column: Column) -> Self {
        Self(self.0 & !(1 << column as u64))
    }

    pub(crate) fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    pub(crate) fn minus(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    pub(crate) fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// What perf prints of an event if not told otherwise; `chains` are shown or not.
    pub(crate) fn default_of(attr: &PerfEventAttr, chains: bool) -> Self {
        use Column as C;
        let task = Self::of(&[C::Comm, C::Tid, C::Cpu, C::Time, C::Event]);
        let code = Self::of(&[C::Ip, C::Sym, C::Symoff, C::Dso]);
        let has_chains = chains && attr.sample_type.has(SampleType::CALLCHAIN);
        match Kind::of(attr) {
            Kind::Tracepoint if has_chains => task.with(C::Trace).union(code),
            Kind::Tracepoint => task.with(C::Trace),
            Kind::Raw => {
                let sizes = [C::DataPageSize, C::CodePageSize];
                let memory = [C::Addr, C::DataSrc, C::Weight, C::InsLat, C::PhysAddr];
                let memory = Self::of(&memory).union(Self::of(&sizes));
                task.union(code).union(memory).with(C::Period)
            }
            _ if is_branch_trace(attr) => task.union(code).with(C::Period).with(C::Addr),
            _ if is_bpf_output(attr) => task.union(code).with(C::Period).with(C::BpfOutput),
            _ => task.union(code).with(C::Period),
        }
    }

    /// Those of the columns that an event records.
    pub(crate) fn recorded_in(self, attr: &PerfEventAttr) -> Self {
        let mut all = self;
        for &(column, _, needs) in Column::ALL {
            if needs.is_some_and(|needs| !is_recorded(attr, needs)) {
                all = all.without(column);
            }
        }
        all
    }
}

/// Whether an event records one of these.
pub(crate) fn is_recorded(attr: &PerfEventAttr, needs: SampleType) -> bool {
    attr.sample_type.0 & needs.0 != 0
}

/// Whether samples are all branches (BTS), each with where it went as its address.
pub(crate) fn is_branch_trace(attr: &PerfEventAttr) -> bool {
    attr.kind == event_type::HARDWARE
        && attr.config == hw::BRANCH_INSTRUCTIONS
        && attr.sample_period == 1
}

/// Whether samples hold what a BPF program wrote.
pub(crate) fn is_bpf_output(attr: &PerfEventAttr) -> bool {
    attr.kind == event_type::SOFTWARE && attr.config == sw::BPF_OUTPUT
}

/// Whether a sample's address is one that may have a name (`sample_addr_correlates_sym`).
pub(crate) fn has_named_addr(attr: &PerfEventAttr) -> bool {
    let faults = [sw::PAGE_FAULTS, sw::PAGE_FAULTS_MIN, sw::PAGE_FAULTS_MAJ];
    is_branch_trace(attr) || attr.kind == event_type::SOFTWARE && faults.contains(&attr.config)
}
