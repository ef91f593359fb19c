//! `rprof sched`: threads, and CPUs, with all of their time.

use crate::Error;
use crate::narrow;
use crate::runs::{SchedOptions, SchedQuality, SchedRecording};
use crate::task_text;
use crate::threads::{Accounts, CpuAccount, ThreadAccount};
use rprof_base::{Counted, Millis, Seconds as Moment};
use rprof_locate::Locator;
use rprof_perfdata::Reader;
use rprof_profile::text::Fit;
use rprof_scheduling::SwitchState;
use std::cmp::Reverse;
use std::io::{self, Write};

/// What the table of threads is sorted by, the largest first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SchedSort {
    /// Time on a CPU.
    #[default]
    Run,
    /// Time waiting for a CPU.
    Runnable,
    /// The longest wait for a CPU.
    Max,
    /// Time waiting for something else.
    Blocked,
    /// How often it left a CPU.
    Switches,
}

/// Writes the table of threads, and below it that of CPUs. All times are milliseconds, but for the moment of the longest
/// wait, which is that of the recording's clock in seconds. Where lines must fit into a screen that is too narrow for all
/// columns, those that say most are there.
///
/// # Errors
/// [`Error`] if the recording cannot be read, or has no switches; or of `out`.
pub fn write_table(
    reader: &Reader,
    options: &SchedOptions,
    sort: SchedSort,
    fit: Option<Fit>,
    out: &mut dyn Write,
) -> Result<SchedQuality, Error> {
    let locator = Locator::default();
    let recording = SchedRecording::open(reader, &locator)?;
    let (mut accounts, read) = Accounts::of(&recording, options)?;
    accounts.threads.sort_by_cached_key(|thread| {
        let key = Reverse(sort.key(thread));
        (key, thread.pid, thread.tid)
    });
    let wall_ns = read.times.map_or(0, |times| times.end() - times.start());
    match fit.filter(|fit| fit.columns < narrow::ALL_COLUMNS) {
        Some(fit) => {
            narrow::write_threads(&accounts.threads, wall_ns, fit, out)?;
            if accounts.cpus.is_empty() {
                return Ok(read.quality);
            }
            writeln!(out)?;
            let cpus = accounts.cpus.iter();
            let cpus: Vec<_> = cpus.map(|(cpu, account)| (*cpu, *account)).collect();
            narrow::write_cpus(&cpus, fit, out)?;
        }
        None => {
            write_threads(&accounts.threads, wall_ns, out)?;
            if !accounts.cpus.is_empty() {
                writeln!(out)?;
                write_cpus(&accounts, out)?;
            }
        }
    }
    Ok(read.quality)
}

impl CpuAccount {
    /// The share of its known time in which it was busy.
    pub(crate) fn busy_percent(&self) -> String {
        // Tenths of a percent.
        let known = u128::from(self.busy_ns) + u128::from(self.idle_ns);
        let share = (u128::from(self.busy_ns) * 1000).checked_div(known);
        let share = share.unwrap_or(0);
        format!("{}.{}", share / 10, share % 10)
    }
}

impl SchedSort {
    fn key(self, thread: &ThreadAccount) -> u64 {
        let totals = &thread.totals;
        match self {
            Self::Run => totals.run_ns,
            Self::Runnable => totals.woken.total_ns + totals.preempted.total_ns,
            Self::Max => totals.woken.max_ns.max(totals.preempted.max_ns),
            Self::Blocked => totals.blocked_ns(),
            Self::Switches => totals.n_voluntary + totals.n_involuntary,
        }
    }
}

fn write_threads(threads: &[ThreadAccount], wall_ns: u64, out: &mut dyn Write) -> io::Result<()> {
    writeln!(
        out,
        "# {} in {} s; times in ms, measured by context switches (rprof report estimates CPU time from samples)",
        Counted::new(threads.len() as u64, "thread", "threads"),
        Moment(wall_ns)
    )?;
    writeln!(out, "#")?;
    writeln!(
        out,
        "#{:>10}  {:^59}  {:^35}  {:>9}  {:^25}",
        "", "Runnable (waiting for a CPU)", "Blocked", "", "Switches"
    )?;
    writeln!(
        out,
        "#{:>10}  {:>9} {:>8} {:>8} {:>8} {:>8} {:>13}  {:>11} {:>11} {:>11}  {:>9}  {:>7} {:>8} {:>8}  Task",
        "Run",
        "total",
        "avg",
        "p50",
        "p99",
        "max",
        "max until (s)",
        "sleep (S)",
        "disk (D)",
        "other",
        "Unknown",
        "to wait",
        "forced",
        "CPU moves"
    )?;
    threads
        .iter()
        .try_for_each(|thread| write_thread(thread, out))
}

fn write_thread(thread: &ThreadAccount, out: &mut dyn Write) -> io::Result<()> {
    let ThreadAccount {
        pid,
        tid,
        name,
        totals,
    } = thread;
    let runnable = totals.runnable();
    let state = |state| totals.blocked.get(&state).map_or(0, |one| one.total_ns);
    let sleeping = state(SwitchState::Sleeping);
    let disk = state(SwitchState::Uninterruptible);
    let other = totals.blocked_ns() - sleeping - disk;
    let until = match runnable.max_ns {
        0 => String::new(),
        _ => Moment(runnable.max_end_ns).to_string(),
    };
    write!(
        out,
        " {:>10}  {:>9} {:>8} {:>8} {:>8} {:>8} {until:>13}  {:>11} {:>11} {:>11}  {:>9}",
        Millis(totals.run_ns),
        Millis(runnable.total_ns),
        Millis(runnable.mean_ns()),
        Millis(runnable.percentile_ns(50)),
        Millis(runnable.percentile_ns(99)),
        Millis(runnable.max_ns),
        Millis(sleeping),
        Millis(disk),
        Millis(other),
        Millis(totals.unknown_ns()),
    )?;
    writeln!(
        out,
        "  {:>7} {:>8} {:>8}  {}",
        totals.n_voluntary,
        totals.n_involuntary,
        totals.n_migrations,
        task_text(name, *pid, *tid)
    )
}

fn write_cpus(accounts: &Accounts, out: &mut dyn Write) -> io::Result<()> {
    writeln!(
        out,
        "# {:>3} {:>10} {:>10} {:>6} {:>9}",
        "CPU", "Busy", "Idle", "Busy %", "Switches"
    )?;
    for (cpu, account) in &accounts.cpus {
        let CpuAccount {
            busy_ns,
            idle_ns,
            n_switches,
        } = *account;
        let percent = account.busy_percent();
        writeln!(
            out,
            "{cpu:>5} {:>10} {:>10} {percent:>6} {n_switches:>9}",
            Millis(busy_ns),
            Millis(idle_ns),
        )?;
    }
    Ok(())
}
