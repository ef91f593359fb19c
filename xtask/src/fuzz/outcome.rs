//! What a target did, by its log.

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;

use anyhow::{Context, Result};

/// One target's runs together.
#[derive(Debug)]
pub(super) struct Outcome {
    name: &'static str,
    program: PathBuf,
    executions: u64,
    per_second: u64,
    /// The inputs that broke something, or the log of a program that left none.
    pub(super) findings: Vec<Finding>,
}

/// Something broke.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Finding {
    /// What the program said of it.
    what: String,
    /// The input.
    input: Option<String>,
}

impl Outcome {
    pub(super) fn new(name: &'static str, program: PathBuf) -> Self {
        Self {
            name,
            program,
            executions: 0,
            per_second: 0,
            findings: Vec::new(),
        }
    }

    /// Adds one process that ended.
    pub(super) fn take(&mut self, status: ExitStatus, log: &Path) -> Result<()> {
        let text = fs::read(log).with_context(|| format!("reading {}", log.display()))?;
        let text = String::from_utf8_lossy(&text);
        self.executions += stat(&text, "number_of_executed_units").unwrap_or(0);
        self.per_second += stat(&text, "average_exec_per_sec").unwrap_or(0);
        if !status.success() {
            self.findings.push(finding(&text, log));
        }
        Ok(())
    }
}

/// A line `stat::name: value`.
fn stat(log: &str, name: &str) -> Option<u64> {
    let lines = log.lines().filter_map(|line| line.strip_prefix("stat::"));
    let mut values = lines.filter_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
    values.next()?.trim().parse().ok()
}

fn finding(log: &str, path: &Path) -> Finding {
    let mut lines = log.lines();
    let panic = |line: &&str| line.contains("panicked at") || line.contains("ERROR: libFuzzer");
    let what = match lines.find(panic) {
        // A panic says where on one line and what on the next.
        Some(line) if line.ends_with(':') => {
            format!("{line} {}", lines.next().unwrap_or_default())
        }
        Some(line) => line.to_owned(),
        None => format!("see {}", path.display()),
    };
    let written = log
        .lines()
        .filter_map(|line| line.split_once("Test unit written to "));
    Finding {
        what,
        input: written
            .map(|(_, input)| input.trim().to_owned())
            .next_back(),
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}: {} executions, {} a second, {} findings",
            self.name,
            self.executions,
            self.per_second,
            self.findings.len()
        )?;
        for finding in &self.findings {
            write!(f, "\n    {}", finding.what)?;
            if let Some(input) = &finding.input {
                write!(f, "\n    again: {} {input}", self.program.display())?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_says_how_much_was_done_and_what_broke() {
        let log = "#2 INITED\n\
            thread '<unnamed>' panicked at crates/abi/src/x.rs:1:2:\n\
            attempt to add with overflow\n\
            artifact_prefix='c/'; Test unit written to c/crash-1\n\
            stat::number_of_executed_units: 1234\n\
            stat::average_exec_per_sec:     617\n";
        assert_eq!(stat(log, "number_of_executed_units"), Some(1234));
        assert_eq!(stat(log, "average_exec_per_sec"), Some(617));
        let found = finding(log, Path::new("log"));
        assert!(found.what.ends_with("attempt to add with overflow"));
        assert_eq!(found.input.as_deref(), Some("c/crash-1"));
    }
}
