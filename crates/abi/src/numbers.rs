//! Numbers that go into an attr: kinds of events, and perf's names for them.

/// `attr.type`: who understands `config` (`enum perf_type_id`); others are PMUs from sysfs.
pub mod event_type {
    /// Generic hardware events: see [`crate::hw`].
    pub const HARDWARE: u32 = 0;
    /// Events made by the kernel: see [`crate::sw`].
    pub const SOFTWARE: u32 = 1;
    /// Tracepoints; `config` is the id from tracefs.
    pub const TRACEPOINT: u32 = 2;
    /// Generic cache events: see [`crate::hw_cache`].
    pub const HW_CACHE: u32 = 3;
    /// Raw events of the core PMU.
    pub const RAW: u32 = 4;
    /// Breakpoints.
    pub const BREAKPOINT: u32 = 5;
}

/// `config` of [`event_type::HARDWARE`] (`enum perf_hw_id`).
pub mod hw {
    /// Names as perf spells them, by `config`; the second is perf's alias.
    pub const NAMES: &[(&str, Option<&str>)] = &[
        ("cycles", Some("cpu-cycles")),
        ("instructions", None),
        ("cache-references", None),
        ("cache-misses", None),
        ("branches", Some("branch-instructions")),
        ("branch-misses", None),
        ("bus-cycles", None),
        ("stalled-cycles-frontend", Some("idle-cycles-frontend")),
        ("stalled-cycles-backend", Some("idle-cycles-backend")),
        ("ref-cycles", None),
    ];
    /// `PERF_COUNT_HW_CPU_CYCLES`.
    pub const CPU_CYCLES: u64 = 0;
    /// `PERF_COUNT_HW_BRANCH_INSTRUCTIONS`: with a period of 1, every branch is traced (BTS).
    pub const BRANCH_INSTRUCTIONS: u64 = 4;
}

/// `config` of [`event_type::SOFTWARE`] (`enum perf_sw_ids`).
pub mod sw {
    /// Names as perf spells them, by `config`; the second is perf's alias.
    pub const NAMES: &[(&str, Option<&str>)] = &[
        ("cpu-clock", None),
        ("task-clock", None),
        ("page-faults", Some("faults")),
        ("context-switches", Some("cs")),
        ("cpu-migrations", Some("migrations")),
        ("minor-faults", None),
        ("major-faults", None),
        ("alignment-faults", None),
        ("emulation-faults", None),
        ("dummy", None),
        ("bpf-output", None),
        ("cgroup-switches", None),
    ];
    /// `PERF_COUNT_SW_CPU_CLOCK`.
    pub const CPU_CLOCK: u64 = 0;
    /// `PERF_COUNT_SW_TASK_CLOCK`.
    pub const TASK_CLOCK: u64 = 1;
    /// `PERF_COUNT_SW_PAGE_FAULTS`.
    pub const PAGE_FAULTS: u64 = 2;
    /// `PERF_COUNT_SW_CONTEXT_SWITCHES`.
    pub const CONTEXT_SWITCHES: u64 = 3;
    /// `PERF_COUNT_SW_CPU_MIGRATIONS`.
    pub const CPU_MIGRATIONS: u64 = 4;
    /// `PERF_COUNT_SW_PAGE_FAULTS_MIN`.
    pub const PAGE_FAULTS_MIN: u64 = 5;
    /// `PERF_COUNT_SW_PAGE_FAULTS_MAJ`.
    pub const PAGE_FAULTS_MAJ: u64 = 6;
    /// `PERF_COUNT_SW_DUMMY`: counts nothing, carries sideband.
    pub const DUMMY: u64 = 9;
    /// `PERF_COUNT_SW_BPF_OUTPUT`: raw data that a BPF program wrote.
    pub const BPF_OUTPUT: u64 = 10;
    /// `PERF_COUNT_SW_CGROUP_SWITCHES`.
    pub const CGROUP_SWITCHES: u64 = 11;
}

/// Names of the events that waits are recorded with.
pub mod waits {
    /// A CPU goes from one thread to another.
    pub const SWITCH: &str = "sched:sched_switch";
    /// A thread is woken.
    pub const WAKING: &str = "sched:sched_waking";
    /// A thread is switched out, where tracepoints are not permitted.
    pub const SWITCHED_OUT: &str = "context-switches";
    /// The same where the kernel may not be sampled: /proc says what threads wait for.
    pub const BLOCKED: &str = "context-switches:u";
}

/// The three bytes of a [`event_type::HW_CACHE`] `config`: cache, operation << 8, result << 16.
pub mod hw_cache {
    /// Caches, by number, with perf's aliases.
    pub const CACHES: &[&[&str]] = &[
        &["L1-dcache", "l1-d", "l1d", "L1-data"],
        &["L1-icache", "l1-i", "l1i", "L1-instruction"],
        &["LLC", "L2"],
        &["dTLB", "d-tlb", "Data-TLB"],
        &["iTLB", "i-tlb", "Instruction-TLB"],
        &["branch", "branches", "bpu", "btb", "bpc"],
        &["node"],
    ];
    /// Operations, by number, with perf's aliases.
    pub const OPS: &[&[&str]] = &[
        &["load", "loads", "read"],
        &["store", "stores", "write"],
        &[
            "prefetch",
            "prefetches",
            "speculative-read",
            "speculative-load",
        ],
    ];
    /// Results, by number, with perf's aliases.
    pub const RESULTS: &[&[&str]] = &[&["refs", "Reference", "ops", "access"], &["misses", "miss"]];
}
