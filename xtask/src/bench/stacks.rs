//! Stacks without frame pointers: what recording them costs, and how many are whole.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use super::measure::{self, Cost};
use super::table::{heading, row};
use super::workloads::{Bench, Busy, SAMPLY, compile, deep_source, has_samply};
use crate::command::captured;

/// Seconds of a long recording, and of a short one whose cost is that of starting and ending.
const LONG: u32 = 40;
const SHORT: u32 = 1;
/// Runs of the recorded program, for each recorder.
const RUNS: usize = 9;
/// What it is told to do: some two seconds, of which a recorder's start is a small part.
const ROUNDS: u32 = 8;

/// perf's copies, and ours, which are unwound.
const PERF_8: Recorder = Recorder {
    by: "perf",
    options: &["--call-graph", "dwarf,8192"],
};
const PERF_32: Recorder = Recorder {
    by: "perf",
    options: &["--call-graph", "dwarf,32768"],
};
const PERF_FP: Recorder = Recorder {
    by: "perf",
    options: &["-g"],
};
const RPROF: Recorder = Recorder {
    by: "rprof",
    options: &[],
};

/// samply unwinds copies of stacks, too.
const SAMPLY_RECORD: Recorder = Recorder {
    by: SAMPLY,
    options: &["--save-only"],
};

#[derive(Clone, Copy)]
struct Recorder {
    by: &'static str,
    options: &'static [&'static str],
}

/// What of it is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    All,
    /// The recorder's CPU time a sample.
    Cost,
    /// How much slower the recorded program runs.
    Slowdown,
}

pub(super) fn run(bench: &Bench, part: Part) -> Result<()> {
    heading("stacks without frame pointers");
    let shallow = deep_program(bench, "deep-3k", "64+N")?;
    if part != Part::Slowdown {
        let deep = deep_program(bench, "deep-30k", "448+N")?;
        let small = "64 frames on 4 KB";
        compare(bench, (small, 1), &shallow, "999", PERF_8)?;
        compare(bench, (small, 2), &shallow, "999", PERF_8)?;
        compare(bench, ("64 frames on 30 KB", 2), &deep, "999", PERF_32)?;
        compare(bench, (small, 2), &shallow, "4999", PERF_8)?;
    }
    if part == Part::Cost {
        return Ok(());
    }
    slowdown(bench, &shallow)
}

/// Whether samply is installed, and may record: it looks at the setting alone, also as root.
fn may_samply_record() -> bool {
    const PARANOID: &str = "/proc/sys/kernel/perf_event_paranoid";
    let level = std::fs::read_to_string(PARANOID).unwrap_or_default();
    let may = level.trim().parse::<i32>().is_ok_and(|level| level <= 1);
    if has_samply() && !may {
        println!("samply records only if {PARANOID} is 1 or less");
    }
    has_samply() && may
}

/// The demo's program with more or less on its stack.
fn deep_program(bench: &Bench, name: &str, pad: &str) -> Result<PathBuf> {
    let program = bench.file(name);
    let text = std::fs::read_to_string(deep_source()).context("reading deep.cpp")?;
    let own = bench.file(&format!("{name}.cpp"));
    std::fs::write(&own, text.replace("pad[64+N]", &format!("pad[{pad}]"))).context("writing")?;
    compile("g++", &["-O2"], &own, &program)?;
    Ok(program)
}

/// What one recording came to.
struct Watched {
    cost: Cost,
    samples: u64,
    lost: u64,
    complete: u64,
    bytes: u64,
}

/// Compares the recorders while `n_programs` run.
fn compare(
    bench: &Bench,
    (what, n_programs): (&str, usize),
    program: &Path,
    hz: &str,
    perf: Recorder,
) -> Result<()> {
    let mut all = Vec::new();
    for recorder in [perf, RPROF] {
        let programs = (program, n_programs);
        let long = watch(bench, recorder, programs, hz, LONG)?;
        let short = watch(bench, recorder, programs, hz, SHORT)?;
        all.push((long, short));
    }
    let [theirs, ours] = all.as_slice() else {
        return Ok(());
    };
    let dump = perf.options.last().copied().unwrap_or("");
    let title = format!("{n_programs} x {what}, {hz} Hz, perf {dump}");
    #[expect(clippy::cast_precision_loss, reason = "some hundred thousand samples")]
    let per_sample = |(long, short): &(Watched, Watched)| {
        let samples = long.samples.saturating_sub(short.samples).max(1);
        (long.cost.cpu_s - short.cost.cpu_s).max(0.0) * 1e6 / samples as f64
    };
    let (them, us) = (per_sample(theirs), per_sample(ours));
    let shown = |us: f64, (long, _): &(Watched, Watched)| {
        let memory = long.cost.memory_kib / 1024;
        format!("{us:.1} us / {memory} MB")
    };
    row(
        &format!("{title}: CPU a sample / peak"),
        &shown(them, theirs),
        &shown(us, ours),
        Some(them / us.max(0.01)),
    );
    let shown = |(long, _): &(Watched, Watched)| {
        let bytes = long.bytes / long.samples.max(1);
        let tenths = long.complete * 1000 / long.samples.max(1);
        let share = format!("{}.{} %", tenths / 10, tenths % 10);
        format!("{share}, {} lost, {bytes} B", long.lost)
    };
    row(
        "  complete stacks, samples lost, bytes a sample",
        &shown(theirs),
        &shown(ours),
        None,
    );
    Ok(())
}

fn watch(
    bench: &Bench,
    recorder: Recorder,
    (program, n_programs): (&Path, usize),
    hz: &str,
    seconds: u32,
) -> Result<Watched> {
    let busy = Busy::start(program, "10000", n_programs)?;
    let pids = busy.pids();
    let output = bench.file("stacks.data");
    let options = [&["-F", hz, "-p", &pids], recorder.options].concat();
    let mut command = bench.recorder(recorder.by, &options, &output);
    command.args(["sleep", &seconds.to_string()]);
    let cost = measure::once(&mut command)?;
    drop(busy);
    let mut report = bench.rprof(&["report", "--stats", "-i"]);
    let text = captured(report.arg(&output))?;
    let number = |line: &str, nth: usize| -> u64 {
        let mut words = line.split([' ', ',']).filter(|word| !word.is_empty());
        let word = words.nth(nth).unwrap_or("");
        word.parse().unwrap_or(0)
    };
    let first = text.lines().next().unwrap_or("");
    let lost = first.split(", ").last().unwrap_or("");
    let complete = text.lines().find(|line| line.contains("  complete: "));
    Ok(Watched {
        cost,
        samples: number(first, 1),
        lost: number(lost.trim_start_matches("at least "), 0),
        complete: complete.map_or(0, |line| number(line, 1)),
        bytes: std::fs::metadata(&output).map_or(0, |meta| meta.len()),
    })
}

/// How much slower a program runs while it is recorded at 10 kHz: medians of runs in turn, with
/// the fastest and the slowest.
fn slowdown(bench: &Bench, program: &Path) -> Result<()> {
    let times_file = bench.file("slowdown.txt");
    let timed = format!(
        "TIMEFORMAT=%R; {{ time '{}' {ROUNDS} >/dev/null; }} 2>'{}'",
        program.display(),
        times_file.display()
    );
    let recorders = [None, Some(PERF_FP), Some(PERF_8), Some(RPROF)];
    let samply = may_samply_record().then_some(Some(SAMPLY_RECORD));
    let recorders: Vec<Option<Recorder>> = recorders.into_iter().chain(samply).collect();
    let mut times: Vec<Vec<f64>> = vec![Vec::new(); recorders.len()];
    for _ in 0..RUNS {
        for (recorder, times) in recorders.iter().zip(&mut times) {
            let mut command = match recorder {
                None => Command::new("bash"),
                Some(recorder) => {
                    let output = bench.file("slowdown.data");
                    let rate = if recorder.by == SAMPLY { "-r" } else { "-F" };
                    let options = [&[rate, "10000"], recorder.options].concat();
                    let mut command = bench.recorder(recorder.by, &options, &output);
                    command.arg("bash");
                    command
                }
            };
            measure::once(command.args(["-c", &timed]))?;
            let text = std::fs::read_to_string(&times_file).context("reading the time")?;
            times.push(text.trim().parse().context("bash printed no time")?);
        }
    }
    let mut medians = Vec::new();
    for times in &mut times {
        times.sort_by(f64::total_cmp);
        medians.push((times[RUNS / 2], times[0], times[RUNS - 1]));
    }
    let &[(alone, ..), fp, dwarf, ours, ref samply @ ..] = medians.as_slice() else {
        return Ok(());
    };
    let shown = |(median, least, most): (f64, f64, f64)| {
        let slower = |time: f64| (time / alone - 1.0) * 100.0;
        format!(
            "{:+.1} % ({:+.1} {:+.1})",
            slower(median),
            slower(least),
            slower(most)
        )
    };
    row(
        "slowdown at 10 kHz, perf -g",
        &shown(fp),
        &shown(ours),
        None,
    );
    row(
        "  the same, perf dwarf,8192",
        &shown(dwarf),
        &shown(ours),
        None,
    );
    for &samply in samply {
        row("  the same, samply", &shown(samply), &shown(ours), None);
    }
    Ok(())
}
