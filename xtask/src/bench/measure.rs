//! Wall time, CPU time and peak memory of a command.

use std::path::Path;
use std::process::Command;
use std::time::Instant;

use anyhow::{Context, Result, ensure};

use crate::command::shown;

/// GNU's: the shell's own knows no memory.
pub(super) const TIME: &str = "/usr/bin/time";

/// What one run took.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Cost {
    /// Seconds.
    pub(super) wall_s: f64,
    /// Seconds of CPU, user and system, of the command and all that it waited for.
    pub(super) cpu_s: f64,
    /// KiB, peak.
    pub(super) memory_kib: u64,
}

impl Cost {
    /// `0.42 s / 90 MB`.
    pub(super) fn text(self) -> String {
        format!("{:.3} s / {} MB", self.wall_s, self.memory_kib / 1024)
    }
}

/// Runs a command, its output thrown away. It has to end well: what fails at once is fast.
///
/// CPU time is bash's (milliseconds), memory that of GNU time, wall time our own clock.
pub(super) fn once(command: &mut Command) -> Result<Cost> {
    let numbers = std::env::temp_dir().join(format!("rprof-bench-{}", std::process::id()));
    let script = "TIMEFORMAT='%3U %3S'; \
        { time /usr/bin/time -q -f %M -o \"$0.memory\" \"$@\" >/dev/null 2>&1 </dev/null; } 2>\"$0\"";
    let mut timed = Command::new("bash");
    timed.args(["-c", script]).arg(&numbers);
    timed.arg(command.get_program()).args(command.get_args());
    let start = Instant::now();
    let status = timed.status().context("starting bash")?;
    let wall_s = start.elapsed().as_secs_f64();
    ensure!(status.success(), "{} failed ({status})", shown(command));
    let memory_file = numbers.with_extension("memory");
    let memory = std::fs::read_to_string(&memory_file)
        .context("reading what time measured (apt-get install time)")?;
    let cpu = std::fs::read_to_string(&numbers).context("reading what bash measured")?;
    for file in [&numbers, &memory_file] {
        std::fs::remove_file(file).context("removing measurements")?;
    }
    let mut cpu_s = 0.0;
    for word in cpu.split_whitespace() {
        let seconds: f64 = word
            .parse()
            .with_context(|| format!("bash measured {word}"))?;
        cpu_s += seconds;
    }
    Ok(Cost {
        wall_s,
        cpu_s,
        memory_kib: memory.trim().parse().context("time printed no memory")?,
    })
}

/// The median by wall time of several runs, after one that does not count; memory is the most
/// of any run.
pub(super) fn median(runs: usize, mut command: impl FnMut() -> Command) -> Result<Cost> {
    once(&mut command())?;
    let mut costs = Vec::new();
    for _ in 0..runs {
        costs.push(once(&mut command())?);
    }
    costs.sort_by(|a, b| a.wall_s.total_cmp(&b.wall_s));
    let mut middle = costs.get(runs / 2).copied().context("no runs")?;
    middle.memory_kib = costs.iter().map(|cost| cost.memory_kib).max().unwrap_or(0);
    Ok(middle)
}

/// Bytes of a file, as MB.
pub(super) fn megabytes(path: &Path) -> Result<String> {
    let bytes = std::fs::metadata(path)
        .with_context(|| format!("looking at {}", path.display()))?
        .len();
    Ok(format!("{}.{} MB", bytes / 1_000_000, bytes / 100_000 % 10))
}
