//! The arguments of `rprof sched` and its forms.

use super::filters::{parse_names, parse_pid, parse_tid};
use super::{LimitArgs, Recording};
use crate::screen::PagerArgs;
use rprof_profile::{Filter, NameList};
use rprof_sched::SchedSort;

#[derive(Debug, clap::Args)]
#[command(
    after_help = "rprof sched latency [FILE]   shows how long threads waited for a CPU, by name\n\
    rprof sched map [FILE]       shows which thread each CPU runs, switch by switch\n\
    rprof sched timehist [FILE]  shows each run of each thread\n\n\
    Record with:\n  \
    rprof record -a -e sched:sched_switch,sched:sched_waking -- COMMAND (as root)\n  \
    perf sched record -- COMMAND\n  \
    rprof record --off-cpu -- COMMAND (for --by cause)"
)]
pub(crate) struct SchedArgs {
    #[command(flatten)]
    pub(crate) input: SchedInputArgs,

    /// Sort by: run, runnable (waiting for a CPU), max (longest such wait), blocked (other waits) or switches
    #[arg(short = 's', long, value_name = "KEY", default_value = "run", value_parser = parse_sort)]
    pub(crate) sort: SchedSort,

    /// Show what threads wait for by: state (sleep, disk) or cause (futex, pipe, sleep, file I/O, ...: the kernel's
    /// functions in which they wait, as rprof record --off-cpu has them)
    #[arg(long, value_name = "WHAT", default_value = "state", value_parser = parse_by)]
    pub(crate) by: WaitsBy,

    /// Show all columns and do not cut lines to the terminal's width
    #[arg(long)]
    pub(crate) full_names: bool,
}

/// How the table of threads tells waits apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WaitsBy {
    State,
    Cause,
}

#[derive(Debug, clap::Args)]
pub(crate) struct LatencyArgs {
    #[command(flatten)]
    pub(crate) input: SchedInputArgs,
}

#[derive(Debug, clap::Args)]
#[command(
    after_help = "Each CPU is a column with the short name of its thread; '.' is an idle CPU, '*' the CPU that switched. What \
    a short name stands for is shown when it is new, and when the thread is called something else."
)]
pub(crate) struct MapArgs {
    #[command(flatten)]
    pub(crate) input: SchedInputArgs,
}

#[derive(Debug, clap::Args)]
pub(crate) struct TimehistArgs {
    #[command(flatten)]
    pub(crate) input: SchedInputArgs,
}

/// The recording to read, and which of its threads to show.
#[derive(Debug, clap::Args)]
pub(crate) struct SchedInputArgs {
    #[command(flatten)]
    pub(crate) recording: Recording,

    /// Show threads with these names: a comma-separated list; each may be a pattern such as 'kworker/*' or a '/regex/'; a
    /// leading '!' excludes it
    #[arg(short = 'c', long, value_name = "NAMES", value_parser = parse_names)]
    comms: Vec<NameList>,

    /// Show threads of these processes
    #[arg(short = 'p', long, value_name = "PID", value_delimiter = ',', value_parser = parse_pid)]
    pid: Vec<i32>,

    /// Show these threads
    #[arg(short = 't', long, value_name = "TID", value_delimiter = ',', value_parser = parse_tid)]
    tid: Vec<i32>,

    #[command(flatten)]
    pub(crate) limits: LimitArgs,

    #[command(flatten)]
    pub(crate) paging: PagerArgs,
}

impl SchedInputArgs {
    /// Which threads are shown.
    pub(crate) fn filter(&self) -> Filter {
        Filter {
            comms: NameList::of_all(&self.comms),
            pids: self.pid.clone(),
            tids: self.tid.clone(),
            ..Filter::default()
        }
    }
}

fn parse_by(text: &str) -> Result<WaitsBy, String> {
    match text {
        "state" => Ok(WaitsBy::State),
        "cause" => Ok(WaitsBy::Cause),
        _ => Err("expected state or cause".to_owned()),
    }
}

fn parse_sort(text: &str) -> Result<SchedSort, String> {
    match text {
        "run" => Ok(SchedSort::Run),
        "runnable" => Ok(SchedSort::Runnable),
        "max" => Ok(SchedSort::Max),
        "blocked" => Ok(SchedSort::Blocked),
        "switches" => Ok(SchedSort::Switches),
        _ => Err("expected run, runnable, max, blocked or switches".to_owned()),
    }
}
