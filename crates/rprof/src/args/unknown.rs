//! What to do instead of a flag or a command that perf has and rprof has not.

use clap::error::{ContextKind, ContextValue, ErrorKind};

type Tips = &'static [(&'static [&'static str], &'static str)];

/// perf's commands, and what answers the same questions here; where nothing does, that is said.
const OF_COMMANDS: Tips = &[
    (
        &["evlist"],
        "use rprof info: it lists the events of a recording",
    ),
    (
        &["buildid-list"],
        "use rprof symbols: it lists the binaries of a recording, and where their names come from",
    ),
    (
        &["buildid-cache", "archive"],
        "use rprof symbols --embed: the names travel inside the recording",
    ),
    (
        &["data"],
        "rprof script --format json prints samples, rprof export writes files for other viewers",
    ),
    (
        &["mem"],
        "use rprof record -d -W -e EVENT, then rprof report --mem-mode",
    ),
    (
        &["c2c"],
        "false sharing is not analyzed: rprof report --mem-mode shows the sampled memory accesses",
    ),
    (
        &["probe"],
        "probes need no definition: rprof record -e uprobe:FILE:FUNCTION or -e kprobe:FUNCTION; \
         rprof list --path FILE lists functions",
    ),
    (
        &["trace"],
        "system calls are tracepoints: rprof record -e 'syscalls:sys_enter_*' -- COMMAND, then rprof script",
    ),
    (
        &["sched", "timechart"],
        "scheduler events are tracepoints: rprof record -a -e 'sched:*' -- sleep 1, then rprof script",
    ),
    (
        &["lock", "kmem", "kvm", "kwork", "iostat"],
        "its events are tracepoints: rprof list tracepoint lists them, rprof record -e samples them, \
         rprof script prints them",
    ),
    (
        &["ftrace"],
        "the function tracer is not used: rprof record -e kprobe:FUNCTION samples the calls of a kernel function",
    ),
    (
        &["kallsyms"],
        "use rprof list kprobe NAME: kernel functions that can be probed",
    ),
    (
        &["inject"],
        "leave it out: rprof reads jitdumps and build ids itself",
    ),
    (
        &["daemon"],
        "use rprof record -a --switch-output=1h --switch-max-files=24: it keeps the latest files",
    ),
    (
        &["config"],
        "there is no configuration file: flags and environment variables only",
    ),
    (&["version"], "use rprof --version"),
];

/// The same of `perf report`.
const OF_REPORT: Tips = &[
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
const OF_DIFF: Tips = &[
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
const OF_ANNOTATE: Tips = &[
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
const OF_TOP: Tips = &[
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
const OF_RECORD: Tips = &[
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

/// The error with a tip that helps, or none; the one how to pass a flag as a command is taken away, and clap's
/// usage, which is that of the flag that is similar.
pub(crate) fn explained(mut error: clap::Error, command: Option<&str>) -> clap::Error {
    let tips = match command {
        Some("report") => OF_REPORT,
        Some("diff") => OF_DIFF,
        Some("annotate") => OF_ANNOTATE,
        Some("top") => OF_TOP,
        _ => OF_RECORD,
    };
    match error.kind() {
        ErrorKind::UnknownArgument => {}
        ErrorKind::InvalidSubcommand => return explained_command(error),
        _ => return error,
    }
    error.remove(ContextKind::Suggested);
    error.remove(ContextKind::Usage);
    let Some(ContextValue::String(flag)) = error.get(ContextKind::InvalidArg) else {
        return error;
    };
    let is_it = |names: &&(&[&str], &str)| names.0.contains(&flag.as_str());
    if let Some((_, instead)) = tips.iter().find(is_it) {
        let tip = ContextValue::StyledStrs(vec![(*instead).to_owned().into()]);
        error.remove(ContextKind::SuggestedArg);
        error.insert(ContextKind::Suggested, tip);
    } else if error.get(ContextKind::SuggestedArg).is_none() {
        let tip = ContextValue::StyledStrs(vec!["--help lists all flags".into()]);
        error.insert(ContextKind::Suggested, tip);
    }
    error
}

/// The same of a command.
fn explained_command(mut error: clap::Error) -> clap::Error {
    let Some(ContextValue::String(name)) = error.get(ContextKind::InvalidSubcommand) else {
        return error;
    };
    let instead = OF_COMMANDS
        .iter()
        .find(|(names, _)| names.contains(&name.as_str()));
    error.remove(ContextKind::Usage);
    if let Some((_, instead)) = instead {
        error.remove(ContextKind::SuggestedSubcommand);
        let tip = ContextValue::StyledStrs(vec![(*instead).to_owned().into()]);
        error.insert(ContextKind::Suggested, tip);
    } else if error.get(ContextKind::SuggestedSubcommand).is_none() {
        let tip = ContextValue::StyledStrs(vec!["rprof --help lists all commands".into()]);
        error.insert(ContextKind::Suggested, tip);
    }
    error
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::Args;
    use clap::Parser;

    fn said(words: &[&str]) -> String {
        let command = "record";
        let words = [&["rprof", command], words].concat();
        explained(Args::try_parse_from(words).unwrap_err(), Some(command)).to_string()
    }

    #[test]
    fn perfs_flags_that_are_not_there_have_a_tip() {
        for (_, instead) in OF_RECORD {
            assert!(!instead.is_empty());
        }
        for flag in [
            "--kcore",
            "--debuginfod",
            "--mmap-flush",
            "--no-buffering",
            "--clang-path",
        ] {
            let said = said(&["-o", "x", flag, "true"]);
            assert!(said.contains("leave it out"), "{said}");
            assert!(
                !said.contains("similar") && !said.contains("Usage"),
                "{said}"
            );
        }
        assert!(said(&["--dry-run", "true"]).contains("rprof doctor"));
        assert!(said(&["--timeout", "1000", "true"]).contains("use --duration"));
        assert!(said(&["--bogus", "true"]).contains("--help"));
        let other = said(&["--al-cpus", "true"]);
        assert!(
            other.contains("--all-cpus") && !other.contains("as a value"),
            "{other}"
        );
    }

    #[test]
    fn no_flag_of_ours_is_said_to_be_missing() {
        use clap::CommandFactory;
        let command = Args::command();
        let names = |arg: &clap::Arg| {
            let short = arg.get_short().map(|short| format!("-{short}"));
            let long = arg.get_long().map(|long| format!("--{long}"));
            short.into_iter().chain(long)
        };
        for (command_name, tips) in [
            ("record", OF_RECORD),
            ("report", OF_REPORT),
            ("diff", OF_DIFF),
            ("annotate", OF_ANNOTATE),
            ("top", OF_TOP),
        ] {
            let command = command.find_subcommand(command_name).unwrap();
            let ours: Vec<String> = command.get_arguments().flat_map(names).collect();
            for (names, _) in tips {
                let known = names
                    .iter()
                    .find(|name| ours.iter().any(|own| own == *name));
                assert_eq!(known, None);
            }
        }
    }

    #[test]
    fn perfs_commands_that_are_not_there_have_a_tip() {
        use clap::CommandFactory;
        let said = |name: &str| {
            let error = Args::try_parse_from(["rprof", name]).unwrap_err();
            explained(error, Some(name)).to_string()
        };
        for (names, instead) in OF_COMMANDS {
            for name in *names {
                assert!(Args::command().find_subcommand(name).is_none(), "{name}");
                let said = said(name);
                assert!(
                    said.contains(instead) && !said.contains("similar"),
                    "{said}"
                );
            }
        }
        assert!(said("reprot").contains("'report'"));
        assert!(said("qqqqqq").contains("rprof --help"));
    }

    #[test]
    fn flags_of_perf_report_have_their_own_tips() {
        for (flag, instead) in [
            ("-D", "rprof dump"),
            ("-T", "-s tid"),
            ("--event", "each event has its table"),
            ("--tui", "rprof tui"),
            ("--raw-trace", "trace_fields"),
            ("--percent-type", "--percentage"),
            ("--pretty", "--format csv"),
        ] {
            let words = ["rprof", "report", flag];
            let error = Args::try_parse_from(words).unwrap_err();
            let said = explained(error, Some("report")).to_string();
            assert!(said.contains(instead), "{said}");
        }
    }

    #[test]
    fn flags_of_perf_annotate_have_their_own_tips() {
        for (flag, instead) in [
            ("--print-line", "file and number"),
            ("-l", "file and number"),
            ("-P", "--format json"),
            ("--tui", "rprof tui"),
            ("--itrace", "not decoded"),
            ("--objdump", "without other tools"),
            ("--skip-missing", "leave it out"),
        ] {
            let words = ["rprof", "annotate", flag];
            let error = Args::try_parse_from(words).unwrap_err();
            let said = explained(error, Some("annotate")).to_string();
            assert!(said.contains(instead), "{said}");
            assert!(!said.contains("similar"), "{said}");
        }
    }

    #[test]
    fn flags_of_perf_top_have_their_own_tips() {
        for (flag, instead) in [
            ("-f", "--percent-limit"),
            ("--dsos", "rprof report"),
            ("--sym-annotate", "rprof annotate"),
            ("--tui", "leave it out"),
            ("-r", "leave it out"),
        ] {
            let words = ["rprof", "top", flag];
            let error = Args::try_parse_from(words).unwrap_err();
            let said = explained(error, Some("top")).to_string();
            assert!(said.contains(instead), "{said}");
        }
    }
}
