//! Calls by thread and number, as perf trace -s has them.

use crate::line::write_name;
use crate::narrow::{NumberColumn, ShownColumns};
use crate::rounded::RoundedMillis;
use crate::stacks::CallStackId;
use crate::threads::{CallingThread, CallsOfKind};
use crate::traced::TracedCalls;
use rprof_base::{Counted, Seconds};
use rprof_profile::text::{Fit, comment_lines};
use rprof_syscalls::SyscallId;
use rprof_untrusted::printable;
use std::cmp::Reverse;
use std::io::{self, Write};

/// Stacks of a call that are shown.
const MOST_STACKS: usize = 5;

/// Stands for what has no room.
const OTHERS: &str = "[others]";

/// Writes a table for each thread that calls, the one with the most calls first. Of calls, those that took longest
/// together are first.
pub(crate) fn write_summary(
    traced: &TracedCalls,
    fit: Option<Fit>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let threads = traced.threads.all.iter();
    let mut threads: Vec<_> = threads.map(|one| (one.n_calls(), one)).collect();
    threads.retain(|((n, _), _)| *n > 0);
    threads.sort_by_key(|&((n, _), one)| (Reverse(n), one.task.is_none(), one.task));
    let n_all = threads.iter().map(|((n, _), _)| n).sum();
    let n_threads = threads.len() as u64;
    let heading = format!(
        "{} of {} in {} s; times in ms",
        Counted::new(n_all, "system call", "system calls"),
        Counted::new(n_threads, "thread", "threads"),
        Seconds(traced.len_ns())
    );
    let mut lines = comment_lines(&heading, fit).into_iter();
    lines.try_for_each(|line| writeln!(out, "{line}"))?;
    let table = CallTable::new(traced, fit);
    table.columns.write_hidden(fit, out)?;
    threads.iter().try_for_each(|&((n, n_errors), thread)| {
        let task = task(traced, thread);
        let share = percent(n, n_all);
        let calls = Counted::new(n, "call", "calls");
        let errors = Counted::new(n_errors, "error", "errors");
        writeln!(out, "\n {task}, {calls}, {errors}, {share}\n")?;
        table.write_thread(thread, out)
    })
}

/// A thread as `sched` has it: `name[tid]`, or `name[tid/pid]`.
fn task(traced: &TracedCalls, thread: &CallingThread) -> String {
    let Some((pid, tid)) = thread.task else {
        return OTHERS.to_owned();
    };
    let comm = traced.comms.get(thread.comm).map(String::as_str);
    let comm = printable(comm.unwrap_or_default());
    if pid == tid {
        format!("{comm}[{tid}]")
    } else {
        format!("{comm}[{tid}/{pid}]")
    }
}

/// Columns of names where lines do not end.
const NAME: usize = 24;

/// What precedes names.
const INDENT: usize = 3;

const COLUMNS: &[NumberColumn] = &[
    NumberColumn::new("calls", 9, 1),
    NumberColumn::new("errors", 8, 2),
    NumberColumn::new("unfinished", 10, 6),
    NumberColumn::new("total", 12, 0),
    NumberColumn::new("avg", 10, 4),
    NumberColumn::new("p99", 10, 5),
    NumberColumn::new("max", 10, 3),
];

/// How the tables of all threads are written.
struct CallTable<'a> {
    traced: &'a TracedCalls,
    fit: Option<Fit>,
    columns: ShownColumns,
    /// Columns of names.
    name: usize,
}

impl<'a> CallTable<'a> {
    fn new(traced: &'a TracedCalls, fit: Option<Fit>) -> Self {
        let name = match fit {
            None => NAME,
            Some(fit) => {
                let calls = traced.threads.all.iter().flat_map(|one| one.calls.keys());
                let widest = calls.map(|&id| name(traced, id).len()).max().unwrap_or(0);
                widest.max("syscall".len()).min(fit.for_names()).min(NAME)
            }
        };
        Self {
            traced,
            fit,
            columns: ShownColumns::beside(INDENT + name, COLUMNS, fit),
            name,
        }
    }

    fn write_thread(&self, thread: &CallingThread, out: &mut dyn Write) -> io::Result<()> {
        let Self {
            traced,
            fit,
            columns,
            name: width,
        } = self;
        writeln!(out, "   {:<width$}{}", "syscall", columns.headings())?;
        writeln!(out, "   {}{}", "-".repeat(*width), columns.rules())?;
        let mut rows: Vec<(String, Option<SyscallId>, &CallsOfKind)> = thread
            .calls
            .iter()
            .map(|(&id, kind)| (name(traced, id), id, kind))
            .collect();
        rows.sort_by(|a, b| {
            let key = |kind: &CallsOfKind| Reverse((kind.totals.times.total_ns, kind.totals.n()));
            let by_sums = key(a.2).cmp(&key(b.2));
            by_sums.then_with(|| (&a.0, a.1).cmp(&(&b.0, b.1)))
        });
        rows.iter().try_for_each(|(name, _, kind)| {
            let totals = &kind.totals;
            let times = &totals.times;
            let cells = columns.cells([
                totals.n_returned.to_string(),
                totals.n_errors.to_string(),
                totals.n_unfinished.to_string(),
                RoundedMillis(times.total_ns).to_string(),
                RoundedMillis(times.mean_ns()).to_string(),
                RoundedMillis(times.percentile_ns(99)).to_string(),
                RoundedMillis(times.max_ns).to_string(),
            ]);
            let name = fit.map_or(name.into(), |fit| fit.cut(name, *width));
            writeln!(out, "   {name:<width$}{cells}")?;
            write_stacks(traced, kind, out)
        })
    }
}

fn name(traced: &TracedCalls, id: Option<SyscallId>) -> String {
    let mut name = String::new();
    match id {
        Some(id) => write_name(traced, id, &mut name),
        None => name.push_str(OTHERS),
    }
    name
}

/// Writes from where calls come, those that took longest together first.
fn write_stacks(traced: &TracedCalls, kind: &CallsOfKind, out: &mut dyn Write) -> io::Result<()> {
    let mut stacks: Vec<(Option<CallStackId>, (u64, u64))> = kind
        .stacks
        .iter()
        .map(|(&stack, &sums)| (stack, sums))
        .collect();
    stacks.sort_by_key(|&(stack, (n, total_ns))| (Reverse((total_ns, n)), stack));
    for &(stack, (n, total_ns)) in stacks.iter().take(MOST_STACKS) {
        let calls = Counted::new(n, "call", "calls");
        writeln!(out, "      {calls}, {} ms", RoundedMillis(total_ns))?;
        let Some(stack) = stack else {
            writeln!(out, "            {OTHERS}")?;
            continue;
        };
        for function in traced.stacks.functions(stack) {
            writeln!(out, "            {function}")?;
        }
    }
    let n_more = stacks.len().saturating_sub(MOST_STACKS);
    if n_more > 0 {
        let more = Counted::new(n_more as u64, "more stack", "more stacks");
        writeln!(out, "      {more}")?;
    }
    Ok(())
}

/// A share with a digit, cut.
fn percent(part: u64, all: u64) -> String {
    let tenths = (u128::from(part) * 1000).checked_div(u128::from(all));
    let tenths = tenths.unwrap_or(0);
    format!("{}.{}%", tenths / 10, tenths % 10)
}
