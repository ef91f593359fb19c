//! What came of the tests: how many ran, which failed, and what was skipped, by reason.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

/// What a test says begins with this where it is not of this run: of tools, or of `--wide`.
const NOT_RUN: &str = "not run: ";

/// How long something took, for people.
pub(super) fn in_words(took: Duration) -> String {
    let seconds = took.as_secs();
    match seconds / 60 {
        0 => format!("{seconds} s"),
        minutes => format!("{minutes} min {} s", seconds % 60),
    }
}

/// The sum of all that test programs say.
#[derive(Debug, Default)]
pub(super) struct Summary {
    n_binaries: usize,
    pub(super) passed: usize,
    failed: usize,
    ignored: usize,
    /// Names of tests that failed.
    failures: Vec<String>,
    /// Lines of what was skipped or not run, by reason.
    skips: BTreeMap<String, Vec<String>>,
}

impl Summary {
    /// Takes a line of `cargo test`.
    pub(super) fn add(&mut self, line: &str) {
        if let Some(failed) = line.strip_prefix("test ").and_then(failed_test) {
            self.failures.push(failed.to_owned());
        }
        let Some(result) = line.strip_prefix("test result: ") else {
            return;
        };
        self.n_binaries += 1;
        self.passed += count(result, "passed");
        self.failed += count(result, "failed");
        self.ignored += count(result, "ignored");
    }

    /// Takes a line of the file that tests write about what they leave out: `skipped: NAME needs
    /// PACKAGE`, or `not run: NAME: WHY`.
    pub(super) fn add_skip(&mut self, line: &str) {
        let reason = match line.strip_prefix("skipped: ") {
            Some(rest) => rest
                .split_once(" needs ")
                .map(|(_, what)| format!("needs {what}")),
            None => {
                let rest = line.strip_prefix(NOT_RUN);
                rest.and_then(|rest| Some(rest.split_once(": ")?.1.to_owned()))
            }
        };
        let reason = reason.unwrap_or_else(|| "for another reason".to_owned());
        let lines = self.skips.entry(reason).or_default();
        if !lines.iter().any(|known| known == line) {
            lines.push(line.to_owned());
        }
    }
}

/// The name, in the rest of `test NAME ... FAILED`.
fn failed_test(rest: &str) -> Option<&str> {
    rest.strip_suffix(" ... FAILED")
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (reason, lines) in &self.skips {
            writeln!(f, "{}, {reason}:", lines.len())?;
            lines
                .iter()
                .try_for_each(|line| writeln!(f, "    {line}"))?;
        }
        let all = || self.skips.values().flatten();
        let is_not_run = |line: &&String| line.starts_with(NOT_RUN);
        let n_not_run = all().filter(is_not_run).count();
        let n_skipped = all().count() - n_not_run;
        for (n, what) in [(n_skipped, "skipped"), (n_not_run, "not run")] {
            if n > 0 {
                writeln!(f, "{n} {what}, as a whole or in part (above)")?;
            }
        }
        for name in &self.failures {
            writeln!(f, "FAILED: {name}")?;
        }
        writeln!(
            f,
            "{} tests ran in {} binaries: {} passed, {} failed, {} ignored",
            self.passed + self.failed,
            self.n_binaries,
            self.passed,
            self.failed,
            self.ignored
        )
    }
}

/// The number before `word`, as in `ok. 12 passed; 0 failed; ...`.
fn count(result: &str, word: &str) -> usize {
    let before = result.split(word).next().unwrap_or_default();
    let number = before.split_whitespace().last().unwrap_or_default();
    number.parse().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn result_lines_are_summed() {
        let mut summary = Summary::default();
        for line in [
            "running 14 tests",
            "test a::b ... ok",
            "test c_fails ... FAILED",
            "test result: ok. 12 passed; 0 failed; 2 ignored; 0 measured; 0 filtered out",
            "test result: FAILED. 3 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out",
        ] {
            summary.add(line);
        }
        assert_eq!(
            summary.to_string(),
            "FAILED: c_fails\n16 tests ran in 2 binaries: 15 passed, 1 failed, 2 ignored\n"
        );
    }

    #[test]
    fn times_are_said_in_minutes() {
        let said = |seconds| in_words(Duration::from_secs(seconds));
        assert_eq!(said(59), "59 s");
        assert_eq!(said(1685), "28 min 5 s");
    }

    #[test]
    fn what_was_skipped_is_listed_by_reason() {
        let mut summary = Summary::default();
        for line in [
            "skipped: one needs linux-perf",
            "not run: two: RPROF_CORPUS is not set",
            "skipped: three needs linux-perf",
            "skipped: three needs linux-perf",
        ] {
            summary.add_skip(line);
        }
        let text = summary.to_string();
        let expected = "1, RPROF_CORPUS is not set:\n    not run: two: RPROF_CORPUS is not set\n\
            2, needs linux-perf:\n    skipped: one needs linux-perf\n    skipped: three needs linux-perf\n\
            2 skipped, as a whole or in part (above)\n1 not run, as a whole or in part (above)\n";
        assert!(text.starts_with(expected), "{text}");
    }
}
