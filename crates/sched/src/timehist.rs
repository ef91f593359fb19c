//! `rprof sched timehist`: a line for each run, with the columns of `perf sched timehist`.
//!
//! Source: tools/perf/builtin-sched.c (v6.1), `timehist_print_sample`.

use crate::Error;
use crate::runs::{RunOfTask, SchedOptions, SchedQuality, SchedRecording};
use crate::task_text;
use rprof_base::{Millis, Seconds as Moment};
use rprof_locate::Locator;
use rprof_perfdata::Reader;
use std::io::{self, Write};

/// Columns of a name, until one is longer.
const NAME_WIDTH: usize = 30;

/// Writes a line for each run, in the order in which they end: how long the thread had been without a CPU, how long of
/// that it was after its wake-up, and how long it ran.
///
/// # Errors
/// [`Error`] if the recording cannot be read, or has no switches; or of `out`.
pub fn write_timehist(
    reader: &Reader,
    options: &SchedOptions,
    out: &mut dyn Write,
) -> Result<SchedQuality, Error> {
    let locator = Locator::default();
    let recording = SchedRecording::open(reader, &locator)?;
    let mut width = NAME_WIDTH;
    let mut written = write_head(out);
    let read = recording.for_each_run(&mut |_| {}, |of_task| {
        let tid = of_task.run.tid;
        let is_shown =
            tid != 0 && (options.filter).accepts_task(of_task.pid, tid, of_task.name.raw());
        if written.is_ok() && is_shown {
            written = write_run(&of_task, &mut width, out);
        }
        written.is_ok()
    })?;
    written?;
    Ok(read.quality)
}

fn write_head(out: &mut dyn Write) -> io::Result<()> {
    let w = NAME_WIDTH;
    writeln!(
        out,
        "{:>15} {:>6}  {:<w$}  {:<9}  {:<9}  {:<9}",
        "time", "cpu", "task name", "wait time", "sch delay", " run time"
    )?;
    writeln!(
        out,
        "{:15} {:6}  {:<w$}  {:>9}  {:>9}  {:>9}",
        "", "", "[tid/pid]", "(msec)", "(msec)", "(msec)"
    )?;
    let dashes = |n| "-".repeat(n);
    writeln!(
        out,
        "{} {}  {}  {}  {}  {}",
        dashes(15),
        dashes(6),
        dashes(w),
        dashes(9),
        dashes(9),
        dashes(9)
    )
}

fn write_run(of_task: &RunOfTask<'_>, width: &mut usize, out: &mut dyn Write) -> io::Result<()> {
    let RunOfTask { run, pid, name, .. } = of_task;
    let name = task_text(name, *pid, run.tid);
    *width = name.len().max(*width);
    let w = *width;
    writeln!(
        out,
        "{:>15} [{:04}]  {name:<w$} {:>10} {:>10} {:>10} ",
        Moment(run.end_ns),
        run.cpu,
        Millis(run.waited_ns()),
        Millis(run.delay_ns()),
        Millis(run.ran_ns()),
    )
}
