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

fn write_functions(report: &CriticalReport, least: Share, out: &mut dyn Write) -> io::Result<()> {
    let len_ns = report.path.len_ns();
    let has_saves = report.path.has_wakers();
    let shares = |one: &CriticalFunction| {
        [
            Share::of(one.cpu_ns, report.cpu_ns()),
            Share::of(one.wall_ns, report.wall_ns()),
            Share::of(one.path_ns, len_ns),
            Share::of(one.path_self_ns, len_ns),
            Share::of(one.saves_ns(), len_ns),
        ]
    };
    writeln!(
        out,
        "#\n# Each function with what it calls: its share of CPU time, of the time of all threads (Wall), and of the path \
         (Path;\n# Self: without what it calls). The path has {} on CPUs.",
        Counted::new(report.n_samples(), "sample", "samples")
    )?;
    if report.is_part {
        writeln!(out, "# CPU and Wall are of the whole recording.")?;
    }
    if has_saves {
        writeln!(
            out,
            "# Saves: if the function took 10 % less time, the path would be shorter by this at most."
        )?;
    }
    writeln!(out, "#")?;
    let is_shown =
        |[cpu, _, path, ..]: &[Share; 5]| *cpu >= least && cpu.percent() > 0.0 || *path >= least;
    let all: Vec<_> = report
        .functions()
        .iter()
        .map(|one| (one, shares(one)))
        .collect();
    let (shown, hidden): (Vec<_>, Vec<_>) =
        all.into_iter().partition(|(_, shares)| is_shown(shares));
    let width = shown.iter().map(|(one, _)| one.image.chars().count()).max();
    let width = width.unwrap_or(0).max("Shared Object".len());
    // Where it is not known who waits for whom, nobody knows what is saved.
    let saves_cell = |text: String| {
        if has_saves {
            format!(" {text:>8}")
        } else {
            String::new()
        }
    };
    writeln!(
        out,
        "#{:>8} {:>8} {:>8} {:>8}{}  {:<width$}  Symbol",
        "CPU",
        "Wall",
        "Path",
        "Self",
        saves_cell("Saves".to_owned()),
        "Shared Object"
    )?;
    for (function, [cpu, wall, path, own, saves]) in shown {
        writeln!(
            out,
            " {cpu:>7.2}% {wall:>7.2}% {path:>7.2}% {own:>7.2}%{}  {:<width$}  {}",
            saves_cell(format!("{saves:.2}%")),
            function.image,
            function.symbol
        )?;
    }
    let unknown_ns = report.unknown_ns();
    if unknown_ns > 0 {
        let share = Share::of(unknown_ns, len_ns);
        writeln!(
            out,
            " {:>8} {:>8} {share:>7.2}% {share:>7.2}%{}  {:<width$}  [unknown: not recorded]",
            "",
            "",
            saves_cell(String::new()),
            ""
        )?;
    }
    if !hidden.is_empty() {
        writeln!(
            out,
            "#\n# {} below {:.2}% (--percent-limit 0 shows all)",
            Counted::new(hidden.len() as u64, "more function", "more functions"),
            least
        )?;
    }
    Ok(())
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
