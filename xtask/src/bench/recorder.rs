//! Recording: start-up, the recorder's own CPU time, losses.

use anyhow::{Context, Result};

use super::measure;
use super::table::{compare, heading, row};
use super::workloads::{Bench, Busy, compile, deep_source};
use crate::command::captured;

const RUNS: usize = 9;
/// Seconds of a long recording, and of a short one whose cost is that of starting and ending.
const LONG: u32 = 20;
const SHORT: u32 = 1;

pub(super) fn run(bench: &Bench) -> Result<()> {
    heading("recording");
    start_up(bench)?;
    for hz in ["999", "4999", "20000"] {
        own_cpu(bench, hz)?;
    }
    Ok(())
}

fn start_up(bench: &Bench) -> Result<()> {
    let output = bench.file("true.data");
    let start_up = |by, options| {
        measure::median(RUNS, || {
            let mut recorder = bench.recorder(by, options, &output);
            recorder.arg("true");
            recorder
        })
    };
    let ours = start_up("rprof", &[])?;
    for (what, options) in [
        ("record -- true: wall / peak memory", &[][..]),
        ("the same, perf with --no-bpf-event", &["--no-bpf-event"]),
    ] {
        let theirs = start_up("perf", options)?;
        compare(what, theirs, ours);
    }
    Ok(())
}

/// CPU time per sample of a recorder that watches busy CPUs: that of a long recording less that
/// of a short one, by the samples between.
fn own_cpu(bench: &Bench, hz: &str) -> Result<()> {
    let mut texts = Vec::new();
    let mut costs = Vec::new();
    for by in ["perf", "rprof"] {
        let long = watch(bench, by, hz, LONG)?;
        let short = watch(bench, by, hz, SHORT)?;
        let samples = long.samples.saturating_sub(short.samples).max(1);
        #[expect(clippy::cast_precision_loss, reason = "some hundred thousand samples")]
        let per_sample = (long.cpu_s - short.cpu_s).max(0.0) * 1e6 / samples as f64;
        texts.push(format!("{per_sample:.2} us, {} lost", long.lost));
        costs.push(per_sample);
    }
    let what = format!("own CPU per sample at {hz} Hz, all CPUs busy");
    let ratio = match costs.as_slice() {
        [perf, rprof] if *rprof > 0.0 => Some(perf / rprof),
        _ => None,
    };
    row(
        &what,
        texts.first().map_or("", |text| text),
        texts.get(1).map_or("", |text| text),
        ratio,
    );
    Ok(())
}

struct Watched {
    cpu_s: f64,
    samples: u64,
    /// As the report says it: of all CPUs it may be "at most N".
    lost: String,
}

/// Records busy CPUs for some seconds. The recorder's command only sleeps, so the time is its own.
fn watch(bench: &Bench, by: &str, hz: &str, seconds: u32) -> Result<Watched> {
    let busy = busy_cpus(bench)?;
    let output = bench.file("watch.data");
    let mut recorder = bench.recorder(by, &["-a", "--call-graph", "fp", "-F", hz], &output);
    recorder.args(["sleep", &seconds.to_string()]);
    let cost = measure::once(&mut recorder)?;
    drop(busy);
    let mut report = bench.rprof(&["report", "--no-children", "-g", "none", "-i"]);
    let text = captured(report.arg(&output))?;
    let (samples, lost) = counts(&text).context("the report does not say how many samples")?;
    Ok(Watched {
        cpu_s: cost.cpu_s,
        samples,
        lost,
    })
}

/// Samples of a report, and those that were lost.
fn counts(table: &str) -> Option<(u64, String)> {
    let after = |heading: &str| table.lines().find_map(|line| line.strip_prefix(heading));
    let samples = after("# Samples: ")?.split(' ').next()?.parse().ok()?;
    Some((samples, after("# Total Lost Samples: ")?.to_owned()))
}

/// A program with deep stacks and frame pointers on every CPU.
pub(super) fn busy_cpus(bench: &Bench) -> Result<Busy> {
    let program = bench.file("deep-fp");
    if !program.exists() {
        let flags = ["-O2", "-fno-omit-frame-pointer"];
        compile("g++", &flags, &deep_source(), &program)?;
    }
    let cpus = std::thread::available_parallelism().map_or(1, usize::from);
    Busy::start(&program, "1000", cpus)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lost_samples_are_told_as_the_report_tells_them() {
        let table = "# Total Lost Samples: at most 5\n#\n# Samples: 12 of event 'cpu-clock'\n";
        assert_eq!(counts(table), Some((12, "at most 5".to_owned())));
        assert_eq!(counts("no report"), None);
    }
}
