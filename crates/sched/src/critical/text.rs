//! A critical path as tables.

use super::{CriticalFunction, CriticalReport};
use crate::task_text;
use rprof_analysis::PathOwner;
use rprof_base::{Counted, Millis, Seconds as Moment, Share};
use rprof_scheduling::{Activity, PathStep};
use std::io::{self, Write};

/// From this part of the path on, that threads wait for CPUs is worth a line.
const MUCH_PERCENT: f64 = 1.0;

pub(super) fn write_shares(
    report: &CriticalReport,
    least: Share,
    out: &mut dyn Write,
) -> io::Result<()> {
    write_head(report, out)?;
    let len_ns = report.path.len_ns();
    let steps = report.path.steps.iter();
    let runnable = steps.filter(|step| step.activity == Activity::Runnable);
    let runnable_ns = runnable.map(PathStep::len_ns).fold(0, u64::saturating_add);
    let share = Share::of(runnable_ns, len_ns);
    if share.percent() >= MUCH_PERCENT {
        writeln!(
            out,
            "# {share:.2}% of the path is waiting for a CPU that another thread has: there, less work that is not on the path \
             may\n# make the program faster, too, and functions may save more than is said here.\n#"
        )?;
    }
    writeln!(
        out,
        "#{:>8} {:>12} {:>8}  {:<17}  Task",
        "Share", "Time (ms)", "Steps", "State"
    )?;
    for row in report.threads() {
        writeln!(
            out,
            " {:>7.2}% {:>12} {:>8}  {:<17}  {}",
            Share::of(row.ns, len_ns),
            Millis(row.ns),
            row.n_steps,
            row.activity.words(),
            task(report, row.tid)
        )?;
    }
    write_functions(report, least, out)
}

/// Widths and parts of the table of functions.
struct FunctionTable<'a> {
    report: &'a CriticalReport,
    len_ns: u64,
    /// Where it is not known who waits for whom, nobody knows what is saved.
    has_saves: bool,
    /// Of the column of images.
    width: usize,
}

/// Shares of a function, in the order of columns.
type Shares = [Share; 6];

fn write_functions(report: &CriticalReport, least: Share, out: &mut dyn Write) -> io::Result<()> {
    let mut table = FunctionTable {
        report,
        len_ns: report.path.len_ns(),
        has_saves: report.path.has_wakers(),
        width: 0,
    };
    let is_shown =
        |[cpu, _, path, ..]: &Shares| *cpu >= least && cpu.percent() > 0.0 || *path >= least;
    let functions = report.functions().iter();
    let all: Vec<_> = functions.map(|one| (one, table.shares(one))).collect();
    let (shown, hidden): (Vec<_>, Vec<_>) =
        all.into_iter().partition(|(_, shares)| is_shown(shares));
    let width = shown.iter().map(|(one, _)| one.image.chars().count()).max();
    table.width = width.unwrap_or(0).max("Shared Object".len());
    table.write_head(out)?;
    let (waits, functions): (Vec<_>, Vec<_>) =
        shown.into_iter().partition(|(one, _)| one.cause.is_some());
    for (function, shares) in functions {
        table.write_row(function, &shares, out)?;
    }
    let unknown_ns = report.unknown_ns();
    if !waits.is_empty() || unknown_ns > 0 {
        writeln!(out, "#\n# What the path waits for, by cause:\n#")?;
    }
    for (cause, shares) in waits {
        table.write_row(cause, &shares, out)?;
    }
    if unknown_ns > 0 {
        table.write_unknown(Share::of(unknown_ns, table.len_ns), out)?;
    }
    if !hidden.is_empty() {
        let is_wait = |(one, _): &&(&CriticalFunction, Shares)| one.cause.is_some();
        let n_waits = hidden.iter().filter(is_wait).count();
        let n_functions = hidden.len() - n_waits;
        let functions = (n_functions, "more function", "more functions");
        let waits = (n_waits, "more cause", "more causes");
        let counts = [functions, waits].into_iter().filter(|(n, ..)| *n > 0);
        let counts = counts.map(|(n, one, many)| Counted::new(n as u64, one, many).to_string());
        let counts: Vec<String> = counts.collect();
        writeln!(
            out,
            "#\n# {} below {:.2}% (--percent-limit 0 shows all)",
            counts.join(" and "),
            least
        )?;
    }
    Ok(())
}

impl FunctionTable<'_> {
    fn shares(&self, one: &CriticalFunction) -> Shares {
        [
            Share::of(one.cpu_ns, self.report.cpu_ns()),
            Share::of(one.wall_ns, self.report.wall_ns()),
            Share::of(one.path_ns, self.len_ns),
            Share::of(one.path_cpu_ns, self.len_ns),
            Share::of(one.path_self_ns, self.len_ns),
            Share::of(one.saves_ns(), self.len_ns),
        ]
    }

    fn write_head(&self, out: &mut dyn Write) -> io::Result<()> {
        writeln!(
            out,
            "#\n# Each function with what it calls: its share of CPU time, of the time of all threads (Wall), and of the path \
             (Path;\n# Run: without waits; Self: without what it calls). The path has {} on CPUs.",
            Counted::new(self.report.n_samples(), "sample", "samples")
        )?;
        writeln!(
            out,
            "# CPU time is measured by context switches: {} ms in all. rprof report estimates it from samples (except with \
             --wall).",
            Millis(self.report.cpu_ns())
        )?;
        if self.report.is_part {
            writeln!(out, "# CPU and Wall are of the whole recording.")?;
        }
        if self.has_saves {
            writeln!(
                out,
                "# Saves: by how much the path would be shorter at most if this took 10 % less time."
            )?;
        }
        writeln!(
            out,
            "#\n#{:>8} {:>8} {:>8} {:>8} {:>8}{}  {:<width$}  Symbol",
            "CPU",
            "Wall",
            "Path",
            "Run",
            "Self",
            self.saves_cell("Saves".to_owned()),
            "Shared Object",
            width = self.width
        )
    }

    fn write_row(
        &self,
        function: &CriticalFunction,
        [cpu, wall, path, run, own, saves]: &Shares,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        writeln!(
            out,
            " {cpu:>7.2}% {wall:>7.2}% {path:>7.2}% {run:>7.2}% {own:>7.2}%{}  {:<width$}  {}",
            self.saves_cell(format!("{saves:.2}%")),
            function.image,
            function.symbol,
            width = self.width
        )
    }

    /// Time of the path of which nothing is recorded.
    fn write_unknown(&self, share: Share, out: &mut dyn Write) -> io::Result<()> {
        writeln!(
            out,
            " {:>8} {:>8} {share:>7.2}% {:>8} {share:>7.2}%{}  {:<width$}  [unknown: not recorded]",
            "",
            "",
            "",
            self.saves_cell(String::new()),
            "",
            width = self.width
        )
    }

    fn saves_cell(&self, text: String) -> String {
        if self.has_saves {
            format!(" {text:>8}")
        } else {
            String::new()
        }
    }
}

pub(super) fn write_steps(report: &CriticalReport, out: &mut dyn Write) -> io::Result<()> {
    write_head(report, out)?;
    writeln!(
        out,
        "#{:>15} {:>12}  {:<17}  Task",
        "From (s)", "Time (ms)", "State"
    )?;
    for step in &report.path.steps {
        writeln!(
            out,
            " {:>15} {:>12}  {:<17}  {}",
            Moment(step.start_ns),
            Millis(step.len_ns()),
            step.activity.words(),
            task(report, step.tid)
        )?;
    }
    Ok(())
}

fn write_head(report: &CriticalReport, out: &mut dyn Write) -> io::Result<()> {
    let range = &report.path.range;
    let whose = match &report.path.of {
        PathOwner::Thread(tid) => format!("path of {}", task(report, *tid)),
        PathOwner::Spans { names, n_spans } => {
            let names: Vec<String> = names.iter().map(ToString::to_string).collect();
            let spans = Counted::new(*n_spans, "span", "spans");
            format!("paths of {spans} ({})", names.join(", "))
        }
    };
    writeln!(
        out,
        "# Critical {whose}: {} ms, from {} to {} s\n#",
        Millis(report.path.len_ns()),
        Moment(range.start),
        Moment(range.end)
    )
}

/// What a thread of the path is called.
fn task(report: &CriticalReport, tid: i32) -> String {
    match report.path.thread(tid) {
        Some(thread) if thread.pid > 0 => task_text(&thread.name, thread.pid, tid),
        Some(thread) => task_text(&thread.name, tid, tid),
        None => tid.to_string(),
    }
}
