//! The arguments of `top`: targets and events as in `record`, display options as in perf top.

use super::record::{
    CallGraph, CgroupArgs, EventArgs, FilterArgs, RecordArgs, TargetArgs, numbers,
};
use clap::{Args, Error, FromArgMatches};
use rprof_profile::view::{SortKey, Weighing};
use rprof_profile::{Account, Dimension};
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

/// Shown at the end of `--help`.
const EXAMPLES: &str = "\
Examples:
  rprof top                       the whole system, every two seconds
  rprof top -p 1234 --window all  a process, since the start
  rprof top -F 99 -d 5 --stdio    a table every five seconds
  rprof top --once -d 10 -E 20    ten seconds, for a script
  rprof top --off-cpu -p 1234     where a process waits
  rprof top -K -- make -j8        a command, without the kernel";

#[derive(Debug, clap::Args)]
#[command(args_override_self = true, after_help = EXAMPLES)]
pub(crate) struct TopArgs {
    /// Print only warnings and errors
    #[arg(short = 'q', long)]
    pub(crate) quiet: bool,

    /// Command to run, with its arguments: starts at the first word that is not a flag, or after --
    #[arg(trailing_var_arg = true, value_name = "COMMAND")]
    command: Vec<OsString>,

    // Before the events, which are taken out of what was matched.
    #[command(flatten)]
    filters: FilterArgs,

    #[command(flatten)]
    events: EventArgs,

    /// Record callers (on by default)
    #[arg(help_heading = CALL_CHAINS, short = 'g', overrides_with = "call_graph")]
    callers: bool,

    /// Record callers in this way: auto, dwarf[,BYTES], fp, lbr or none
    #[arg(
        help_heading = CALL_CHAINS,
        long,
        value_name = "HOW",
        default_value = "auto",
        value_parser = CallGraph::parse,
        long_help = CallGraph::HELP
    )]
    call_graph: CallGraph,

    #[command(flatten)]
    targets: TargetArgs,

    #[command(flatten)]
    cgroups: CgroupArgs,

    #[command(flatten)]
    pub(crate) view: TopViewArgs,
}

const CALL_CHAINS: &str = "Call chains";

/// Display options.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Display")]
#[allow(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
pub(crate) struct TopViewArgs {
    /// Seconds between refreshes
    #[arg(
        short = 'd',
        long,
        value_name = "SECONDS",
        default_value = "2",
        value_parser = numbers::seconds,
        allow_negative_numbers = true
    )]
    pub(crate) delay: Duration,

    /// Show samples of the last SECONDS, or all since the start (all)
    #[arg(long, value_name = "SECONDS", default_value = "10", value_parser = parse_window, allow_negative_numbers = true)]
    pub(crate) window: TopWindow,

    /// Start each refresh from zero: show only the samples since the previous one
    #[arg(short = 'z', long, conflicts_with = "window")]
    pub(crate) zero: bool,

    /// Print a table at each refresh, even on a terminal
    #[arg(long)]
    pub(crate) stdio: bool,

    /// Print one table at the first refresh, then exit: for scripts
    #[arg(long)]
    pub(crate) once: bool,

    /// Show where threads wait, and for how long, instead of where they run
    #[arg(long, conflicts_with = "wall")]
    off_cpu: bool,

    /// Show all time of threads: running and waiting
    #[arg(long)]
    wall: bool,

    /// Write the shown samples to a recording at exit (an existing file is renamed to NAME.old)
    #[arg(long, value_name = "FILE")]
    pub(crate) save: Option<PathBuf>,

    /// Print at most this many rows [default: as many as fit on the terminal, else 40]
    #[arg(short = 'E', long, value_name = "ROWS")]
    pub(crate) entries: Option<usize>,

    /// Group rows by these keys: comm, dso, sym, pid, tid, cpu; with --off-cpu or --wall also cause, state
    /// [default: comm,dso,sym]
    #[arg(short = 's', long, value_name = "KEYS", value_delimiter = ',', value_parser = parse_key)]
    sort: Vec<SortKey>,

    /// Count only functions' own samples (self), not their callees'
    #[arg(long)]
    no_children: bool,

    /// Show the number of samples of each row
    #[arg(short = 'n', long)]
    pub(crate) show_nr_samples: bool,

    /// Omit rows below this percentage
    #[arg(long, value_name = "PERCENT", default_value_t = 0.0)]
    pub(crate) percent_limit: f64,

    /// Sample user space only
    #[arg(
        short = 'K',
        long = "hide_kernel_symbols",
        alias = "hide-kernel-symbols"
    )]
    pub(crate) hide_kernel: bool,

    /// Sample the kernel only
    #[arg(
        short = 'U',
        long = "hide_user_symbols",
        alias = "hide-user-symbols",
        conflicts_with = "hide_kernel"
    )]
    pub(crate) hide_user: bool,

    /// Drop samples of idle CPUs (swapper)
    #[arg(long)]
    pub(crate) no_idle: bool,

    /// Show inlined functions as separate rows: slow for programs with debug information
    #[arg(long)]
    pub(crate) inline: bool,

    /// Size of each CPU's ring buffer: pages (a power of two), or a size with a unit, such as 512K
    #[arg(short = 'm', long, value_name = "PAGES", allow_negative_numbers = true)]
    mmap_pages: Option<String>,
}

/// The samples that count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TopWindow {
    /// The most recent samples, of this duration.
    Last(Duration),
    /// Everything since the start.
    All,
}

fn parse_window(text: &str) -> Result<TopWindow, String> {
    match text {
        "all" => Ok(TopWindow::All),
        text => match numbers::seconds(text) {
            Ok(time) => Ok(TopWindow::Last(time)),
            Err(why) => Err(format!("{why}, or all")),
        },
    }
}

fn parse_key(word: &str) -> Result<SortKey, String> {
    let key = SortKey::parse(word.trim());
    let known = key.filter(|key| SortKey::BROWSED.contains(key) || OF_WAITS.contains(key));
    known.ok_or_else(|| "expected one of comm, dso, sym, pid, tid, cpu, cause, state".to_owned())
}

/// Keys of what threads do, where their time is accounted for.
const OF_WAITS: [SortKey; 2] = [
    SortKey::Dimension(Dimension::Cause),
    SortKey::Dimension(Dimension::State),
];

impl TopArgs {
    /// The arguments that `rprof record` would get.
    pub(crate) fn record(self) -> Result<RecordArgs, Error> {
        let record = RecordArgs::augment_args(clap::Command::new("record"));
        let matches = record.try_get_matches_from(["record"])?;
        let mut record = RecordArgs::from_arg_matches(&matches)?;
        record.quiet = self.quiet;
        record.filters = self.filters;
        record.events = self.events;
        record.call_chains.callers = self.callers;
        record.call_chains.call_graph = self.call_graph;
        record.targets = self.targets;
        record.cgroups = self.cgroups;
        record.output.mmap_pages = self.view.mmap_pages;
        record.command = self.command;
        let is_for_all = record.command.is_empty() && !record.has_targets();
        record.targets.all_cpus |= is_for_all;
        Ok(record)
    }
}

impl TopViewArgs {
    /// The keys that group rows.
    pub(crate) fn keys(&self) -> Vec<SortKey> {
        if self.sort.is_empty() {
            SortKey::DEFAULT.to_vec()
        } else {
            self.sort.clone()
        }
    }

    /// Whether there is a key of what threads wait for, and nothing that says it.
    pub(crate) fn lacks_waits(&self) -> bool {
        let is_of_waits = |key| OF_WAITS.contains(key);
        self.account() == Account::OnCpu && self.sort.iter().any(is_of_waits)
    }

    /// Whether rows count total or self.
    pub(crate) fn weighing(&self) -> Weighing {
        if self.no_children {
            Weighing::Own
        } else {
            Weighing::WithChildren
        }
    }

    /// The part of threads' time that is shown.
    pub(crate) fn account(&self) -> Account {
        if self.off_cpu {
            Account::OffCpu
        } else if self.wall {
            Account::Wall
        } else {
            Account::OnCpu
        }
    }

    /// Number of refreshes in the window.
    pub(crate) fn n_parts(&self) -> usize {
        match self.window {
            _ if self.zero => 1,
            TopWindow::All => usize::MAX,
            TopWindow::Last(time) => {
                let parts = time.as_nanos().div_ceil(self.delay.as_nanos().max(1));
                usize::try_from(parts).unwrap_or(usize::MAX).max(1)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::{self, Command};
    use clap::Parser;

    fn top(words: &[&str]) -> Result<TopArgs, Error> {
        match args::Args::try_parse_from([&["rprof", "top"], words].concat())?.command {
            Command::Top(args) => Ok(*args),
            _ => panic!(),
        }
    }

    #[test]
    fn everybody_is_watched_unless_somebody_is_named() {
        let is_for_all = |words: &[&str]| {
            let record = top(words).unwrap().record().unwrap();
            record.targets.all_cpus
        };
        assert!(is_for_all(&[]));
        assert!(is_for_all(&["-a", "-F", "99"]));
        for words in [
            &["-p", "1"][..],
            &["-t", "1"],
            &["-u", "root"],
            &["--name", "x"],
            &["-C", "0"],
            &["-G", "web"],
            &["sleep", "1"],
        ] {
            assert!(!is_for_all(words), "{words:?}");
        }
    }

    #[test]
    fn what_threads_do_is_a_key_where_their_time_is_shown() {
        for keys in ["cause", "state,comm"] {
            let view = |words: &[&str]| top(&[words, &["-s", keys]].concat()).unwrap().view;
            assert!(view(&[]).lacks_waits());
            assert!(!view(&["--off-cpu"]).lacks_waits() && !view(&["--wall"]).lacks_waits());
        }
        assert!(top(&["-s", "waker"]).is_err());
    }

    #[test]
    fn flags_are_those_of_record() {
        let record = top(&[
            "-e",
            "page-faults",
            "-c",
            "5",
            "--call-graph",
            "fp",
            "-m",
            "8",
            "--",
            "x",
        ]);
        let record = record.unwrap().record().unwrap();
        assert_eq!(record.events.events, ["page-faults"]);
        assert_eq!(record.events.period, Some(5));
        assert_eq!(record.call_chains.call_graph, CallGraph::Fp);
        assert_eq!(record.output.mmap_pages.as_deref(), Some("8"));
        assert_eq!(record.command, ["x"]);
    }

    #[test]
    fn a_window_is_of_whole_refreshes() {
        for (words, n_parts) in [
            (&[][..], 5),
            (&["-d", "3"], 4),
            (&["-d", "60"], 1),
            (&["-z"], 1),
            (&["--window", "60"], 30),
            (&["--window", "all"], usize::MAX),
        ] {
            assert_eq!(top(words).unwrap().view.n_parts(), n_parts, "{words:?}");
        }
        for bad in [
            &["--window", "0"][..],
            &["-z", "--window", "5"],
            &["-d", "-1"],
            &["-s", "srcline"],
        ] {
            assert_eq!(top(bad).unwrap_err().exit_code(), 2, "{bad:?}");
        }
    }
}
