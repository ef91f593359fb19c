//! `cargo xtask ci [--wide]`: format, lints, tests, tidy. Stops where format or lints fail, or tests do
//! not compile; of the tests all run, and then tidy.
//!
//! A wide run has tests more, of compilers, linkers and C libraries that few machines have. What a
//! machine lacks is skipped, and the summary says it; with `RPROF_SKIP_IS_FAILURE` it is a failure.

mod parts;
mod summary;

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context, Result, bail, ensure};

use crate::command::{captured, cargo, target_folder};
use crate::{command, tidy};
use summary::{Summary, in_words};

/// Runs everything that a change must pass.
pub(crate) fn run(args: &[String]) -> Result<()> {
    let words: Vec<&str> = args.iter().map(String::as_str).collect();
    let is_wide = match *words {
        [] => false,
        ["--wide"] => true,
        _ => bail!("ci takes no arguments but --wide"),
    };
    let began = Instant::now();
    let mut summary = Summary::default();
    heading("format");
    if has_component("fmt", "rustfmt", &mut summary)? {
        command::run(cargo().args(["fmt", "--all", "--", "--check"]))?;
    }
    heading("clippy");
    if has_component("clippy", "clippy", &mut summary)? {
        let clippy = ["clippy", "--workspace", "--all-targets", "--locked"];
        command::run(cargo().args(clippy).args(["--", "-D", "warnings"]))?;
    }
    heading("test");
    let tested = test(is_wide, &mut summary);
    heading("tidy");
    let tidied = tidy::run(&[]);
    heading("summary");
    print!("{summary}");
    println!("it took {}", in_words(began.elapsed()));
    match (tested, tidied) {
        (Err(tests), Err(tidy)) => bail!("{tests:#}; {tidy:#}"),
        (tested, tidied) => tested.and(tidied),
    }
}

fn heading(name: &str) {
    println!("\n== {name} ==");
}

/// Whether cargo has a command that a toolchain may come without.
fn has_component(name: &str, component: &str, summary: &mut Summary) -> Result<bool> {
    if captured(cargo().args([name, "--version"])).is_ok() {
        return Ok(true);
    }
    let line =
        format!("skipped: cargo {name} needs {component} (rustup component add {component})");
    println!("{line}");
    ensure!(
        std::env::var_os("RPROF_SKIP_IS_FAILURE").is_none(),
        "cargo {name} is not there"
    );
    summary.add_skip(&line);
    Ok(false)
}

/// Runs all tests, also those after one that fails.
fn test(is_wide: bool, summary: &mut Summary) -> Result<()> {
    let scratch = Scratch::new()?;
    let skips = scratch.0.join("skips");
    let outcome = parts::run(&scratch.0, summary, |tests| {
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
        fs::create_dir_all(&folder).with_context(|| format!("creating {}", folder.display()))?;
        Ok(Self(folder))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // What cannot be removed does no harm there.
        let _ = fs::remove_dir_all(&self.0);
    }
}
