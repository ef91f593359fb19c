//! `cargo xtask ci [--wide]`: format, lints, tests, tidy. Stops where format or lints fail, or tests do
//! not compile; of the tests all run, and then tidy.
//!
//! A wide run has more tests, of compilers, linkers and C libraries that few machines have, and of the feature
//! `parquet`, which the lints have, too; and cargo-deny looks at the dependencies. What a machine lacks is skipped, and
//! the summary says it; with `RPROF_SKIP_IS_FAILURE` it is a failure.

mod parts;
mod summary;

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Result, ensure};

use crate::args::has_flag;
use crate::command::{captured, cargo, target_folder};
use crate::files::make_folder;
use crate::{command, tidy};
use summary::{Summary, in_words};

/// What a wide run has beside the default features. Lints and tests have the same, so that nothing is built twice.
const WIDE_FEATURES: [&str; 2] = ["--features", "rprof-cli/parquet"];

/// Runs everything that a change must pass.
pub(crate) fn run(args: &[String]) -> Result<()> {
    let is_wide = has_flag(args, "--wide")?;
    let features: &[&str] = if is_wide { &WIDE_FEATURES } else { &[] };
    let began = Instant::now();
    let mut summary = Summary::default();
    heading("format");
    if has_command(
        "fmt",
        "rustfmt (rustup component add rustfmt)",
        &mut summary,
    )? {
        command::run(cargo().args(["fmt", "--all", "--", "--check"]))?;
    }
    heading("clippy");
    if has_command(
        "clippy",
        "clippy (rustup component add clippy)",
        &mut summary,
    )? {
        let clippy = ["clippy", "--workspace", "--all-targets", "--locked"];
        let strict = ["--", "-D", "warnings"];
        command::run(cargo().args(clippy).args(features).args(strict))?;
    }
    heading("test");
    let tested = test(is_wide, features, &mut summary);
    heading("tidy");
    let tidied = tidy::run(&[]);
    let denied = if is_wide { deny(&mut summary) } else { Ok(()) };
    heading("summary");
    print!("{summary}");
    println!("it took {}", in_words(began.elapsed()));
    let errors: Vec<String> = [tested, tidied, denied]
        .into_iter()
        .filter_map(|result| Some(format!("{:#}", result.err()?)))
        .collect();
    ensure!(errors.is_empty(), "{}", errors.join("; "));
    Ok(())
}

/// Checks licences, sources and wildcards of dependencies, as `deny.toml` says.
fn deny(summary: &mut Summary) -> Result<()> {
    heading("dependencies");
    if has_command("deny", "cargo-deny (cargo install cargo-deny)", summary)? {
        let deny = ["deny", "--offline", "--locked", "--all-features", "check"];
        command::run(cargo().args(deny).args(["bans", "licenses", "sources"]))?;
    }
    Ok(())
}

fn heading(name: &str) {
    println!("\n== {name} ==");
}

/// Whether cargo has a command that a toolchain may come without.
fn has_command(name: &str, needs: &str, summary: &mut Summary) -> Result<bool> {
    if captured(cargo().args([name, "--version"])).is_ok() {
        return Ok(true);
    }
    let line = format!("skipped: cargo {name} needs {needs}");
    println!("{line}");
    ensure!(
        std::env::var_os("RPROF_SKIP_IS_FAILURE").is_none(),
        "cargo {name} is not there"
    );
    summary.add_skip(&line);
    Ok(false)
}

/// Runs all tests, also those after one that fails.
fn test(is_wide: bool, features: &[&str], summary: &mut Summary) -> Result<()> {
    let scratch = Scratch::new()?;
    let skips = scratch.0.join("skips");
    let outcome = parts::run(&scratch.0, features, summary, |tests| {
        tests.env("RPROF_TEST_HOME", scratch.0.join("home"));
        tests.env("RPROF_SKIPS", &skips);
        if is_wide {
            tests.env("RPROF_WIDE", "1");
        }
    });
    // Nobody writes it if nothing is skipped.
    let skipped = fs::read_to_string(&skips).unwrap_or_default();
    skipped.lines().for_each(|line| summary.add_skip(line));
    outcome?;
    ensure!(summary.passed > 0, "no test ran");
    Ok(())
}

/// A folder for what tests leave behind, among what is built; removed at the end.
struct Scratch(PathBuf);

impl Scratch {
    fn new() -> Result<Self> {
        let name = format!("tmp/ci-{}", std::process::id());
        let folder = target_folder()?.join(Path::new(&name));
        make_folder(&folder)?;
        Ok(Self(folder))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // What cannot be removed does no harm there.
        let _ = fs::remove_dir_all(&self.0);
    }
}
