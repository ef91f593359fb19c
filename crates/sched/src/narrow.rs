//! Threads and CPUs on a screen that is too narrow for all columns: task names have most of it.

use crate::task_text;
use crate::threads::{CpuAccount, ThreadAccount};
use rprof_base::{Counted, Millis, Seconds};
use rprof_profile::text::{Fit, at_right, comment_lines, width};
use rprof_scheduling::SwitchState;
use std::io::{self, Write};

/// Screens of fewer columns have no room for the wide table beside a task's name.
pub(crate) const ALL_COLUMNS: usize = 172;

/// A column of a table whose rows are `R`.
struct Column<R> {
    heading: &'static str,
    width: usize,
    cell: fn(&R) -> String,
}

fn blocked_ns(thread: &ThreadAccount, state: SwitchState) -> u64 {
    let blocked = thread.totals.blocked.get(&state);
    blocked.map_or(0, |one| one.total_ns)
}

/// Those that say most come first.
const COLUMNS: &[Column<ThreadAccount>] = &[
    Column {
        heading: "Run",
        width: 10,
        cell: |thread| Millis(thread.totals.run_ns).to_string(),
    },
    Column {
        heading: "Runnable",
        width: 10,
        cell: |thread| Millis(thread.totals.runnable().total_ns).to_string(),
    },
    Column {
        heading: "Blocked",
        width: 11,
        cell: |thread| Millis(thread.totals.blocked_ns()).to_string(),
    },
    Column {
        heading: "max wait",
        width: 9,
        cell: |thread| Millis(thread.totals.runnable().max_ns).to_string(),
    },
    Column {
        heading: "p99 wait",
        width: 9,
        cell: |thread| Millis(thread.totals.runnable().percentile_ns(99)).to_string(),
    },
    Column {
        heading: "Switches",
        width: 9,
        cell: |thread| (thread.totals.n_voluntary + thread.totals.n_involuntary).to_string(),
    },
    Column {
        heading: "Unknown",
        width: 9,
        cell: |thread| Millis(thread.totals.unknown_ns()).to_string(),
    },
    Column {
        heading: "sleep (S)",
        width: 11,
        cell: |thread| Millis(blocked_ns(thread, SwitchState::Sleeping)).to_string(),
    },
    Column {
        heading: "disk (D)",
        width: 11,
        cell: |thread| Millis(blocked_ns(thread, SwitchState::Uninterruptible)).to_string(),
    },
    Column {
        heading: "CPU moves",
        width: 9,
        cell: |thread| thread.totals.n_migrations.to_string(),
    },
    Column {
        heading: "avg wait",
        width: 9,
        cell: |thread| Millis(thread.totals.runnable().mean_ns()).to_string(),
    },
    Column {
        heading: "p50 wait",
        width: 9,
        cell: |thread| Millis(thread.totals.runnable().percentile_ns(50)).to_string(),
    },
    Column {
        heading: "forced",
        width: 8,
        cell: |thread| thread.totals.n_involuntary.to_string(),
    },
];

/// A CPU and what it did.
type Cpu = (u32, CpuAccount);

const CPU_COLUMNS: &[Column<Cpu>] = &[
    Column {
        heading: "CPU",
        width: 4,
        cell: |(cpu, _)| cpu.to_string(),
    },
    Column {
        heading: "Busy %",
        width: 6,
        cell: |(_, account)| account.busy_percent(),
    },
    Column {
        heading: "Busy",
        width: 10,
        cell: |(_, account)| Millis(account.busy_ns).to_string(),
    },
    Column {
        heading: "Switches",
        width: 9,
        cell: |(_, account)| account.n_switches.to_string(),
    },
    Column {
        heading: "Idle",
        width: 10,
        cell: |(_, account)| Millis(account.idle_ns).to_string(),
    },
];

/// Blanks before the first column, and after each.
const MARGIN: usize = 1;
const GAP: usize = 2;

/// As many of the first columns as there is room for, at least one; `room` is in columns of the screen.
fn fitting<R>(columns: &[Column<R>], room: usize) -> &[Column<R>] {
    let mut taken = MARGIN;
    let fitting = columns.iter().take_while(|column| {
        taken += column.width + GAP;
        taken <= room
    });
    columns.get(..fitting.count().max(1)).unwrap_or(columns)
}

/// Those beside which tasks, the widest of which takes so much, have most of a narrow screen.
fn shown(fit: Fit, widest_task: usize) -> &'static [Column<ThreadAccount>] {
    let task = fit.for_names().min(widest_task.max("Task".len()));
    fitting(COLUMNS, fit.columns.saturating_sub(task))
}

/// Writes which columns have no room.
fn write_hidden<R>(
    all: &[Column<R>],
    shown: &[Column<R>],
    fit: Fit,
    out: &mut dyn Write,
) -> io::Result<()> {
    let hidden = all.iter().skip(shown.len()).map(|column| column.heading);
    let hidden = hidden.collect::<Vec<_>>().join(", ");
    if hidden.is_empty() {
        return Ok(());
    }
    let text = format!("No room for: {hidden} (--full-names shows all)");
    let mut lines = comment_lines(&text, Some(fit)).into_iter();
    lines.try_for_each(|line| writeln!(out, "{line}"))
}

/// Numbers of a row, each with what separates it from the next one.
fn cells<R>(columns: &[Column<R>], row: &R) -> String {
    let cells = columns.iter().map(|column| {
        let cell = at_right(&(column.cell)(row), column.width);
        cell + &" ".repeat(GAP)
    });
    cells.collect()
}

fn headings<R>(columns: &[Column<R>]) -> String {
    let headings = columns.iter().map(|column| {
        let heading = at_right(column.heading, column.width);
        heading + &" ".repeat(GAP)
    });
    headings.collect()
}

/// Writes the table of threads.
pub(crate) fn write_threads(
    threads: &[ThreadAccount],
    wall_ns: u64,
    fit: Fit,
    out: &mut dyn Write,
) -> io::Result<()> {
    let task = |thread: &ThreadAccount| task_text(&thread.name, thread.pid, thread.tid);
    let widest = threads.iter().map(|thread| width(&task(thread))).max();
    let columns = shown(fit, widest.unwrap_or(0));
    let n = Counted::new(threads.len() as u64, "thread", "threads");
    let what = format!("{n} in {} s; times in ms", Seconds(wall_ns));
    let mut lines = comment_lines(&what, Some(fit)).into_iter();
    lines.try_for_each(|line| writeln!(out, "{line}"))?;
    write_hidden(COLUMNS, columns, fit, out)?;
    writeln!(out, "#\n#{}Task", headings(columns))?;
    threads.iter().try_for_each(|thread| {
        let numbers = cells(columns, thread);
        let task = task(thread);
        let task = fit.name(&task, MARGIN + numbers.len());
        writeln!(out, " {numbers}{task}")
    })
}

/// Writes the table of CPUs.
pub(crate) fn write_cpus(cpus: &[Cpu], fit: Fit, out: &mut dyn Write) -> io::Result<()> {
    // No gap is needed behind the last one.
    let columns = fitting(CPU_COLUMNS, fit.columns + GAP);
    write_hidden(CPU_COLUMNS, columns, fit, out)?;
    writeln!(out, "#{}", headings(columns).trim_end())?;
    let mut cpus = cpus.iter();
    cpus.try_for_each(|cpu| writeln!(out, " {}", cells(columns, cpu).trim_end()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fit(columns: usize) -> Fit {
        Fit {
            columns,
            ellipsis: "..",
        }
    }

    #[test]
    fn tasks_have_most_of_a_narrow_screen() {
        for (columns, headings) in [
            (10, &["Run"][..]),
            (40, &["Run"]),
            (60, &["Run", "Runnable"]),
            (80, &["Run", "Runnable", "Blocked"]),
        ] {
            let shown = shown(fit(columns), 200);
            let shown: Vec<&str> = shown.iter().map(|one| one.heading).collect();
            assert_eq!(shown, headings, "{columns}");
        }
    }

    #[test]
    fn columns_are_added_while_they_fit() {
        // Tasks are as wide as names and numbers of most are.
        let n_shown = |columns| shown(fit(columns), 20).len();
        assert!(n_shown(60) < n_shown(100) && n_shown(100) < n_shown(140));
        assert_eq!(n_shown(ALL_COLUMNS - 1), COLUMNS.len());
        for columns in 20..ALL_COLUMNS {
            let shown = shown(fit(columns), 20);
            let taken: usize = shown.iter().map(|column| column.width + GAP).sum();
            assert!(shown.len() == 1 || MARGIN + taken + 20.min(columns / 2) <= columns);
        }
    }

    #[test]
    fn no_line_is_wider_than_the_screen() {
        let account = CpuAccount {
            busy_ns: 3_000_000_000,
            idle_ns: 1_000_000_000,
            n_switches: 123_456,
        };
        let cpus = [(0, account), (127, account)];
        for columns in [40, 44, 60, 80] {
            let mut text = Vec::new();
            write_cpus(&cpus, fit(columns), &mut text).unwrap();
            write_threads(&[], 1_000_000_000, fit(columns), &mut text).unwrap();
            let text = String::from_utf8(text).unwrap();
            let widest = text.lines().map(str::len).max();
            assert!(widest <= Some(columns), "{columns}: {text}");
            assert!(text.contains("Busy %") && text.contains(" 75.0 "), "{text}");
            let hides_idle = text.contains("# No room for: Idle (--full-names");
            assert_eq!(hides_idle, columns < 50, "{text}");
        }
    }
}
