//! Recordings that tests read: those that they make, and those that are part of the project.

use super::{Program, Ran, alone, fixtures, number_after, number_before, rprof, run, shared};
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

    /// Samples that were lost: its report says as many as the recorder did, and "at most" where some
    /// of them may be of those that were left out.
    #[track_caller]
    pub fn lost(&self) -> u64 {
        let table = self.read("report", &["-g", "none"]);
        let heading = "# Total Lost Samples: ";
        let is_at_most = table.contains(&format!("{heading}at most "));
        let bound = if is_at_most { "at most " } else { "" };
        let lost = number_after(&table, &format!("{heading}{bound}")).expect(&table);
        assert_eq!(number_before(&self.stderr, " lost"), Some(lost), "{table}");
        let may_be_left_out = lost > 0 && table.contains("# Left out: ");
        assert_eq!(is_at_most, may_be_left_out, "{table}");
        let said_by_recorder = self.stderr.contains(&format!(", {bound}{lost} lost"));
        assert!(said_by_recorder || !is_at_most, "{}", self.stderr);
        lost
    }

    /// What it says about itself.
    #[track_caller]
    pub fn info(&self) -> Value {
        serde_json::from_str(&self.read("info", &["--json"])).unwrap()
    }
}

impl Program {
    /// Records it: `perf.data` in its folder. Beside others, if neither what they do nor the room in its rings counts.
    #[track_caller]
    pub fn record(&self, args: &[&str], program_args: &[&str]) -> Recording {
        let sees_neighbours = args.contains(&"-a") || args.contains(&"-m");
        let _live = if sees_neighbours { alone() } else { shared() };
        self.run(&mut self.recorder(args, program_args))
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
        self.recorded(&mut self.perf(args, program_args))
    }

    /// Runs a recorder that writes `perf.data`, alone.
    #[track_caller]
    pub fn recorded(&self, recorder: &mut Command) -> Recording {
        let _live = alone();
        self.run(recorder)
    }

    #[track_caller]
    fn run(&self, recorder: &mut Command) -> Recording {
        let ran = run(recorder).ok();
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
