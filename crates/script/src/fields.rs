//! Which parts of a sample are printed: perf's names of them.

use crate::field_selection::Kind;
use rprof_abi::{PerfEventAttr, SampleType, event_type, hw, sw};

macro_rules! fields {
    ($($field:ident = $name:literal, $part:ident, $needs:expr;)*) => {
        /// One part of a sample.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) enum Field {
            $($field,)*
        }

        impl Field {
            /// Names, and what an event has to record: one of these.
            pub(crate) const ALL: &[(Self, &str, Option<SampleType>)] = &[
                $((Self::$field, $name, $needs),)*
            ];

            /// How much of a sample is decoded for it.
            const fn part(self) -> Part {
                match self {
                    $(Self::$field => Part::$part,)*
                }
            }
        }
    };
}

/// How much of a sample is decoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    /// What every reader asks for.
    Head,
    /// Every field that was recorded.
    AllFields,
}

// A new field is a line here, and where it is printed (`line.rs`).
fields! {
    Comm = "comm", Head, None;
    Tid = "tid", Head, Some(SampleType::TID);
    Pid = "pid", Head, Some(SampleType::TID);
    Time = "time", Head, Some(SampleType::TIME);
    Cpu = "cpu", Head, Some(SampleType::CPU);
    Event = "event", Head, None;
    Trace = "trace", AllFields, None;
    Ip = "ip", Head, Some(SampleType::IP);
    Sym = "sym", Head, None;
    Symoff = "symoff", Head, None;
    Dso = "dso", Head, None;
    Addr = "addr", AllFields, Some(SampleType::ADDR);
    Period = "period", Head, None;
    Weight = "weight", AllFields, Some(SampleType::WEIGHT.with(SampleType::WEIGHT_STRUCT));
    PhysAddr = "phys_addr", AllFields, Some(SampleType::PHYS_ADDR);
    DataPageSize = "data_page_size", AllFields, Some(SampleType::DATA_PAGE_SIZE);
    CodePageSize = "code_page_size", AllFields, Some(SampleType::CODE_PAGE_SIZE);
    StackEnd = "stackend", Head, None;
    Iregs = "iregs", AllFields, Some(SampleType::REGS_INTR);
    Uregs = "uregs", AllFields, Some(SampleType::REGS_USER);
    Brstack = "brstack", AllFields, Some(SampleType::BRANCH_STACK);
    Brstacksym = "brstacksym", AllFields, Some(SampleType::BRANCH_STACK);
    Brstackoff = "brstackoff", AllFields, Some(SampleType::BRANCH_STACK);
    DataSrc = "data_src", AllFields, Some(SampleType::DATA_SRC);
    InsLat = "ins_lat", AllFields, Some(SampleType::WEIGHT_STRUCT);
    RetireLat = "retire_lat", AllFields, Some(SampleType::WEIGHT_STRUCT);
    BpfOutput = "bpf-output", AllFields, Some(SampleType::RAW);
    Cgroup = "cgroup", AllFields, Some(SampleType::CGROUP);
    MachinePid = "machine_pid", AllFields, None;
    Vcpu = "vcpu", AllFields, None;
    Misc = "misc", Head, None;
    Flags = "flags", Head, None;
    Tod = "tod", Head, Some(SampleType::TIME);
    Dsoff = "dsoff", Head, None;
    Srcline = "srcline", Head, None;
    Span = "span", Head, None;
}

/// A choice of fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(crate) struct FieldSet(u64);

impl FieldSet {
    pub(crate) fn has(self, field: Field) -> bool {
        self.0 & 1 << field as u64 != 0
    }

    /// Fields for which all of a sample is decoded.
    const OF_ALL_FIELDS: Self = {
        let mut set = Self(0);
        let mut at = 0;
        while at < Field::ALL.len() {
            let (field, ..) = Field::ALL[at];
            if matches!(field.part(), Part::AllFields) {
                set.0 |= 1 << field as u64;
            }
            at += 1;
        }
        set
    };

    /// Fields that samples have in JSON.
    pub(crate) const OF_JSON: &[Field] = &[
        Field::Comm,
        Field::Pid,
        Field::Tid,
        Field::Time,
        Field::Cpu,
        Field::Event,
        Field::Period,
        Field::Ip,
        Field::Sym,
        Field::Symoff,
        Field::Dso,
        Field::Srcline,
        Field::StackEnd,
        Field::Addr,
        Field::PhysAddr,
        Field::Cgroup,
        Field::Trace,
        Field::Span,
    ];

    /// Whether all fields of a sample are needed, not only what every reader asks for.
    #[inline]
    pub(crate) fn need_all_fields(self) -> bool {
        self.0 & Self::OF_ALL_FIELDS.0 != 0
    }

    pub(crate) fn of(fields: &[Field]) -> Self {
        fields
            .iter()
            .fold(Self::default(), |all, &one| all.with(one))
    }

    pub(crate) fn with(self, field: Field) -> Self {
        Self(self.0 | 1 << field as u64)
    }

    pub(crate) fn without(self, field: Field) -> Self {
        Self(self.0 & !(1 << field as u64))
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
        use Field as C;
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

    /// Those of the fields that an event records.
    pub(crate) fn recorded_in(self, attr: &PerfEventAttr) -> Self {
        let mut all = self;
        for &(field, _, needs) in Field::ALL {
            if needs.is_some_and(|needs| !is_recorded(attr, needs)) {
                all = all.without(field);
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

/// The names of all fields, as `-F` takes them.
pub fn field_names() -> impl Iterator<Item = &'static str> {
    Field::ALL.iter().map(|&(_, name, _)| name)
}
