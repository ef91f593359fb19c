//! A fleet, simulated: an hour of many machines at 19 Hz, as tables, and what engines take to answer.
//!
//! Machines are made of one recording of a build. Each has a part of its samples, stretched to an hour, and a name of
//! its own. There are only as many different parts as make up the recording: stacks do not grow with the fleet.

mod queries;

use anyhow::{Context, Result};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::{available_parallelism, scope};
use std::time::Instant;

use super::workloads::Bench;
use crate::command::captured;
use crate::recordings::derive;
use queries::{Engine, Times, Window};

/// How large the largest fleet is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Size {
    pub(super) machines: u64,
    /// Of each machine; 19 a second for an hour, of one CPU.
    pub(super) samples: u64,
}

impl Default for Size {
    fn default() -> Self {
        Self {
            machines: 1000,
            samples: 19 * 3600,
        }
    }
}

/// On paper.
const MANY: f64 = 100_000.0;

/// Days that a small window is one of.
const DAYS: u64 = 30;

/// The recording that all machines are made of.
struct Base {
    recording: PathBuf,
    /// Samples that each machine is to have.
    wanted: u64,
    /// How many different recordings machines have, but for their names.
    parts: u64,
    /// Samples that each machine has.
    samples: u64,
}

impl Base {
    fn open(recording: PathBuf, wanted: u64) -> Result<Self> {
        let said = derive(&[&"parts", &recording, &wanted.to_string()])?;
        let said = said.trim().split_once(' ').context("no parts")?;
        Ok(Self {
            recording,
            wanted,
            parts: said.0.parse()?,
            samples: said.1.parse()?,
        })
    }

    /// Writes the recording of a machine, on a day.
    fn record(&self, machine: u64, day: u64, to: &Path) -> Result<()> {
        let wanted = self.wanted.to_string();
        let (machine, day) = (machine.to_string(), day.to_string());
        derive(&[&"machine", &self.recording, &wanted, &machine, &day, &to]).map(drop)
    }
}

/// What a fleet came to.
struct Measured {
    machines: u64,
    samples: u64,
    bytes: u64,
    write_s: f64,
    /// Different ones: machines share them.
    recordings: u64,
    stacks: String,
    times: Vec<(Engine, Times)>,
}

pub(super) fn run(bench: &Bench, size: Size) -> Result<()> {
    let engines = Engine::found()?;
    let base = Base::open(bench.build_recording("rprof")?, size.samples)?;
    let mut all = Vec::new();
    for part in [100, 10, 1] {
        let machines = size.machines / part;
        if machines > 0 {
            let folder = Fleet::new(bench, &format!("fleet-{machines}"))?;
            all.push(measure(bench, &base, &folder, machines, &engines)?);
        }
    }
    let last = all.last().context("no machines")?;
    growth(&all);
    on_paper(last);
    history(bench, &base, size, &engines)
}

/// A folder with the tables of a fleet, removed in the end.
struct Fleet(PathBuf);

impl Fleet {
    fn new(bench: &Bench, name: &str) -> Result<Self> {
        let folder = bench.file(name);
        if folder.exists() {
            fs::remove_dir_all(&folder).context("removing an older fleet")?;
        }
        fs::create_dir_all(&folder).context("making a folder for a fleet")?;
        Ok(Self(folder))
    }
}

impl Drop for Fleet {
    fn drop(&mut self) {
        // What cannot be removed is in the way of nothing but the disk.
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn measure(
    bench: &Bench,
    base: &Base,
    fleet: &Fleet,
    machines: u64,
    engines: &[Engine],
) -> Result<Measured> {
    let write_s = write(bench, base, fleet, machines, 0..1)?;
    let bytes = bytes_below(&fleet.0)?;
    let mut times = Vec::new();
    for &engine in engines {
        times.push((engine, engine.ask(&fleet.0, &Window::All)?));
    }
    let measured = Measured {
        machines,
        samples: machines * base.samples,
        bytes,
        write_s,
        recordings: base.parts.min(machines),
        stacks: match engines.first() {
            Some(engine) => engine.stacks(&fleet.0)?,
            None => String::new(),
        },
        times,
    };
    report(&measured);
    Ok(measured)
}

/// Recordings that an export takes at a time, as where they are collected: functions are named once for all of them.
const PER_EXPORT: u64 = 20;

/// Writes tables of an hour of each machine on each of these days, by all CPUs; returns the seconds that the exports
/// took, without the making of their recordings.
fn write(
    bench: &Bench,
    base: &Base,
    fleet: &Fleet,
    machines: u64,
    days: std::ops::Range<u64>,
) -> Result<f64> {
    let n_jobs = machines * (days.end - days.start);
    let batch = u64::try_from(n_workers())? * PER_EXPORT;
    let recording = |job: u64| fleet.0.join(format!("{}.data", job % batch));
    let mut exports_s = 0.0;
    let mut first = 0;
    while first < n_jobs {
        let jobs = first..(first + batch).min(n_jobs);
        each(jobs.clone(), &|job| {
            base.record(job % machines, days.start + job / machines, &recording(job))
        })?;
        let began = Instant::now();
        let n_exports = (jobs.end - jobs.start).div_ceil(PER_EXPORT);
        each(0..n_exports, &|number| {
            let first = jobs.start + number * PER_EXPORT;
            let mut export = bench.rprof(&["export", "--format", "parquet", "-o"]);
            export.arg(fleet.0.join("profiles"));
            for job in first..(first + PER_EXPORT).min(jobs.end) {
                export.arg("-i").arg(recording(job));
            }
            captured(&mut export).map(drop)
        })?;
        exports_s += began.elapsed().as_secs_f64();
        for job in jobs.clone() {
            fs::remove_file(recording(job)).context("removing a recording")?;
        }
        first = jobs.end;
    }
    Ok(exports_s)
}

fn n_workers() -> usize {
    available_parallelism().map_or(1, usize::from)
}

/// Does all jobs, as many at a time as there are CPUs.
fn each(jobs: std::ops::Range<u64>, job: &(dyn Fn(u64) -> Result<()> + Sync)) -> Result<()> {
    let next = AtomicU64::new(jobs.start);
    let work = || -> Result<()> {
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            if number >= jobs.end {
                return Ok(());
            }
            job(number)?;
        }
    };
    scope(|scope| {
        let workers: Vec<_> = (0..n_workers()).map(|_| scope.spawn(work)).collect();
        for worker in workers {
            worker.join().ok().context("a worker panicked")??;
        }
        Ok(())
    })
}

fn bytes_below(folder: &Path) -> Result<u64> {
    let mut bytes = 0;
    for entry in fs::read_dir(folder).context("looking at a fleet")? {
        let entry = entry?;
        let meta = entry.metadata()?;
        bytes += if meta.is_dir() {
            bytes_below(&entry.path())?
        } else {
            meta.len()
        };
    }
    Ok(bytes)
}

#[expect(clippy::cast_precision_loss, reason = "figures that are displayed")]
fn ratio(a: u64, b: u64) -> f64 {
    a as f64 / b as f64
}

fn report(measured: &Measured) {
    println!(
        "\n{} machines, {} samples: {:.1} MB, {:.1} bytes a sample; written in {:.1} s by all CPUs",
        measured.machines,
        measured.samples,
        ratio(measured.bytes, 1_000_000),
        ratio(measured.bytes, measured.samples),
        measured.write_s
    );
    println!(
        "  {} different recordings under all names, {} different stacks",
        measured.recordings, measured.stacks
    );
    for (engine, times) in &measured.times {
        let times: Vec<String> = times
            .iter()
            .map(|(query, seconds)| format!("{query} {seconds:.2} s"))
            .collect();
        println!("  {}: {}", engine.name(), times.join(", "));
    }
}

/// How much more each fleet takes than the one before it.
fn growth(all: &[Measured]) {
    for pair in all.windows(2) {
        let [small, large] = pair else { continue };
        println!("\nfrom {} to {} machines:", small.machines, large.machines);
        println!("  bytes x {:.1}", ratio(large.bytes, small.bytes));
        println!("  writing x {:.1}", large.write_s / small.write_s);
        for ((engine, before), (_, after)) in small.times.iter().zip(&large.times) {
            for ((query, before), (_, after)) in before.iter().zip(after) {
                println!("  {}, {query} x {:.1}", engine.name(), after / before);
            }
        }
    }
}

/// What many machines would take, if each took what it takes in the largest fleet.
fn on_paper(measured: &Measured) {
    let times = MANY / ratio(measured.machines, 1);
    println!(
        "\n100,000 machines on paper, each as one of {}:",
        measured.machines
    );
    println!("  {:.0} GB an hour", ratio(measured.bytes, 1) * times / 1e9);
    println!(
        "  {:.0} s to write, on this machine alone",
        measured.write_s * times
    );
    for (engine, queries) in &measured.times {
        for (query, seconds) in queries {
            println!("  {}, {query}: {:.0} s", engine.name(), seconds * times);
        }
    }
}

/// A query of one day, beside one day and beside many.
fn history(bench: &Bench, base: &Base, size: Size, engines: &[Engine]) -> Result<()> {
    let machines = (size.machines / 100).max(1);
    let fleet = Fleet::new(bench, "fleet-history")?;
    println!("\none day of {machines} machines:");
    for days in [0..1, 1..DAYS] {
        write(bench, base, &fleet, machines, days.clone())?;
        let date = first_date(&fleet.0.join("profiles/samples"))?;
        for &engine in engines {
            for window in [Window::Condition(date.clone()), Window::Paths(date.clone())] {
                let times = engine.ask(&fleet.0, &window)?;
                let (query, seconds) = times.first().context("no answer")?;
                let how = window.name();
                println!(
                    "  of {} days, by {how}: {}, {query} {seconds:.2} s",
                    days.end,
                    engine.name()
                );
            }
        }
    }
    Ok(())
}

/// The first day in a table.
fn first_date(table: &Path) -> Result<String> {
    let mut dates = Vec::new();
    for entry in fs::read_dir(table).context("looking at a table")? {
        let name = entry?.file_name().to_string_lossy().into_owned();
        dates.extend(name.strip_prefix("date=").map(str::to_owned));
    }
    dates.sort_unstable();
    let first = dates.into_iter().next();
    first.context("no day in a table: the recording does not say the time of day")
}
