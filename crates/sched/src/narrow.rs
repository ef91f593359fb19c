//! Threads on a screen that is too narrow for all columns: task names have most of it.

use crate::task_text;
use crate::threads::ThreadAccount;
use rprof_base::{Millis, Seconds};
use rprof_profile::text::{Fit, at_right};
use std::io::{self, Write};

/// The table of all columns takes as many, with some for the task.
pub(crate) const ALL_COLUMNS: usize = 172;

/// A column: its heading, its width, and what it says.
struct Column {
    heading: &'static str,
    width: usize,
    cell: fn(&ThreadAccount) -> String,
}

/// Those that say most come first.
const COLUMNS: &[Column] = &[
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
];

/// What the first column is preceded by.
const MARGIN: usize = 1;

/// The first columns beside which tasks have most of the screen, at least one.
fn shown(fit: Fit) -> &'static [Column] {
    let room = fit
        .columns
        .saturating_sub(MARGIN + fit.columns.min(60) / 2 + 1);
    let mut taken = 0;
    let fitting = COLUMNS.iter().take_while(|column| {
        taken += column.width + 2;
        taken <= room
    });
    &COLUMNS[..fitting.count().max(1)]
}

/// Writes the table of threads.
pub(crate) fn write_threads(
    threads: &[ThreadAccount],
    wall_ns: u64,
    fit: Fit,
    out: &mut dyn Write,
) -> io::Result<()> {
    let columns = shown(fit);
    let (n, wall) = (threads.len(), Seconds(wall_ns));
    writeln!(out, "# {n} threads in {wall} s; times in ms")?;
    writeln!(out, "# (COLUMNS={ALL_COLUMNS} shows more)\n#")?;
    let mut line = String::from("#");
    for column in columns {
        line += &at_right(column.heading, column.width);
        line += "  ";
    }
    writeln!(out, "{line}Task")?;
    threads.iter().try_for_each(|thread| {
        let mut line = " ".repeat(MARGIN);
        for column in columns {
            line += &at_right(&(column.cell)(thread), column.width);
            line += "  ";
        }
        let task = task_text(&thread.name, thread.pid, thread.tid);
        let task = fit.name(&task, line.len());
        writeln!(out, "{line}{task}")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tasks_have_most_of_a_narrow_screen() {
        for (columns, headings) in [
            (10, &["Run"][..]),
            (40, &["Run"]),
            (60, &["Run", "Runnable"]),
            (80, &["Run", "Runnable", "Blocked", "max wait"]),
        ] {
            let fit = Fit {
                columns,
                ellipsis: "..",
            };
            let shown: Vec<&str> = shown(fit).iter().map(|one| one.heading).collect();
            assert_eq!(shown, headings, "{columns}");
        }
    }
}
