//! All tests of the workspace: several test programs at a time.
//!
//! Nothing here says which of them must run alone. Tests that record, or set what is the whole
//! machine's, take a place, alone or with others (`tests/common/place.rs`); what the others do
//! meanwhile is no different from what any other user of the machine does.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use super::summary::Summary;
use crate::command::{self, cargo, packages};
use crate::files::make_file;

/// The test program that takes longest, twice as long as the next: it begins first.
const LONGEST: &str = "agreement";

/// More at a time wait for each other: half of the tests record.
const MOST: usize = 4;

/// What `cargo test` runs at a time: one test program, or many small ones.
struct Part {
    name: String,
    args: Vec<String>,
}

/// What came of it.
struct Done {
    name: String,
    output: String,
    took: Duration,
    is_good: bool,
}

/// Runs all tests, also those after one that fails. `prepare` gives each `cargo test` what its tests
/// are to know; in `folder` their output is kept until they end. `features` are the arguments that all are built with.
pub(super) fn run(
    folder: &Path,
    features: &[&str],
    summary: &mut Summary,
    prepare: impl Fn(&mut Command) + Sync,
) -> Result<()> {
    let prepare = |tests: &mut Command| prepare(tests.args(features));
    // None of them waits for another's build.
    let build = ["test", "--workspace", "--locked", "--no-run"];
    command::run(cargo().args(build).args(features))?;
    let parts = parts()?;
    let n_at_a_time = std::thread::available_parallelism().map_or(1, |n| n.get().min(MOST));
    println!("{} parts, {n_at_a_time} at a time", parts.len());
    let rest = Mutex::new(parts.into_iter());
    let next = || rest.lock().ok()?.next();
    let (sender, ended) = channel();
    std::thread::scope(|scope| {
        for _ in 0..n_at_a_time {
            let sender = sender.clone();
            scope.spawn(|| {
                let sender = sender;
                while let Some(part) = next() {
                    // Nobody listens any more only if something else failed.
                    let _ = sender.send(part.run(folder, prepare));
                }
            });
        }
        drop(sender);
        let mut bad = Vec::new();
        for done in ended {
            let done = match done {
                Ok(done) => done,
                Err(error) => {
                    println!("\n-- a part that could not be run: {error:#}");
                    bad.push("one that could not be run".to_owned());
                    continue;
                }
            };
            println!("\n-- {}, {:.0} s", done.name, done.took.as_secs_f64());
            print!("{}", done.output);
            done.output.lines().for_each(|line| summary.add(line));
            if !done.is_good {
                bad.push(done.name);
            }
        }
        ensure!(bad.is_empty(), "tests failed: {}", bad.join(", "));
        Ok(())
    })
}

/// The test programs in `tests/`, [`LONGEST`] first, then those within crates.
fn parts() -> Result<Vec<Part>> {
    let packages = packages()?;
    let targets = packages.iter().filter_map(|one| one["targets"].as_array());
    let mut parts: Vec<Part> = targets.flatten().filter_map(test_program).collect();
    parts.sort_by_key(|part| part.name != LONGEST);
    for (name, args) in [
        ("within crates", &["--lib", "--bins"][..]),
        ("in documentation", &["--doc"]),
    ] {
        let args = args.iter().map(|&arg| arg.to_owned()).collect();
        parts.push(Part {
            name: name.to_owned(),
            args,
        });
    }
    Ok(parts)
}

fn test_program(target: &Value) -> Option<Part> {
    let kinds = target.get("kind")?.as_array()?;
    let name = target.get("name")?.as_str()?.to_owned();
    let is_test = kinds.iter().any(|kind| kind == "test");
    is_test.then(|| Part {
        args: vec!["--test".to_owned(), name.clone()],
        name,
    })
}

impl Part {
    fn run(self, folder: &Path, prepare: impl Fn(&mut Command)) -> Result<Done> {
        let path = folder.join(format!("{}.txt", self.name));
        let file = make_file(&path)?;
        let mut tests = cargo();
        // The same for each, or features of dependencies differ and all is built again.
        tests.args(["test", "--workspace", "--locked", "--no-fail-fast"]);
        prepare(tests.args(&self.args));
        let both = file.try_clone().context("sharing a file for output")?;
        tests.stdin(Stdio::null()).stdout(both).stderr(file);
        let begin = Instant::now();
        let status = tests.status().context("starting cargo test")?;
        let output = fs::read(&path).with_context(|| format!("reading {}", path.display()))?;
        Ok(Done {
            name: self.name,
            output: String::from_utf8_lossy(&output).into_owned(),
            took: begin.elapsed(),
            is_good: status.success(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_test_program_is_a_part_and_so_is_the_rest() {
        let parts = parts().unwrap();
        let args = |name: &str| {
            let part = parts.iter().find(|part| part.name == name);
            part.map(|part| part.args.join(" "))
        };
        assert_eq!(parts[0].name, LONGEST);
        assert_eq!(args("unwinding").as_deref(), Some("--test unwinding"));
        assert_eq!(args("within crates").as_deref(), Some("--lib --bins"));
        assert_eq!(args("in documentation").as_deref(), Some("--doc"));
        assert_eq!(args("rprof"), None);
    }
}
