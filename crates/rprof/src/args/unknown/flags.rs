//! perf's flags that rprof does not have, by command.

use super::Tips;

/// Flags of `perf report`.
pub(super) const OF_REPORT: Tips = &[
    (
        &["-D", "--dump-raw-trace"],
        "use rprof dump: it prints every record",
    ),
    (
        &["--branch-history", "--total-cycles", "--stitch-lbr"],
        "branches are counted by rprof report -b, and listed by rprof script -F +brstack",
    ),
    (
        &["-v", "--verbose"],
        "leave it out: rprof symbols shows where symbols come from, rprof report --stats how stacks end",
    ),
    (&["-T"], "use -s tid: it shows a row per thread"),
    (
        &["-e", "--event"],
        "leave it out: each event has its own table; rprof tui -e and rprof flame -e show a single event",
    ),
    (
        &["--tui", "--gtk"],
        "use rprof tui to browse a recording interactively, or rprof flame --open for a flame graph",
    ),
    (
        &[
            "-m",
            "--modules",
            "--ignore-vmlinux",
            "--demangle-kernel",
            "--objdump",
            "--disable-order",
        ],
        "leave it out: symbols are found without it",
    ),
    (
        &[
            "-M",
            "--disassembler-style",
            "--asm-raw",
            "--source",
            "--prefix",
            "--prefix-strip",
        ],
        "use rprof annotate, which has this flag",
    ),
    (&["--itrace"], "hardware traces are not decoded"),
    (
        &["--raw-trace"],
        "use -s trace_fields: it shows tracepoint fields as recorded",
    ),
    (
        &["--percent-type"],
        "use --percentage to choose the base of percentages; rprof annotate has --percent-type",
    ),
    (&["--pretty"], "use --format csv or json for raw numbers"),
];

/// Flags of `perf diff`.
pub(super) const OF_DIFF: Tips = &[
    (
        &["-D", "--dump-raw-trace"],
        "use rprof dump: it prints every record",
    ),
    (
        &["-v", "--verbose"],
        "leave it out: rprof symbols shows where symbols come from",
    ),
    (
        &["-m", "--modules"],
        "leave it out: symbols are found without it",
    ),
    (
        &["--stream", "--cycles-hist"],
        "branches cannot be compared; rprof report -b counts them",
    ),
];

/// Flags of `perf annotate`.
pub(super) const OF_ANNOTATE: Tips = &[
    (
        &["-l", "--print-line"],
        "leave it out: each line is shown with its file and number",
    ),
    (
        &["-P", "--full-paths"],
        "use --format json for full paths: text shows only the part that distinguishes files",
    ),
    (
        &["-D", "--dump-raw-trace"],
        "use rprof dump: it prints every record",
    ),
    (
        &["-v", "--verbose"],
        "leave it out: rprof symbols shows where symbols come from",
    ),
    (
        &["-m", "--modules", "--ignore-vmlinux"],
        "leave it out: modules are found without it, and -k FILE names the vmlinux",
    ),
    (
        &["--skip-missing"],
        "leave it out: functions without code are listed, and the others shown",
    ),
    (
        &["--tui", "--gtk"],
        "use rprof tui: press a to see a function's code",
    ),
    (
        &["--objdump", "--addr2line"],
        "leave it out: rprof disassembles code and finds lines without other tools",
    ),
    (&["--itrace"], "hardware traces are not decoded"),
    (
        &["--data-type", "--type-stat", "--insn-stat"],
        "data type profiling is not supported",
    ),
];

/// Flags of `perf top`.
pub(super) const OF_TOP: Tips = &[
    (
        &["-b", "--branch-any", "-j", "--branch-filter"],
        "use rprof record, which has this flag, and rprof report -b, which counts branches",
    ),
    (
        &["-D", "--dump-symtab"],
        "use --save FILE, then rprof symbols: it shows where symbols come from",
    ),
    (&["-f", "--count-filter"], "use --percent-limit"),
    (
        &[
            "-k",
            "--vmlinux",
            "--kallsyms",
            "--ignore-vmlinux",
            "--demangle-kernel",
            "--force",
        ],
        "leave it out: symbols are found without it",
    ),
    (
        &[
            "-M",
            "--disassembler-style",
            "--objdump",
            "--asm-raw",
            "--source",
            "--prefix",
            "--prefix-strip",
            "--sym-annotate",
        ],
        "use --save FILE, then rprof annotate, which has this flag",
    ),
    (
        &[
            "--comms",
            "--dsos",
            "--symbols",
            "--fields",
            "--hierarchy",
            "--ignore-callees",
            "--max-stack",
            "--percentage",
            "--show-total-period",
            "--group-sort-idx",
            "--raw-trace",
        ],
        "use --save FILE, then rprof report, which has this flag",
    ),
    (
        &["-r", "--realtime"],
        "leave it out: the recorder raises its own priority if permitted",
    ),
    (
        &["-v", "--verbose"],
        "leave it out: rprof doctor shows what can be recorded here",
    ),
    (
        &["-w", "--column-widths"],
        "leave it out: columns are as wide as their contents",
    ),
    (
        &[
            "--num-thread-synthesize",
            "--proc-map-timeout",
            "--overwrite",
            "--no-bpf-event",
        ],
        "leave it out: one thread drains all ring buffers, another one reads",
    ),
    (
        &["--switch-on", "--switch-off", "--show-on-off-events"],
        "use --save FILE, then rprof report, which has --switch-on and --switch-off",
    ),
    (
        &["--namespaces", "--all-cgroups"],
        "use rprof record, which has this flag, then rprof report",
    ),
    (
        &["--stitch-lbr"],
        "branches of several samples cannot be stitched",
    ),
    (&["--tui"], "leave it out: it is the default on a terminal"),
];

/// Flags of `perf record`.
pub(super) const OF_RECORD: Tips = &[
    (
        &["--timeout"],
        "use --duration SECONDS to end the recording",
    ),
    (
        &["--off-cpu"],
        "use -e sched:sched_switch: it shows where tasks are switched out",
    ),
    (
        &["-S", "--snapshot", "--aux-sample"],
        "hardware traces are not recorded; use --overwrite to keep only the latest samples",
    ),
    (
        &["-r", "--realtime"],
        "leave it out: the recorder raises its own priority if permitted",
    ),
    (
        &[
            "--threads",
            "--aio",
            "--affinity",
            "--num-thread-synthesize",
            "--mmap-flush",
            "--no-buffering",
        ],
        "leave it out: one thread drains all ring buffers, another one writes",
    ),
    (
        &["--kcore"],
        "leave it out: kernel code is resolved with the kernel's own symbols",
    ),
    (
        &["--proc-map-timeout"],
        "leave it out: reading mappings has no time limit",
    ),
    (
        &["--debuginfod"],
        "leave it out: debuginfod servers (DEBUGINFOD_URLS) are asked when the recording is read",
    ),
    (
        &["--dry-run"],
        "use rprof doctor: it shows what would be recorded",
    ),
    (
        &["--vmlinux"],
        "leave it out: kprobe:FUNCTION resolves functions in the running kernel",
    ),
    (
        &["--clang-path", "--clang-opt"],
        "leave it out: rprof loads no BPF programs",
    ),
];
