//! `rprof sched critical`: what the end of a program waited for, thread by thread.

use crate::Error;
use crate::duration::{Millis, Moment};
use crate::runs::{SchedOptions, SchedQuality, SchedRecording};
use crate::task_text;
use foldhash::HashMap;
use rprof_abi::record::Record;
use rprof_abi::{Misc, RecordKind};
use rprof_analysis::command_line;
use rprof_locate::Locator;
use rprof_machine::Key;
use rprof_perfdata::{Reader, Step};
use rprof_scheduling::{Activity, PathStep, RunGraph};
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::io::{self, Write};
use std::ops::Range;

/// What of a critical path is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CriticalForm {
    /// How long each thread is on it, the longest first.
    #[default]
    Shares,
    /// Its steps, in order of time.
    Steps,
}

/// Writes the critical path of the thread that the filter selects: of several the one that ends last. Without a filter,
/// it is the main thread of the recorded command.
///
/// # Errors
/// [`Error`] if the recording cannot be read, or has no switches; if there is no such thread; or of `out`.
pub fn write_critical(
    reader: &Reader,
    options: &SchedOptions,
    form: CriticalForm,
    out: &mut dyn Write,
) -> Result<SchedQuality, Error> {
    let locator = Locator::default();
    let recording = SchedRecording::open(reader, &locator)?;
    let mut graph = RunGraph::default();
    let mut pids: HashMap<i32, i32> = HashMap::default();
    let read = recording.for_each_run(|of_task| {
        if of_task.run.tid != 0 {
            pids.insert(of_task.run.tid, of_task.pid);
            graph.add(of_task.run);
        }
        true
    })?;
    let times = read.times.clone().unwrap_or(0..=0);
    for (tid, open) in read.scheduler.open() {
        graph.add_open(tid, open, *times.end());
    }
    let pid_of = |tid: i32| pids.get(&tid).copied().unwrap_or(tid);
    let task = |tid: i32| task_text(&recording.name(tid, Key::LAST), pid_of(tid), tid);
    let is_asked = |tid: i32| {
        let name = recording.name(tid, Key::LAST);
        (options.filter).accepts_task(pid_of(tid), tid, name.raw())
    };
    let (tid, start_ns) = if options.has_filter() {
        let last = last_of(&graph, is_asked).ok_or(Error::NoSuchThread)?;
        (last, graph.start_ns(last).unwrap_or(*times.start()))
    } else {
        let (tid, start_ns) = command(reader)?.ok_or(Error::WhichThread)?;
        (tid, start_ns.max(*times.start()))
    };
    let range = start_ns..graph.end_ns(tid).ok_or(Error::NoSuchThread)?;
    let path = graph.critical_path(tid, range.clone());
    write_head(&task(tid), &range, out)?;
    match form {
        CriticalForm::Shares => write_shares(&path, task, out)?,
        CriticalForm::Steps => write_steps(&path, task, out)?,
    }
    Ok(read.quality)
}

/// Of some threads, the one that ends last.
fn last_of(graph: &RunGraph, is_asked: impl Fn(i32) -> bool) -> Option<i32> {
    let asked = graph.threads().filter(|&tid| is_asked(tid));
    asked.max_by_key(|&tid| (graph.end_ns(tid), Reverse(tid)))
}

/// The thread that executed the recorded command, and when: with `-a`, other programs are executed, too.
fn command(reader: &Reader) -> Result<Option<(i32, u64)>, Error> {
    let words = command_line(reader);
    let end_of_options = words.iter().position(|word| word == b"--");
    // Without it, any word but the recorder may be the command.
    let words = words.get(end_of_options.unwrap_or(0) + 1..);
    let is_command =
        |comm: &[u8]| words.is_some_and(|words| words.iter().any(|word| comm == comm_of(word)));
    let mut found = None;
    let read = reader.walk(reader.data(), |_, raw| {
        if raw.kind != RecordKind::COMM || !raw.misc.has(Misc::COMM_EXEC) {
            return Step::On;
        }
        let event = reader.event_of(raw).and_then(|at| reader.events().get(at));
        let parsed = event.and_then(|event| Record::parse(raw, &event.layout).ok());
        if let Some((Record::Comm(comm), id)) = parsed
            && is_command(comm.comm)
        {
            found = id.time_ns.map(|time_ns| (comm.tid, time_ns));
        }
        found.map_or(Step::On, |_| Step::Stop)
    });
    read.map_err(rprof_analysis::Error::from)?;
    Ok(found)
}

/// What a process is called that executes a program: its file's name, cut.
fn comm_of(program: &[u8]) -> &[u8] {
    let name = program.rsplit(|&byte| byte == b'/').next();
    let name = name.unwrap_or(program);
    name.get(..MAX_COMM).unwrap_or(name)
}

/// `TASK_COMM_LEN` without the zero byte; include/linux/sched.h.
const MAX_COMM: usize = 15;

fn write_head(task: &str, range: &Range<u64>, out: &mut dyn Write) -> io::Result<()> {
    let Range { start, end } = *range;
    writeln!(
        out,
        "# Critical path of {task}: {} ms, from {} to {} s",
        Millis(end.saturating_sub(start)),
        Moment(start),
        Moment(end)
    )?;
    writeln!(out, "#")
}

/// A row for each thread and activity. They add up to the whole path.
fn write_shares(
    path: &[PathStep],
    task: impl Fn(i32) -> String,
    out: &mut dyn Write,
) -> io::Result<()> {
    let mut rows: BTreeMap<(i32, &str), (u64, u64)> = BTreeMap::new();
    for step in path {
        let row = rows.entry((step.tid, words(step.activity))).or_default();
        *row = (row.0 + step.len_ns(), row.1 + 1);
    }
    let total_ns: u64 = path.iter().map(PathStep::len_ns).sum();
    let mut rows: Vec<_> = rows.into_iter().collect();
    rows.sort_by_key(|&(key, (ns, _))| (Reverse(ns), key));
    writeln!(
        out,
        "#{:>8} {:>12} {:>8}  {:<17}  Task",
        "Share", "Time (ms)", "Steps", "Doing"
    )?;
    for ((tid, doing), (ns, n_steps)) in rows {
        writeln!(
            out,
            " {:>8} {:>12} {n_steps:>8}  {doing:<17}  {}",
            percent(ns, total_ns),
            Millis(ns),
            task(tid)
        )?;
    }
    Ok(())
}

fn write_steps(
    path: &[PathStep],
    task: impl Fn(i32) -> String,
    out: &mut dyn Write,
) -> io::Result<()> {
    writeln!(
        out,
        "#{:>15} {:>12}  {:<17}  Task",
        "From (s)", "Time (ms)", "Doing"
    )?;
    for step in path {
        writeln!(
            out,
            " {:>15} {:>12}  {:<17}  {}",
            Moment(step.start_ns),
            Millis(step.len_ns()),
            words(step.activity),
            task(step.tid)
        )?;
    }
    Ok(())
}

fn words(activity: Activity) -> &'static str {
    match activity {
        Activity::Running => "running",
        Activity::Runnable => "waiting for a CPU",
        Activity::Blocked => "blocked",
        Activity::Unknown => "unknown",
    }
}

/// A share with two digits, cut.
fn percent(part: u64, all: u64) -> String {
    let hundredths = (u128::from(part) * 10_000).checked_div(u128::from(all));
    let hundredths = hundredths.unwrap_or(0);
    format!("{}.{:02}%", hundredths / 100, hundredths % 100)
}
