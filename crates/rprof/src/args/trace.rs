//! The arguments of `rprof trace`: targets as in `record`, and perf's where perf trace has them.

use super::LimitArgs;
use super::record::{CallGraph, CgroupArgs, FilterArgs, RecordArgs, TargetArgs};
use super::sources::SourceArgs;
use crate::screen::PagerArgs;
use clap::{Arg, Args, FromArgMatches};
use rprof_analysis::Options;
use rprof_perfdata::Reader;
use rprof_profile::Filter;
use rprof_syscalls::{SelectionError, SyscallAbi, SyscallNames, SyscallSelection};
use rprof_trace::TraceForm;
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::PathBuf;

/// Shown at the end of `--help`.
const EXAMPLES: &str = "\
A line has the time since the first event, how long the call took (both in ms), the thread, the call and what it \
returned. It is written when the call returns. The summary counts calls that returned; those that did not, such as \
exit_group, are in the column \"unfinished\".

Tracing needs root, or CAP_PERFMON and a readable tracefs. Recordings are those of perf trace record, or of rprof \
record -e raw_syscalls:sys_enter,raw_syscalls:sys_exit.

Examples:
  rprof trace ls                     each system call of a command
  rprof trace -e openat,read ls      only these; -e '!futex' is all but futex
  rprof trace -s -- make             system calls of a command by thread
  rprof trace -s -p 1234 -- sleep 5  of a process, for five seconds
  rprof trace -s -g -p 1234          with their stacks, until Ctrl-C
  rprof trace -s -i perf.data        from a recording (also perf trace's)";

#[derive(Debug, clap::Args)]
#[command(
    args_override_self = true,
    after_help = EXAMPLES,
    mut_arg("no_inherit", |arg| arg.short(None::<char>).help("Do not inherit: child tasks are not traced")),
    mut_arg("all_cpus", |arg| arg.help("Trace everything on all CPUs")),
    mut_arg("pid", |arg| arg.help("Trace these processes, by id")),
    mut_arg("children", |arg| arg.help(CHILDREN)),
    mut_arg("tid", |arg| arg.help("Trace these threads, by id")),
    mut_arg("uid", |arg| arg.help("Trace all processes of a user, by name or number")),
    mut_arg("name", |arg| arg.help(NAME)),
    mut_arg("per_thread", |arg| arg.help(PER_THREAD)),
    mut_arg("cpu", |arg| arg.help(CPU)),
    mut_arg("include_self", |arg| arg.help("With -a or -C, keep rprof's own calls")),
    mut_arg("of_events", |arg| arg.help("Trace only this control group, on all CPUs")),
    mut_arg("for_each_cgroup", |arg| arg.help("Trace each of these control groups, on all CPUs")),
    mut_arg("mem", of_recordings),
    mut_arg("max_spool", of_recordings),
    mut_arg("debuginfod_wait", of_recordings)
)]
pub(crate) struct TraceArgs {
    /// Print only warnings and errors
    #[arg(short = 'q', long)]
    pub(crate) quiet: bool,

    /// Count calls by thread instead of printing each: calls, errors, total, average, 99th percentile and longest time
    #[arg(short = 's', long)]
    summary: bool,

    /// Print each call, and the summary at the end
    #[arg(short = 'S', long, conflicts_with = "summary")]
    with_summary: bool,

    /// Show the stacks of user space that calls come from
    #[arg(short = 'g')]
    callers: bool,

    /// The same, recorded in this way: auto, dwarf[,BYTES], fp, lbr or none
    #[arg(long, value_name = "HOW", value_parser = CallGraph::parse, long_help = CallGraph::HELP)]
    call_graph: Option<CallGraph>,

    /// Trace only these system calls: names, patterns such as clock_*, or perf's groups file and string; with ! in front,
    /// all others
    #[arg(
        short = 'e',
        long = "event",
        alias = "expr",
        value_name = "[!]CALL,...",
        action = clap::ArgAction::Append,
        allow_hyphen_values = false
    )]
    calls: Vec<String>,

    /// Read a recording instead of tracing; -p and -t select its processes and threads
    #[arg(short = 'i', long, value_name = "FILE", conflicts_with_all = OF_LIVE)]
    pub(crate) input: Option<PathBuf>,

    /// Size of each CPU's ring buffer: pages (a power of two), or a size with a unit, such as 512K [default: 4M]
    #[arg(short = 'm', long, value_name = "PAGES", allow_negative_numbers = true)]
    mmap_pages: Option<String>,

    /// Command to run, with its arguments: starts at the first word that is not a flag, or after --
    #[arg(trailing_var_arg = true, value_name = "COMMAND")]
    command: Vec<OsString>,

    #[command(flatten)]
    targets: TargetArgs,

    #[command(flatten)]
    cgroups: CgroupArgs,

    #[command(flatten, next_help_heading = "Reading")]
    pub(crate) sources: SourceArgs,

    #[command(flatten)]
    pub(crate) limits: LimitArgs,

    #[command(flatten)]
    pub(crate) paging: PagerArgs,
}

/// What says how to trace, which a recording has behind it.
const OF_LIVE: [&str; 15] = [
    "command",
    "mmap_pages",
    "all_cpus",
    "children",
    "uid",
    "name",
    "wait",
    "no_inherit",
    "per_thread",
    "cpu",
    "include_self",
    "duration",
    "wait_all",
    "of_events",
    "for_each_cgroup",
];

const CHILDREN: &str =
    "With -p, also trace their child processes that are already running, recursively";
const NAME: &str =
    "Trace processes whose name or program name matches a regular expression (may be repeated)";
const PER_THREAD: &str = "Like --no-inherit, but with one event and ring buffer per thread instead of per CPU: needs \
    fewer open files on many CPUs";
const CPU: &str =
    "Trace only on these CPUs, such as 0-3,8; without -p or -t, trace everything on them";

/// Has no meaning while it is traced.
fn of_recordings(arg: Arg) -> Arg {
    arg.requires("input").conflicts_with_all(OF_LIVE)
}

/// Bytes of a ring: calls come in bursts, and each is two events.
const RING: &str = "4M";

impl TraceArgs {
    /// Which calls are asked for, on a machine that is named as `uname -m` has it; `None` for all.
    pub(crate) fn selection(
        &self,
        machine: &str,
    ) -> Result<Option<SyscallSelection>, SelectionError> {
        if self.calls.is_empty() {
            return Ok(None);
        }
        let [native, of_32_bit] = names(machine);
        SyscallSelection::parse(&self.calls, &[&native, &of_32_bit]).map(Some)
    }

    /// What is written.
    pub(crate) fn form(&self) -> TraceForm {
        match (self.summary, self.with_summary) {
            (true, _) => TraceForm::Summary,
            (false, true) => TraceForm::LinesAndSummary,
            (false, false) => TraceForm::Lines,
        }
    }

    /// How callers are recorded.
    fn call_graph(&self) -> CallGraph {
        match self.call_graph {
            Some(how) => how,
            None if self.callers => CallGraph::Auto,
            None => CallGraph::None,
        }
    }

    /// Whether stacks are shown.
    pub(crate) fn has_stacks(&self) -> bool {
        self.call_graph() != CallGraph::None
    }

    /// What is read of a recording.
    pub(crate) fn options(&self, reader: &Reader) -> Options {
        let filter = match self.input {
            Some(_) => Filter {
                pids: self.targets.pid.clone(),
                tids: self.targets.tid.clone(),
                ..Filter::default()
            },
            None => Filter::default(),
        };
        Options {
            filter,
            stacks: self.has_stacks(),
            locator: self.sources.locator(reader.budget()),
            ..Options::default()
        }
    }

    /// The arguments that `rprof record` would get.
    pub(crate) fn record(
        self,
        selection: Option<&SyscallSelection>,
    ) -> Result<RecordArgs, clap::Error> {
        let record = RecordArgs::augment_args(clap::Command::new("record"));
        let matches = record.try_get_matches_from(["record"])?;
        let mut record = RecordArgs::from_arg_matches(&matches)?;
        record.quiet = self.quiet;
        record.call_chains.call_graph = self.call_graph();
        // Returns come from where the call was entered.
        record.events.events = vec![
            "raw_syscalls:sys_enter".to_owned(),
            "raw_syscalls:sys_exit/call-graph=no/".to_owned(),
        ];
        if let Some(filter) = selection.and_then(kernel_filter) {
            record.filters = FilterArgs::new(vec![(0, filter.clone()), (1, filter)]);
        }
        record.targets = self.targets;
        record.cgroups = self.cgroups;
        record.output.mmap_pages = Some(self.mmap_pages.unwrap_or_else(|| RING.to_owned()));
        record.command = self.command;
        Ok(record)
    }
}

/// The names of a machine's calls, and of those of its 32-bit tasks.
fn names(machine: &str) -> [SyscallNames; 2] {
    let native = SyscallAbi::of_machine(machine);
    [native, native.of_32_bit_tasks()].map(SyscallNames::of)
}

/// Lets only events of these calls pass: those of 64-bit and of 32-bit tasks, whose numbers mean others, and those by which
/// the two are told apart. `None` if all have to pass.
fn kernel_filter(selection: &SyscallSelection) -> Option<String> {
    let [native, of_32_bit] = names(std::env::consts::ARCH);
    let mut numbers = BTreeSet::new();
    for names in [&native, &of_32_bit] {
        numbers.extend(selection.numbers(names)?);
        numbers.extend(names.numbers("execve"));
        numbers.extend(names.numbers("execveat"));
    }
    // Returns from signal handlers do not say of which call they are.
    let of_signals = ["rt_sigreturn", "sigreturn"];
    if of_signals.iter().any(|name| selection.has(Some(name))) {
        numbers.insert(-1);
    }
    let terms: Vec<String> = numbers
        .iter()
        .map(|number| format!("id == {number}"))
        .collect();
    let text = terms.join(" || ");
    (text.len() <= MOST_FILTER_BYTES).then_some(text)
}

/// The kernel copies filters of up to a page.
const MOST_FILTER_BYTES: usize = 3500;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::{self, Command};
    use clap::Parser;

    fn trace(words: &[&str]) -> Result<TraceArgs, clap::Error> {
        match args::Args::try_parse_from([&["rprof", "trace"], words].concat())?.command {
            Command::Trace(args) => Ok(*args),
            _ => panic!(),
        }
    }

    #[test]
    fn an_input_is_read_and_a_command_is_traced() {
        assert_eq!(trace(&["-i", "x"]).unwrap().input, Some("x".into()));
        let args = trace(&["-s", "ls", "-i"]).unwrap();
        assert_eq!(
            (args.form(), args.input.is_none()),
            (TraceForm::Summary, true)
        );
        let record = args.record(None).unwrap();
        assert_eq!(record.command, ["ls", "-i"]);
        assert!(!record.targets.no_inherit);
        assert_eq!(record.call_chains.call_graph, CallGraph::None);
        for bad in [&["-i", "x", "ls"][..], &["-s", "-S", "ls"]] {
            assert_eq!(trace(bad).unwrap_err().exit_code(), 2, "{bad:?}");
        }
    }

    #[test]
    fn calls_are_chosen_by_name_and_their_events_by_number() {
        let chosen = |words: &[&str]| trace(words).unwrap().selection("x86_64");
        assert_eq!(chosen(&["ls"]), Ok(None));
        assert!(chosen(&["-e", "nosuch", "ls"]).is_err());
        let some = chosen(&["-e", "read", "ls"]).unwrap().unwrap();
        assert!(some.has(Some("read")) && !some.has(Some("write")));
        let filter = kernel_filter(&some).unwrap();
        let [native, _] = names(std::env::consts::ARCH);
        for name in ["read", "execve"] {
            let number = native.numbers(name)[0];
            assert!(
                filter
                    .split(" || ")
                    .any(|term| term == format!("id == {number}")),
                "{filter}"
            );
        }
        assert!(!filter.contains("id == -1"), "{filter}");
        let signals = chosen(&["-e", "rt_sig*", "ls"]).unwrap().unwrap();
        let filter = kernel_filter(&signals).unwrap();
        assert!(filter.contains("id == -1"), "{filter}");
        let others = chosen(&["-e", "!read", "ls"]).unwrap().unwrap();
        assert_eq!(kernel_filter(&others), None);
    }

    #[test]
    fn what_would_be_ignored_is_refused() {
        let of_recordings = [
            "-p 1",
            "-t 1",
            "--mem 1G",
            "--symfs /x",
            "--debuginfod-wait 1",
        ];
        for words in of_recordings {
            let words: Vec<&str> = words.split(' ').chain(["-i", "x"]).collect();
            assert!(trace(&words).is_ok(), "{words:?}");
        }
        let of_live = [
            "-a",
            "-C 0",
            "-u root",
            "--name sh",
            "-m 4M",
            "-G a",
            "--for-each-cgroup a",
            "-p 1 --children",
            "--no-inherit",
            "--per-thread",
            "--duration 1",
        ];
        for words in of_live {
            let words: Vec<&str> = words.split(' ').collect();
            assert!(trace(&words).is_ok(), "{words:?}");
            let words: Vec<&str> = words.into_iter().chain(["-i", "x"]).collect();
            assert_eq!(trace(&words).unwrap_err().exit_code(), 2, "{words:?}");
        }
        for words in ["--mem 1G", "--max-spool 1G", "--debuginfod-wait 1"] {
            for target in ["-p 1", "-a", "ls"] {
                let words: Vec<&str> = words.split(' ').chain(target.split(' ')).collect();
                assert_eq!(trace(&words).unwrap_err().exit_code(), 2, "{words:?}");
            }
        }
    }

    #[test]
    fn help_is_of_tracing() {
        use clap::CommandFactory;
        let mut command = args::Args::command();
        let trace = command.find_subcommand_mut("trace").unwrap();
        let help = trace.render_long_help().to_string();
        for word in ["Sample ", "sampled", "Like -i", "nth event", "own samples"] {
            assert!(!help.contains(word), "{word}: {help}");
        }
    }
}
