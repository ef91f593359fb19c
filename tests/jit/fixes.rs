//! What is printed as a fix is run as it is printed, with the real runtime, and gives the names.

use super::{Left, recorded};
use crate::common::{needs, not_run, rprof, run, scratch, tool};
use std::path::{Path, PathBuf};

/// One that makes code at run time, and a program that spends a second of CPU time in `hot`.
struct Runtime {
    /// Its program; the fix begins with it.
    program: &'static str,
    /// What has to stand before the program's file, whether functions have names or not.
    options: &'static [&'static str],
    file: &'static str,
    source: &'static str,
    /// What the runtime calls `hot`.
    hot: &'static str,
}

const JAVA: Runtime = Runtime {
    program: "java",
    options: &["-cp", "."],
    file: "Hot.java",
    source: r#"
        import java.lang.management.ManagementFactory;
        public class Hot {
            static double hot(int n) { double s = 0; for (int i = 0; i < n; i++) s += Math.sqrt(i) * (i % 7); return s; }
            public static void main(String[] args) {
                var threads = ManagementFactory.getThreadMXBean();
                double sum = 0;
                while (threads.getCurrentThreadCpuTime() < 1_000_000_000L) sum += hot(100_000);
                System.out.println(ProcessHandle.current().pid());
            }
        }"#,
    hot: "Hot.hot(int)",
};

const NODE: Runtime = Runtime {
    program: "node",
    options: &[],
    file: "hot.js",
    source: super::HOT,
    hot: "hotFunction ",
};

const PHP: Runtime = Runtime {
    program: "php",
    options: &[
        "-d",
        "opcache.enable_cli=1",
        "-d",
        "opcache.jit_buffer_size=64M",
        "-d",
        "opcache.jit=tracing",
        "-d",
        // Else files of the last two seconds stay without JIT code.
        "opcache.file_update_protection=0",
    ],
    file: "hot.php",
    source: r#"<?php
        function hot($n) { $s = 0; for ($i = 0; $i < $n; $i++) $s = ($s + $i * 7) % 1000003; return $s; }
        function user() { $used = getrusage(); return $used["ru_utime.tv_sec"] * 1e6 + $used["ru_utime.tv_usec"]; }
        $sum = 0;
        while (user() < 1e6) $sum += hot(100000);
        echo getmypid(), "\n";"#,
    hot: "$hot$",
};

/// The command of a fix: what stands before what is said of it.
fn command(fix: &str) -> Vec<&str> {
    let command = fix.split([',', ';']).next().unwrap();
    let command = command.split(" (").next().unwrap();
    command.split_whitespace().collect()
}

impl Runtime {
    /// Records the program with more options; returns the recording, and what is to be removed.
    fn record(&self, dir: &Path, more: &[&str]) -> (PathBuf, Left) {
        let program = match self.program {
            "java" => "Hot",
            _ => self.file,
        };
        let mut words = vec![self.program];
        words.extend(self.options.iter().chain(more).chain([&program]));
        let (file, pid) = recorded(dir, &words);
        (file, Left(format!("/tmp/perf-{}.map", pid.trim()).into()))
    }

    /// The fix that `rprof symbols` prints for its code.
    fn printed_fix(&self, dir: &Path) -> String {
        let (file, left) = self.record(dir, &[]);
        let table = run(rprof(["symbols"]).arg(&file)).ok().stdout;
        let map = left.0.to_str().unwrap();
        let about = table.split(map).nth(1);
        let about = about.unwrap_or_else(|| panic!("{map} is not in\n{table}"));
        let mut lines = about.lines().map(str::trim);
        let fix = lines.find_map(|line| line.strip_prefix("fix "));
        fix.unwrap_or_else(|| panic!("{table}")).trim().to_owned()
    }

    fn is_fixed_as_printed(&self) {
        let dir = scratch();
        std::fs::write(dir.path().join(self.file), self.source).unwrap();
        if self.program == "java" {
            run(tool("javac").arg(self.file).current_dir(dir.path())).ok();
        }
        let fix = self.printed_fix(dir.path());
        let words = command(&fix);
        assert_eq!(words[0], self.program, "{fix}");
        let (file, _left) = self.record(dir.path(), &words[1..]);
        let mut report = rprof(["report", "--no-children", "-g", "none", "-s", "sym", "-i"]);
        let table = run(report.arg(&file)).ok().stdout;
        assert!(table.contains(self.hot), "{fix}\n{table}");
    }
}

#[test]
fn the_fix_for_java_names_its_functions() {
    needs!("javac" in "default-jdk-headless", live);
    JAVA.is_fixed_as_printed();
}

#[test]
fn the_fix_for_node_names_its_functions() {
    needs!("node" in "nodejs", live);
    NODE.is_fixed_as_printed();
}

#[test]
fn the_fix_for_php_names_its_functions() {
    needs!("php" in "php-cli", live);
    PHP.is_fixed_as_printed();
}

const PYTHON: &str = "
import os, time
def hot(n):
    s = 0
    for i in range(n): s += i * i % 7
    return s
while time.process_time() < 1: hot(10000)
print(os.getpid())
";

/// A Python that knows `-X perf`, and the variable that lets pyenv find it.
fn python() -> Option<(&'static str, &'static str)> {
    let versions = [("python3.13", "3.13"), ("python3.12", "3.12")];
    versions.into_iter().find(|(python, version)| {
        let asks = || run(tool(python).arg("--version").env("PYENV_VERSION", version)).status;
        crate::common::in_path(python).is_some() && asks().success()
    })
}

#[test]
fn the_fix_for_python_names_its_functions() {
    let Some((python, version)) = python() else {
        return not_run("no Python of 3.12 or newer is here");
    };
    needs!(live);
    let dir = scratch();
    std::fs::write(dir.path().join("hot.py"), PYTHON).unwrap();
    let table = |options: &[&str]| {
        let file = dir.path().join("perf.data");
        let mut record = rprof(["record", "-q", "-e", "cpu-clock", "-F", "1999", "-o"]);
        record
            .arg(&file)
            .arg("--")
            .arg(python)
            .args(options)
            .arg("hot.py");
        let record = record.current_dir(dir.path()).env("PYENV_VERSION", version);
        let pid = run(record).ok().stdout;
        let left = Left(format!("/tmp/perf-{}.map", pid.trim()).into());
        let mut report = rprof(["report", "--children", "-g", "none", "-i"]);
        (run(report.arg(&file)).ok().stdout, left)
    };
    let (without, _left) = table(&[]);
    let printed = without.split("python3 ").nth(1);
    let printed = printed.unwrap_or_else(|| panic!("no fix in\n{without}"));
    let (with, _left) = table(&command(printed));
    assert!(with.contains("py::hot:"), "{printed}\n{with}");
    assert!(!with.contains("python3 -X perf"), "{with}");
}
