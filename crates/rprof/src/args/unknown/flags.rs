//! perf's flags that are not here, by command.

use super::Tips;

/// Those of `perf report`.
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
        "leave it out: rprof symbols says where names come from, rprof report --stats how stacks end",
    ),
    (&["-T"], "use -s tid: a row for each thread"),
    (
        &["-e", "--event"],
        "leave it out: each event has its table; rprof tui -e and rprof flame -e show one",
    ),
    (
        &["--tui", "--gtk"],
        "use rprof tui: it browses a recording interactively; rprof flame --open shows a picture",
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
        "leave it out: names are found without it",
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
        "rprof annotate has it",
    ),
    (&["--itrace"], "hardware traces are not decoded"),
    (
        &["--raw-trace"],
        "use -s trace_fields: the fields of tracepoints as they were recorded",
    ),
    (
        &["--percent-type"],
        "use --percentage for what percentages are of; rprof annotate has --percent-type",
    ),
    (
        &["--pretty"],
        "use --format csv or json: numbers as they are",
    ),
];

/// The same of `perf diff`.
pub(super) const OF_DIFF: Tips = &[
    (
        &["-D", "--dump-raw-trace"],
        "use rprof dump: it prints every record",
    ),
    (
        &["-v", "--verbose"],
        "leave it out: rprof symbols says where names come from",
    ),
    (
        &["-m", "--modules"],
        "leave it out: names are found without it",
    ),
    (
        &["--stream", "--cycles-hist"],
        "branches are not compared: rprof report -b counts them",
    ),
];

/// The same of `perf annotate`.
pub(super) const OF_ANNOTATE: Tips = &[
    (
        &["-l", "--print-line"],
        "leave it out: each line has its file and number",
    ),
    (
        &["-P", "--full-paths"],
        "use --format json for whole paths: text has as much of them as tells files apart",
    ),
    (
        &["-D", "--dump-raw-trace"],
        "use rprof dump: it prints every record",
    ),
    (
        &["-v", "--verbose"],
        "leave it out: rprof symbols says where names come from",
    ),
    (
        &["-m", "--modules", "--ignore-vmlinux"],
        "leave it out: modules are found without it, and -k FILE names the vmlinux",
    ),
    (
        &["--skip-missing"],
        "leave it out: functions whose code is not there are said, and others shown",
    ),
    (
        &["--tui", "--gtk"],
        "use rprof tui: its key a shows the code of a function",
    ),
    (
        &["--objdump", "--addr2line"],
        "leave it out: code is decoded, and lines are found, without other tools",
    ),
    (&["--itrace"], "hardware traces are not decoded"),
    (
        &["--data-type", "--type-stat", "--insn-stat"],
        "types of data are not counted",
    ),
];

/// The same of `perf top`.
pub(super) const OF_TOP: Tips = &[
    (
        &["-b", "--branch-any", "-j", "--branch-filter"],
        "rprof record has it, and rprof report -b counts branches",
    ),
    (
        &["-D", "--dump-symtab"],
        "save what is seen (--save FILE): rprof symbols says where names come from",
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
        "leave it out: names are found without it",
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
        "save what is seen (--save FILE): rprof annotate has it",
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
        "save what is seen (--save FILE): rprof report has it",
    ),
    (
        &["-r", "--realtime"],
        "leave it out: the recorder runs before others where it may",
    ),
    (
        &["-v", "--verbose"],
        "leave it out: rprof doctor says what may be recorded here",
    ),
    (
        &["-w", "--column-widths"],
        "leave it out: columns are as wide as what is in them",
    ),
    (
        &[
            "--num-thread-synthesize",
            "--proc-map-timeout",
            "--overwrite",
            "--no-bpf-event",
        ],
        "leave it out: one thread drains all rings, another one reads",
    ),
    (
        &["--switch-on", "--switch-off", "--show-on-off-events"],
        "save what is seen (--save FILE): rprof report has --switch-on and --switch-off",
    ),
    (
        &["--namespaces", "--all-cgroups"],
        "rprof record has it, and rprof report has rows for it",
    ),
    (
        &["--stitch-lbr"],
        "branches of several samples are not joined",
    ),
    (
        &["--tui"],
        "leave it out: on a terminal it is what there is without --stdio",
    ),
];

/// perf's flags, and what does the same here; where nothing does, that is said.
pub(super) const OF_RECORD: Tips = &[
    (
        &["--timeout"],
        "use --duration SECONDS: it ends the recording",
    ),
    (
        &["--off-cpu"],
        "use -e sched:sched_switch: it shows where tasks cease to run",
    ),
    (
        &["-S", "--snapshot", "--aux-sample"],
        "hardware traces are not recorded; of samples, --overwrite keeps the last ones",
    ),
    (
        &["-r", "--realtime"],
        "leave it out: the recorder runs before others where it may",
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
        "leave it out: one thread drains all rings, another one writes",
    ),
    (
        &["--kcore"],
        "leave it out: kernels are named by their own symbols",
    ),
    (
        &["--proc-map-timeout"],
        "leave it out: reading mappings has no time limit",
    ),
    (
        &["--debuginfod"],
        "leave it out: readers ask the servers of DEBUGINFOD_URLS for names",
    ),
    (
        &["--dry-run"],
        "use rprof doctor: it says what would be recorded",
    ),
    (
        &["--vmlinux"],
        "leave it out: kprobe:FUNCTION asks the running kernel",
    ),
    (
        &["--clang-path", "--clang-opt"],
        "leave it out: BPF programs are not loaded",
    ),
];
