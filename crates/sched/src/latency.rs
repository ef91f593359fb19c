//! `rprof sched latency`: how long threads waited for a CPU, in the format of `perf sched latency`.
//!
//! Source: tools/perf/builtin-sched.c (v6.1), `output_lat_thread` and what leads to it.

use crate::Error;
use crate::runs::{SchedOptions, SchedQuality, SchedRecording, Stopped};
use foldhash::HashMap;
use rprof_base::Seconds as Moment;
use rprof_locate::Locator;
use rprof_machine::Key;
use rprof_perfdata::Reader;
use rprof_scheduling::{SwitchState, Wait, WakeUp};
use std::cell::RefCell;
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::io::{self, Write};

/// Waits for a CPU of one thread, or of all threads of one name; nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Latency {
    n_threads: u64,
    /// One of them.
    tid: i32,
    run_ns: u64,
    n: u64,
    total_ns: u64,
    max_ns: u64,
    max_start_ns: u64,
}

/// Writes a row for each name of threads: time on a CPU, number of waits for one, their mean, and the longest with the
/// moments of its beginning and end. The longest mean is first.
///
/// # Errors
/// [`Error`] if the recording cannot be read, or has no switches; or of `out`.
pub fn write_latency(
    reader: &Reader,
    options: &SchedOptions,
    out: &mut dyn Write,
) -> Result<SchedQuality, Error> {
    let locator = Locator::default();
    let recording = SchedRecording::open(reader, &locator)?;
    let threads: RefCell<HashMap<i32, Latency>> = RefCell::default();
    let mut pids: HashMap<i32, i32> = HashMap::default();
    let mut pause = |paused: &Stopped<'_>| add_what_is_open(&mut threads.borrow_mut(), paused);
    let read = recording.for_each_run(&mut pause, |of_task| {
        let run = &of_task.run;
        if run.tid != 0 {
            pids.insert(run.tid, of_task.pid);
            let mut threads = threads.borrow_mut();
            let thread = threads.entry(run.tid).or_default();
            thread.run_ns += run.ran_ns();
            if let Some(start_ns) = run.start_ns.filter(|_| !run.is_wait_lost) {
                thread.add(run.wait, run.woken, start_ns);
            }
        }
        true
    })?;
    let mut threads = threads.into_inner();
    add_what_is_open(&mut threads, &read.end());
    // If the kernel has counted how long threads ran, that is taken, as perf does.
    if let Some(run_times) = &read.run_times {
        for (tid, thread) in &mut threads {
            thread.run_ns = run_times.get(tid).copied().unwrap_or(0);
        }
    }
    let mut names: BTreeMap<String, Latency> = BTreeMap::new();
    for (tid, thread) in threads {
        let name = recording.name(tid, Key::LAST);
        let pid = pids.get(&tid).copied().unwrap_or(tid);
        if options.filter.accepts_task(pid, tid, name.raw()) {
            let sum = names.entry(name.to_string()).or_default();
            sum.merge(&Latency { tid, ..thread });
        }
    }
    write(names, out)?;
    Ok(read.quality)
}

/// Adds the waits that ended with runs which had not ended yet, and these runs up to that moment.
fn add_what_is_open(threads: &mut HashMap<i32, Latency>, stopped: &Stopped<'_>) {
    for (tid, open) in stopped.open() {
        let thread = threads.entry(tid).or_default();
        if let Some(start_ns) = open.start_ns {
            if !open.is_wait_lost {
                thread.add(open.wait, open.woken, start_ns);
            }
            thread.run_ns += open.ran_ns(stopped.at_ns);
        }
    }
}

impl Latency {
    /// Adds the wait before a run. Of what was never seen before, perf counts one that took no time.
    fn add(&mut self, wait: Option<Wait>, woken: Option<WakeUp>, start_ns: u64) {
        let since = match (wait, woken) {
            (Some(wait), _) if wait.state == SwitchState::Runnable => wait.start_ns,
            (_, Some(woken)) => woken.time_ns,
            (None, None) => start_ns,
            (Some(_), None) => return,
        };
        let ns = start_ns.saturating_sub(since);
        self.n += 1;
        self.total_ns += ns;
        if ns > self.max_ns {
            (self.max_ns, self.max_start_ns) = (ns, since);
        }
    }

    fn merge(&mut self, other: &Self) {
        self.n_threads += 1;
        self.tid = other.tid;
        self.run_ns += other.run_ns;
        self.n += other.n;
        self.total_ns += other.total_ns;
        if other.max_ns > self.max_ns {
            (self.max_ns, self.max_start_ns) = (other.max_ns, other.max_start_ns);
        }
    }

    fn mean_ns(&self) -> u64 {
        self.total_ns.checked_div(self.n).unwrap_or(0)
    }
}

fn write(names: BTreeMap<String, Latency>, out: &mut dyn Write) -> io::Result<()> {
    let mut rows: Vec<(String, Latency)> = names.into_iter().filter(|(_, row)| row.n > 0).collect();
    rows.sort_by_key(|(_, row)| Reverse((row.mean_ns(), row.max_ns, row.n, row.run_ns)));
    let line = "-".repeat(139);
    writeln!(out, "\n {line}")?;
    writeln!(
        out,
        "  Task                  |   Runtime ms  | Switches | Avg delay ms    | Max delay ms    | Max delay start           | \
         Max delay end          |"
    )?;
    writeln!(out, " {line}")?;
    for (name, row) in &rows {
        let task = match row.n_threads {
            1 => format!("  {name}:{} ", row.tid),
            n => format!("  {name}:({n}) "),
        };
        writeln!(
            out,
            "{task:<24}|{:>11} ms |{:>9} | avg:{:>8} ms | max:{:>8} ms | max start: {:>12} s | max end: {:>12} s",
            millis(row.run_ns),
            row.n,
            millis(row.mean_ns()),
            millis(row.max_ns),
            Moment(row.max_start_ns).to_string(),
            Moment(row.max_start_ns + row.max_ns).to_string(),
        )?;
    }
    let all = |part: fn(&Latency) -> u64| rows.iter().map(|(_, row)| part(row)).sum::<u64>();
    let (run_ns, n) = (all(|row| row.run_ns), all(|row| row.n));
    writeln!(out, " {}", "-".repeat(113))?;
    writeln!(
        out,
        "  TOTAL:                |{:>11} ms |{n:>9} |",
        millis(run_ns)
    )?;
    writeln!(out, " {}\n", "-".repeat(51))
}

/// Milliseconds with three digits, rounded.
fn millis(ns: u64) -> String {
    let micros = (ns + 500) / 1000;
    format!("{}.{:03}", micros / 1000, micros % 1000)
}
