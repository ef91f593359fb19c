//! Instructions and heap of a command, as valgrind counts them.

use std::ffi::OsString;
use std::ops::AddAssign;
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};

use crate::command::shown;

/// What some work costs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Cost {
    /// Instructions that were executed (callgrind's Ir).
    pub(super) instructions: u64,
    /// The most that was allocated at a time, in bytes (DHAT's t-gmax).
    pub(super) peak_heap_bytes: u64,
}

/// One after the other: instructions add up, of heaps the largest counts.
impl AddAssign for Cost {
    fn add_assign(&mut self, other: Self) {
        self.instructions += other.instructions;
        self.peak_heap_bytes = self.peak_heap_bytes.max(other.peak_heap_bytes);
    }
}

/// An error that says what to install.
pub(super) fn look_for_valgrind() -> Result<()> {
    let silent = |command: &mut Command| command.stdout(Stdio::null()).status();
    let is_there = silent(Command::new("valgrind").arg("--version")).is_ok();
    ensure!(is_there, "needs valgrind (apt-get install valgrind)");
    Ok(())
}

/// What one run of `rprof` with these arguments costs, which has to end with this exit code.
pub(super) fn cost(rprof: &Path, args: &[OsString], home: &Path, exit_code: i32) -> Result<Cost> {
    let number = |tool: &[&str], label| {
        let said = under_valgrind(tool, rprof, args, home, exit_code)?;
        labelled(&said, label)
            .with_context(|| format!("no '{label}' in what valgrind said: {said}"))
    };
    let callgrind = ["--tool=callgrind", "--callgrind-out-file=/dev/null"];
    let dhat = ["--tool=dhat", "--dhat-out-file=/dev/null"];
    Ok(Cost {
        instructions: number(&callgrind, "I   refs:")?,
        peak_heap_bytes: number(&dhat, "At t-gmax:")?,
    })
}

/// What valgrind says at the end. Of a command that ends otherwise than it is to, costs mean nothing.
fn under_valgrind(
    tool: &[&str],
    rprof: &Path,
    args: &[OsString],
    home: &Path,
    exit_code: i32,
) -> Result<String> {
    // On one CPU no thread overtakes another, and none is started for a second CPU.
    let mut valgrind = Command::new("taskset");
    valgrind.args(["--cpu-list", first_cpu()?.as_str(), "valgrind"]);
    valgrind.args(tool).arg(rprof).args(args);
    valgrind.env_clear();
    // The same bytes on every stack.
    valgrind.env("PATH", "/usr/bin:/bin").env("HOME", home);
    valgrind.current_dir(home).stdin(Stdio::null());
    let output = valgrind
        .output()
        .with_context(|| format!("starting {}", shown(&valgrind)))?;
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    ensure!(
        output.status.code() == Some(exit_code),
        "{} ended with {}: {said}",
        shown(&valgrind),
        output.status
    );
    Ok(said)
}

/// A CPU that we may run on.
fn first_cpu() -> Result<String> {
    let status = std::fs::read_to_string("/proc/self/status").context("reading our status")?;
    let list = status
        .lines()
        .find_map(|line| line.strip_prefix("Cpus_allowed_list:"))
        .context("our status names no CPUs")?;
    let first = list.trim().split(['-', ',']).next();
    Ok(first.unwrap_or_default().to_owned())
}

/// The number after a label, of the last line that has it.
fn labelled(said: &str, label: &str) -> Option<u64> {
    let line = said.lines().rfind(|line| line.contains(label))?;
    let (_, rest) = line.split_once(label)?;
    let number = rest.split_whitespace().next()?;
    number.replace(',', "").parse().ok()
}

#[cfg(test)]
mod tests {
    use super::labelled;

    #[test]
    fn numbers_are_found_behind_their_labels() {
        let said = "rprof: error: I   refs: none\n\
            ==7== I   refs:      7,126,690\n\
            ==8== At t-gmax: 1,545,658 bytes in 102 blocks\n";
        assert_eq!(labelled(said, "I   refs:"), Some(7_126_690));
        assert_eq!(labelled(said, "At t-gmax:"), Some(1_545_658));
        assert_eq!(labelled(said, "D refs:"), None);
    }
}
