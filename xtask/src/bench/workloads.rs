//! What is recorded: a long build, a deep C++ program, a shell loop.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use anyhow::{Context, Result, bail, ensure};

use crate::command::{self, captured, root};

/// Something large from the registry, for its build; `RPROF_BENCH_CRATE` names another.
const CRATE: &str = "samply@0.13.1";
const BUILD_SECONDS: &str = "112";
/// What `timeout` says of what it has cut off.
const TIMED_OUT: i32 = 124;

/// A shell that starts `/bin/true` 3,000 times.
pub(super) const LOOP: &str = "i=0; while [ $i -lt 3000 ]; do /bin/true; i=$((i+1)); done";

/// Another profiler; it is measured where it is installed (`cargo install samply`).
pub(super) const SAMPLY: &str = "samply";

/// Whether [`SAMPLY`] is installed.
pub(super) fn has_samply() -> bool {
    captured(Command::new(SAMPLY).arg("--version")).is_ok()
}

/// Where everything is.
pub(super) struct Bench {
    /// Recordings and programs.
    pub(super) folder: PathBuf,
    /// The release binary.
    pub(super) rprof: PathBuf,
    /// The perf that it is compared with.
    pub(super) perf: PathBuf,
}

impl Bench {
    pub(super) fn rprof(&self, args: &[&str]) -> Command {
        let mut command = Command::new(&self.rprof);
        command.args(args);
        command
    }

    pub(super) fn perf(&self) -> Command {
        Command::new(&self.perf)
    }

    pub(super) fn file(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// `deep.cpp`, compiled as its users would: no frame pointers, debug information.
    pub(super) fn deep(&self) -> Result<PathBuf> {
        let program = self.file("deep");
        if !program.exists() {
            compile("g++", &["-O2", "-g"], &deep_source(), &program)?;
        }
        Ok(program)
    }

    /// All CPUs while a large program is built into an empty folder, by one of the recorders.
    pub(super) fn build_recording(&self, by: &str) -> Result<PathBuf> {
        let recording = self.file(&format!("build.{by}.data"));
        if recording.exists() {
            return Ok(recording);
        }
        let name = std::env::var("RPROF_BENCH_CRATE").unwrap_or_else(|_| CRATE.to_owned());
        let (target, install) = (self.file("build-target"), self.file("build-install"));
        let _ = fs::remove_dir_all(&target);
        let mut recorder =
            self.recorder(by, &["-F", "999", "-a", "--call-graph", "fp"], &recording);
        recorder.args([
            "timeout",
            BUILD_SECONDS,
            "cargo",
            "install",
            "--locked",
            "--force",
        ]);
        recorder
            .arg("--target-dir")
            .arg(&target)
            .arg("--root")
            .arg(&install)
            .arg(&name);
        println!("$ {}", command::shown(&recorder));
        let status = recorder.status().context("recording a build")?;
        let _ = fs::remove_dir_all(&target);
        // The build is cut off by timeout, which is no failure here. One that fails by itself did
        // not last.
        if !status.success() && status.code() != Some(TIMED_OUT) {
            let _ = fs::remove_file(&recording);
            bail!("{by} recorded a build that failed ({status})");
        }
        ensure!(recording.exists(), "{by} wrote no recording");
        Ok(recording)
    }

    /// A command recorded by one of the recorders.
    pub(super) fn recording(&self, by: &str, name: &str, command: &[&str]) -> Result<PathBuf> {
        let recording = self.file(&format!("{name}.{by}.data"));
        if !recording.exists() {
            let mut recorder = self.recorder(by, &["-F", "999", "--call-graph", "fp"], &recording);
            command::run(recorder.args(command))?;
        }
        Ok(recording)
    }

    /// `perf record` or `rprof record` with these options, ready for a command.
    pub(super) fn recorder(&self, by: &str, options: &[&str], output: &Path) -> Command {
        let mut recorder = match by {
            "perf" => self.perf(),
            SAMPLY => Command::new(SAMPLY),
            _ => Command::new(&self.rprof),
        };
        recorder
            .arg("record")
            .args(options)
            .arg("-o")
            .arg(output)
            .arg("--");
        recorder
    }
}

/// The source of a program with deep stacks.
pub(super) fn deep_source() -> PathBuf {
    root().join("fixtures/workloads/deep.cpp")
}

/// Compiles a program.
pub(super) fn compile(compiler: &str, flags: &[&str], source: &Path, program: &Path) -> Result<()> {
    let mut compiler = Command::new(compiler);
    command::run(compiler.args(flags).arg("-o").arg(program).arg(source))
}

/// Programs that run until this is dropped.
pub(super) struct Busy(Vec<Child>);

impl Busy {
    /// Starts one with a number of rounds to do, several times.
    pub(super) fn start(program: &Path, rounds: &str, times: usize) -> Result<Self> {
        let start = |_| {
            let mut program = Command::new(program);
            program.arg(rounds).stdout(Stdio::null()).spawn()
        };
        let children: Result<Vec<Child>, _> = (0..times).map(start).collect();
        Ok(Self(children.context("starting a busy program")?))
    }

    /// And 30 processes a second that end at once: 15 that sleep, and 15 that do nothing.
    pub(super) fn with_short_processes(mut self) -> Result<Self> {
        let mut shell = Command::new("bash");
        shell.args(["-c", "while sleep 0.066; do /bin/true; done"]);
        self.0.push(shell.spawn().context("starting a shell")?);
        Ok(self)
    }

    /// Their ids, as `-p` takes them.
    pub(super) fn pids(&self) -> String {
        let pids: Vec<String> = self.0.iter().map(|one| one.id().to_string()).collect();
        pids.join(",")
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        for child in &mut self.0 {
            // It may have ended by itself.
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}
