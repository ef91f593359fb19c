//! `cargo xtask bench [record|stacks [cost|slowdown]|read|symbols [FILE]|top|critical|diff [RUNS [SECONDS]]|fleet [MACHINES [SAMPLES]]|page [FILE..]|all|--repeat [N]]`: makes the recordings, runs rprof and perf side by side,
//! and prints the table with ratios.
//!
//! Times are medians of several runs, memory is the peak of the whole process. Recordings are kept in `target/bench` and made anew only if they are gone.

mod critical;
mod diff;
mod fleet;
mod measure;
mod page;
mod read;
mod recorder;
mod rows;
mod scale;
mod stacks;
mod symbols;
mod table;
mod top;
mod workloads;

use anyhow::{Context, Result, bail, ensure};

use crate::command::{self, captured, cargo, command, target_folder};
use crate::files::make_folder;
use workloads::Bench;

/// Copies of a build recording that make about 10 million samples.
const COPIES: u64 = 42;

/// Names the rprof that is measured; without it, a release is built.
const PROGRAM: &str = "RPROF_BENCH_PROGRAM";

/// Names another perf than that of `PATH`.
const PEER: &str = "RPROF_BENCH_PERF";

/// Programs that measurements are made with, and their packages.
const NEEDS: &[(&str, &str)] = &[
    ("perf", "linux-perf"),
    ("g++", "g++"),
    ("bash", "bash"),
    (measure::TIME, "time"),
    ("taskset", "util-linux"),
    ("timeout", "coreutils"),
];

/// What is measured.
#[derive(Debug, PartialEq)]
enum Part<'a> {
    Record,
    Stacks(stacks::Part),
    Read,
    /// Of this recording, or of rprof's own.
    Symbols(Option<&'a str>),
    Top,
    /// What is predicted of faster functions; not part of all: perf has nothing like it.
    Critical,
    /// Planted slowdowns; not part of all: it takes long.
    Diff(diff::Size),
    /// Tables of many machines; not part of all: it needs query engines.
    Fleet(fleet::Size),
    /// The HTML page of these recordings, or of ours, in a browser; not part of all: it needs one.
    Page(Vec<&'a str>),
    All,
    /// A recording, this number of times over.
    Repeat(u64),
}

pub(crate) fn run(args: &[String]) -> Result<()> {
    let part = asked(args)?;
    look_for(NEEDS)?;
    if matches!(part, Part::Page(_)) {
        look_for(&[("node", "nodejs"), ("chromium", "chromium")])?;
    }
    let target = target_folder()?;
    let rprof = match std::env::var_os(PROGRAM) {
        Some(program) => program.into(),
        None => {
            let mut build = cargo();
            build.args(["build", "--release", "--locked", "-p", "rprof-cli"]);
            if matches!(part, Part::Fleet(_)) {
                build.args(["--features", "parquet"]);
            }
            command::run(&mut build)?;
            target.join("release/rprof")
        }
    };
    let folder = target.join("bench");
    make_folder(&folder)?;
    let perf = std::env::var_os(PEER).unwrap_or_else(|| "perf".into());
    let bench = Bench {
        folder,
        rprof,
        perf: perf.into(),
    };
    match part {
        Part::Record => recorder::run(&bench),
        Part::Stacks(part) => stacks::run(&bench, part),
        Part::Read => read::run(&bench),
        Part::Symbols(recording) => symbols::run(&bench, recording),
        Part::Top => top::run(&bench),
        Part::Critical => critical::run(&bench),
        Part::Diff(size) => diff::run(&bench, size),
        Part::Fleet(size) => fleet::run(&bench, size),
        Part::Page(recordings) => page::run(&bench, &recordings, COPIES),
        Part::All => {
            recorder::run(&bench)?;
            stacks::run(&bench, stacks::Part::All)?;
            read::run(&bench)?;
            symbols::run(&bench, None)?;
            top::run(&bench)
        }
        Part::Repeat(copies) => scale::run(&bench, copies),
    }
}

fn asked(args: &[String]) -> Result<Part<'_>> {
    let words: Vec<&str> = args.iter().map(String::as_str).collect();
    Ok(match words.as_slice() {
        [] | ["all"] => Part::All,
        ["record"] => Part::Record,
        ["stacks"] => Part::Stacks(stacks::Part::All),
        ["stacks", "cost"] => Part::Stacks(stacks::Part::Cost),
        ["stacks", "slowdown"] => Part::Stacks(stacks::Part::Slowdown),
        ["read"] => Part::Read,
        ["symbols"] => Part::Symbols(None),
        ["symbols", recording] => Part::Symbols(Some(recording)),
        ["top"] => Part::Top,
        ["critical"] => Part::Critical,
        ["diff", words @ ..] if words.len() <= 2 => Part::Diff(size(words)?),
        ["fleet", words @ ..] if words.len() <= 2 => Part::Fleet(fleet_size(words)?),
        ["page", recordings @ ..] => Part::Page(recordings.to_vec()),
        ["--repeat"] => Part::Repeat(COPIES),
        ["--repeat", copies] => {
            Part::Repeat(copies.parse().with_context(|| format!("{copies} copies"))?)
        }
        other => bail!(
            "no part is called '{}': record, stacks with or without cost or slowdown, read, symbols with or without a recording, top, critical, diff with or without numbers of runs and seconds, fleet with or without numbers of machines and samples, page with or without recordings, all, or --repeat with or without a number of copies",
            other.join(" ")
        ),
    })
}

/// How much of diff is measured.
fn size(words: &[&str]) -> Result<diff::Size> {
    let mut size = diff::Size::default();
    if let [runs, ..] = words {
        size.runs = runs.parse().with_context(|| format!("{runs} runs"))?;
    }
    if let [_, seconds] = words {
        size.seconds = seconds
            .parse()
            .with_context(|| format!("{seconds} seconds"))?;
    }
    ensure!(size.runs >= 2, "at least 2 runs");
    Ok(size)
}

/// How large a fleet is measured.
fn fleet_size(words: &[&str]) -> Result<fleet::Size> {
    let mut size = fleet::Size::default();
    if let [machines, ..] = words {
        size.machines = machines
            .parse()
            .with_context(|| format!("{machines} machines"))?;
    }
    if let [_, samples] = words {
        size.samples = samples
            .parse()
            .with_context(|| format!("{samples} samples"))?;
    }
    ensure!(
        size.machines > 0 && size.samples > 0,
        "at least one machine and one sample"
    );
    Ok(size)
}

/// Without them there would be numbers all the same: of a shell that finds nothing.
fn look_for(needs: &[(&str, &str)]) -> Result<()> {
    let runs = |program: &str| captured(command(program).arg("--version")).is_ok();
    let missing: Vec<String> = needs
        .iter()
        .filter(|(program, _)| !runs(program))
        .map(|(program, package)| format!("{program} (apt-get install {package})"))
        .collect();
    ensure!(missing.is_empty(), "does not run: {}", missing.join(", "));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_part_is_refused_before_anything_is_built() {
        let asked = |words: &[&str]| {
            let args: Vec<String> = words.iter().map(|&word| word.to_owned()).collect();
            asked(&args).is_ok()
        };
        for good in [
            &[][..],
            &["stacks"],
            &["stacks", "slowdown"],
            &["top"],
            &["symbols", "x"],
            &["diff", "20", "0.5"],
            &["fleet", "100", "6840"],
            &["--repeat", "3"],
        ] {
            assert!(asked(good), "{good:?}");
        }
        for bad in [
            &["write"][..],
            &["read", "x"],
            &["stacks", "speed"],
            &["--repeat", "many"],
            &["fleet", "0"],
        ] {
            assert!(!asked(bad), "{bad:?}");
        }
    }

    #[test]
    fn a_program_that_is_missing_is_named_with_its_package() {
        look_for(&[("bash", "bash")]).unwrap();
        let error = look_for(&[("no-such-program", "nothing")]).unwrap_err();
        assert!(
            error
                .to_string()
                .contains("no-such-program (apt-get install nothing)")
        );
    }
}
