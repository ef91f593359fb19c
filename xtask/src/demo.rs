//! `cargo xtask demo [dir]`: builds rprof, records a small C program with it, and shows the
//! table, the call trees and where the flame graph is. Needs a C compiler and nothing else.
//!
//! It is built in the profile `trial`, and without what asks servers for debug files: that takes a
//! third of the time of a release build.

use std::io::ErrorKind;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::command::{self, captured, cargo, command, root, shown, target_folder};
use crate::files::{make_file, make_folder};
use anyhow::{Context, Result, bail, ensure};

/// Records, reports and draws; the files go to `dir`, or else to `demo` in the target folder.
pub(crate) fn run(args: &[String]) -> Result<()> {
    ensure!(
        args.len() <= 1,
        "at most one argument: the folder to write to"
    );
    let target = target_folder()?;
    let folder = match args.first() {
        Some(folder) => std::path::absolute(folder).context("finding the current folder")?,
        None => target.join("demo"),
    };
    make_folder(&folder)?;
    let recording = folder.join("perf.data");
    let picture = folder.join("flame.svg");

    let profile = ["--profile", "trial", "--no-default-features"];
    let build = ["build", "--locked", "-p", "rprof-cli"];
    command::run(cargo().args(build).args(profile))?;
    let rprof = || command(target.join("trial/rprof"));
    let program = folder.join("words");
    compile(&program)?;

    println!();
    let mut record = rprof();
    record
        .args(["record", "-F", "999", "-o"])
        .arg(short(&recording));
    command::run(record.arg("--").arg(short(&program)).arg("3"))?;

    let report = |options: &[&str]| {
        let mut report = rprof();
        report.args(["report", "-i"]).arg(short(&recording));
        show(report.arg("--no-children").args(options))
    };
    report(&["-g", "none", "--percent-limit", "1"])?;
    report(&["--sort", "comm", "-g", "caller,3"])?;

    let mut flame = rprof();
    draw(flame.args(["flame", "-i"]).arg(short(&recording)), &picture)?;
    println!(
        "\nthe flame graph is in {}: open it in a browser",
        short(&picture).display()
    );
    Ok(())
}

/// The path as it is typed in the workspace's root, where all commands run.
fn short(path: &Path) -> &Path {
    path.strip_prefix(root()).unwrap_or(path)
}

fn compile(program: &Path) -> Result<()> {
    let mut compiler = command("cc");
    compiler
        .args(["-O2", "-g", "-pthread", "-o"])
        .arg(short(program))
        .arg("fixtures/workloads/words.c");
    println!("\n$ {}", shown(&compiler));
    let status = match compiler.status() {
        Err(error) if error.kind() == ErrorKind::NotFound => {
            bail!("needs a C compiler: apt-get install gcc libc6-dev")
        }
        status => status.context("starting cc")?,
    };
    ensure!(
        status.success(),
        "compiling fixtures/workloads/words.c failed ({status})"
    );
    Ok(())
}

/// Runs the command and prints what it says.
fn show(command: &mut Command) -> Result<()> {
    println!("\n$ {}", shown(command));
    let text = captured(command.stderr(Stdio::inherit()))?;
    println!("{}", text.trim_end());
    Ok(())
}

fn draw(flame: &mut Command, picture: &Path) -> Result<()> {
    println!("\n$ {} > {}", shown(flame), short(picture).display());
    let file = make_file(picture)?;
    let status = flame.stdout(file).status().context("starting rprof")?;
    ensure!(status.success(), "{} failed ({status})", shown(flame));
    Ok(())
}
