//! `cargo xtask ci [--wide]`: format, lints, tests, tidy; stops at the first failure.
//!
//! A wide run has tests more, of compilers, linkers and C libraries that few machines have.

use anyhow::{Result, bail, ensure};

use crate::command::{cargo, run_watched};
use crate::{command, tidy};

/// Runs everything that a change must pass.
pub(crate) fn run(args: &[String]) -> Result<()> {
    let words: Vec<&str> = args.iter().map(String::as_str).collect();
    let is_wide = match *words {
        [] => false,
        ["--wide"] => true,
        _ => bail!("ci takes no arguments but --wide"),
    };
    heading("format");
    command::run(cargo().args(["fmt", "--all", "--", "--check"]))?;
    heading("clippy");
    let clippy = ["clippy", "--workspace", "--all-targets", "--locked"];
    command::run(cargo().args(clippy).args(["--", "-D", "warnings"]))?;
    heading("test");
    test(is_wide)?;
    heading("tidy");
    tidy::run(&[])
}

fn heading(name: &str) {
    println!("\n== {name} ==");
}

fn test(is_wide: bool) -> Result<()> {
    let mut tally = Tally::default();
    let mut tests = cargo();
    tests.args(["test", "--workspace", "--locked"]);
    if is_wide {
        tests.env("RPROF_WIDE", "1");
    }
    let outcome = run_watched(&mut tests, |line| tally.add(line));
    println!(
        "{} tests ran in {} binaries: {} passed, {} failed, {} ignored",
        tally.passed + tally.failed,
        tally.n_binaries,
        tally.passed,
        tally.failed,
        tally.ignored
    );
    outcome?;
    ensure!(tally.passed > 0, "no test ran");
    Ok(())
}

/// The sum of all `test result:` lines.
#[derive(Debug, Default)]
struct Tally {
    n_binaries: usize,
    passed: usize,
    failed: usize,
    ignored: usize,
}

impl Tally {
    fn add(&mut self, line: &str) {
        let Some(result) = line.strip_prefix("test result: ") else {
            return;
        };
        self.n_binaries += 1;
        self.passed += count(result, "passed");
        self.failed += count(result, "failed");
        self.ignored += count(result, "ignored");
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
        let mut tally = Tally::default();
        tally.add("running 14 tests");
        tally.add("test result: ok. 12 passed; 0 failed; 2 ignored; 0 measured; 0 filtered out");
        tally.add("test result: FAILED. 3 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out");
        assert_eq!(
            (tally.n_binaries, tally.passed, tally.failed, tally.ignored),
            (2, 15, 1, 2)
        );
    }
}
