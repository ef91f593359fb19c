//! The table of locks.

use crate::lock::LockReading;
use crate::lock::follower::{LockId, Who};
use crate::lock::kind::is_waiter;
use crate::lock::totals::{OTHER_LOCKS, Side, WaitsForLock};
use crate::narrow::{NumberColumn, ShownColumns};
use crate::stacks::CallStackId;
use foldhash::HashMap;
use rprof_base::{Counted, Millis};
use rprof_profile::text::Fit;
use rprof_untrusted::printable;
use std::cmp::Reverse;
use std::io::{self, Write};

/// What is written of locks.
#[derive(Clone, Copy, Debug, Default)]
pub struct LockOptions {
    /// What is first.
    pub sort: LockSort,
    /// Whether the stacks of who waited and who released are written.
    pub stacks: bool,
    /// Where lines end.
    pub fit: Option<Fit>,
}

/// What locks are sorted by, the largest first; perf's words.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LockSort {
    /// How long all waits took.
    #[default]
    WaitTotal,
    /// How many waits there were.
    Contended,
    /// The longest wait.
    WaitMax,
    /// The mean of all waits.
    AvgWait,
}

/// Threads of each side that are shown, and stacks of each.
const MOST_THREADS: usize = 5;
const MOST_STACKS: usize = 3;

/// Writes a row for each lock, and below it who waited and who let them wait.
pub(crate) fn write_table(
    reading: &LockReading,
    options: &LockOptions,
    out: &mut dyn Write,
) -> io::Result<()> {
    let mut locks: Vec<_> = reading.locks.all.iter().collect();
    locks.sort_by_key(|&(lock, waits)| (Reverse(options.sort.key(waits)), *lock));
    let n_waits: u64 = locks.iter().map(|(_, waits)| waits.times.n).sum();
    let waits = Counted::new(n_waits, "wait", "waits");
    let n_locks = Counted::new(locks.len() as u64, "lock", "locks");
    writeln!(out, "# {waits} for {n_locks}; times in ms")?;
    let fit = options.fit;
    let columns = ShownColumns::beside(fit.map_or(0, Fit::for_names), COLUMNS, fit);
    columns.write_hidden(fit, out)?;
    writeln!(out, "#")?;
    let headings = columns.headings();
    let headings = headings.get(1..).unwrap_or_default();
    let names = names_of(&columns, fit, ["Type", "Lock", "Caller"]);
    writeln!(out, "#{headings}  {names}")?;
    locks
        .iter()
        .try_for_each(|&(lock, waits)| write_lock(reading, (options, &columns), (lock, waits), out))
}

const COLUMNS: &[NumberColumn] = &[
    NumberColumn::new("Contended", 10, 1),
    NumberColumn::new("Total wait", 12, 0),
    NumberColumn::new("Avg wait", 10, 3),
    NumberColumn::new("p99", 10, 4),
    NumberColumn::new("Max wait", 10, 2),
    NumberColumn::new("Threads", 8, 5),
];

/// A lock's kind, its name and who called what waits, as far as there is room.
fn names_of(columns: &ShownColumns, fit: Option<Fit>, [kind, name, caller]: [&str; 3]) -> String {
    let text = format!("{kind:<11} {name:<20} {caller}");
    match fit {
        Some(fit) => fit
            .name(text.trim_end(), columns.headings().len() + 2)
            .into_owned(),
        None => text,
    }
}

impl LockSort {
    fn key(self, waits: &WaitsForLock) -> u64 {
        let times = &waits.times;
        match self {
            Self::WaitTotal => times.total_ns,
            Self::Contended => times.n,
            Self::WaitMax => times.max_ns,
            Self::AvgWait => times.mean_ns(),
        }
    }
}

fn write_lock(
    reading: &LockReading,
    (options, columns): (&LockOptions, &ShownColumns),
    (lock, waits): (&LockId, &WaitsForLock),
    out: &mut dyn Write,
) -> io::Result<()> {
    let times = &waits.times;
    let (kind, name) = if *lock == OTHER_LOCKS {
        ("", "[others]".to_owned())
    } else {
        let name = reading.names.get(lock).cloned();
        let name = name.unwrap_or_else(|| format!("{:#x}", lock.address));
        (lock.kind.name(), name)
    };
    let cells = columns.cells([
        times.n.to_string(),
        Millis(times.total_ns).to_string(),
        Millis(times.mean_ns()).to_string(),
        Millis(times.percentile_ns(99)).to_string(),
        Millis(times.max_ns).to_string(),
        waits.waiters.len().to_string(),
    ]);
    let caller = caller(reading, waits);
    let names = names_of(columns, options.fit, [kind, &name, &caller]);
    writeln!(out, "{cells}  {names}")?;
    let waiters = waits.waiters.iter().map(|(who, side)| (Some(*who), side));
    write_side(reading, options, ("waited", waiters.collect()), out)?;
    let holders = waits.holders.iter().map(|(who, side)| (*who, side));
    write_side(reading, options, ("released by", holders.collect()), out)
}

/// Who called what waits, in the stack of those that waited longest.
fn caller(reading: &LockReading, waits: &WaitsForLock) -> String {
    let stacks = sorted(&waits.stacks);
    let Some(&(stack, _)) = stacks.first() else {
        return String::new();
    };
    let mut functions = reading.stacks.functions(stack);
    let caller = functions.find(|name| !is_waiter(name.raw()));
    let caller = caller.or_else(|| reading.stacks.functions(stack).next());
    caller.map_or_else(String::new, |name| name.to_string())
}

fn write_side(
    reading: &LockReading,
    options: &LockOptions,
    (what, mut side): (&str, Vec<(Option<Who>, &Side)>),
    out: &mut dyn Write,
) -> io::Result<()> {
    side.sort_by_key(|&(who, side)| (Reverse((side.total_ns, side.n)), who));
    for &(who, side) in side.iter().take(MOST_THREADS) {
        let task = who.map_or_else(|| "[unknown]".to_owned(), |who| task(reading, who));
        let times = Counted::new(side.n, "time", "times");
        writeln!(
            out,
            "{:>14}{what} {task}: {times}, {} ms",
            "",
            Millis(side.total_ns)
        )?;
        if options.stacks {
            for &(stack, _) in sorted(&side.stacks).iter().take(MOST_STACKS) {
                for function in reading.stacks.functions(stack) {
                    writeln!(out, "{:>20}{function}", "")?;
                }
                writeln!(out)?;
            }
        }
    }
    let n_more = side.len().saturating_sub(MOST_THREADS);
    if n_more > 0 {
        let more = Counted::new(n_more as u64, "more thread", "more threads");
        writeln!(out, "{:>14}{what}: {more}", "")?;
    }
    Ok(())
}

/// Stacks, those that took longest first.
fn sorted(stacks: &HashMap<CallStackId, (u64, u64)>) -> Vec<(CallStackId, (u64, u64))> {
    let mut all: Vec<_> = stacks.iter().map(|(&stack, &sums)| (stack, sums)).collect();
    all.sort_by_key(|&(stack, (n, total_ns))| (Reverse((total_ns, n)), stack));
    all
}

/// A thread as `sched` has it.
fn task(reading: &LockReading, who: Who) -> String {
    let comm = reading.comms.get(who.comm).map(String::as_str);
    let comm = printable(comm.unwrap_or_default());
    let Who { pid, tid, .. } = who;
    if pid == tid {
        format!("{comm}[{tid}]")
    } else {
        format!("{comm}[{tid}/{pid}]")
    }
}
