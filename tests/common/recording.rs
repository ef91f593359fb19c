//! Recordings that tests read: those that they make, and those that are part of the project.

use super::{Program, Ran, fixtures, rprof, run};
use serde_json::Value;
use std::path::PathBuf;
use std::process::Command;

/// A recording.
#[derive(Clone, Debug)]
pub struct Recording {
    pub file: PathBuf,
    /// Where its binaries are, if not where they were.
    pub root: Option<PathBuf>,
    /// What the recorder said.
    pub stderr: String,
}

impl Recording {
    /// One that was made just now.
    #[track_caller]
    pub fn new(file: PathBuf, ran: Ran) -> Self {
        assert!(!ran.stderr.contains("panicked"), "{}", ran.stderr);
        Self {
            file,
            root: None,
            stderr: ran.stderr,
        }
    }

    /// One of those that are part of the project.
    pub fn fixture(name: &str) -> Self {
        let dir = fixtures().join(name);
        Self {
            file: dir.join("perf.data"),
            root: Some(dir.join("root")),
            stderr: String::new(),
        }
    }

    /// A sub-command on it.
    pub fn command(&self, name: &str, args: &[&str]) -> Command {
        let mut command = rprof([name, "-i"]);
        command.arg(&self.file).args(args);
        if let Some(root) = &self.root {
            command.arg("--symfs").arg(root);
        }
        command
    }

    /// Runs a sub-command on it, which must end well.
    #[track_caller]
    pub fn run(&self, name: &str, args: &[&str]) -> Ran {
        let ran = run(&mut self.command(name, args)).ok();
        assert!(!ran.stderr.contains("panicked"), "{}", ran.stderr);
        ran
    }

    /// What a sub-command prints of it.
    #[track_caller]
    pub fn read(&self, name: &str, args: &[&str]) -> String {
        self.run(name, args).stdout
    }

    /// What it says about itself.
    #[track_caller]
    pub fn info(&self) -> Value {
        serde_json::from_str(&self.read("info", &["--json"])).unwrap()
    }
}

impl Program {
    /// Records it: `perf.data` in its folder.
    #[track_caller]
    pub fn record(&self, args: &[&str], program_args: &[&str]) -> Recording {
        let ran = run(&mut self.recorder(args, program_args)).ok();
        Recording::new(self.file("perf.data"), ran)
    }

    /// The command that does so.
    pub fn recorder(&self, args: &[&str], program_args: &[&str]) -> Command {
        let mut rprof = rprof(["record"]);
        if !args.contains(&"-e") {
            // Elsewhere the CPU's own counter would be the default.
            rprof.args(["-e", "cpu-clock"]);
        }
        self.recorded_by(rprof.args(args), program_args);
        rprof
    }

    /// Has perf record it, to the same file.
    #[track_caller]
    pub fn record_by_perf(&self, args: &[&str], program_args: &[&str]) -> Recording {
        let ran = run(&mut self.perf(args, program_args)).ok();
        Recording::new(self.file("perf.data"), ran)
    }

    /// The command that does so.
    pub fn perf(&self, args: &[&str], program_args: &[&str]) -> Command {
        let mut perf = super::perf(["record", "-q"]);
        self.recorded_by(perf.args(args), program_args);
        perf
    }

    fn recorded_by(&self, recorder: &mut Command, program_args: &[&str]) {
        recorder.arg("-o").arg(self.file("perf.data")).arg("--");
        recorder.arg(self.path()).args(program_args);
    }
}
