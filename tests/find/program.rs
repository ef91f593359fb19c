//! A program, a recording of it, and what is printed of that.

use crate::common::{self, needs, rprof, run, scratch, work};
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;

/// `folded` is inlined; `local_work` is no symbol that other files could use.
const SOURCE: &str = r#"
    #include <poll.h>
    #include <stdio.h>
    static volatile unsigned sink;
    static inline __attribute__((always_inline)) unsigned folded(unsigned x) {
        for (unsigned i = 0; i < 100; i++)
            sink += x * i;
        return sink;
    }
    static __attribute__((noinline)) unsigned local_work(unsigned n) {
        unsigned sum = 0;
        for (long end = CPU_US() + n * 1000L; CPU_US() < end;)
            for (unsigned i = 0; i < 200; i++)
                sum += folded(i);
        return sum;
    }
    __attribute__((noinline)) unsigned work(unsigned n) {
        return local_work(n) + 1;
    }
    int main(int n_args, char **args) {
        printf("ready %u\n", work(400));
        fflush(stdout);
        if (n_args > 1)
            // Until nobody listens there any more, should nobody end it before.
            poll(&(struct pollfd){ .fd = 3 }, 1, -1);
        return 0;
    }"#;

/// Programs with this id pass for each other.
pub const BUILD_ID: &str = "-Wl,--build-id=0x0123456789abcdef0123456789abcdef01234567";
pub const OTHER_BUILD_ID: &str = "-Wl,--build-id=0xfedcba9876543210fedcba9876543210fedcba98";
pub const NO_BUILD_ID: &str = "-Wl,--build-id=none";

/// Compiles the program in a folder; DWARF is where `args` say.
#[track_caller]
pub fn compile(dir: &Path, name: &str, args: &[&str]) -> PathBuf {
    std::fs::create_dir_all(dir).unwrap();
    std::fs::write(dir.join("spin.c"), format!("{}{SOURCE}", work::C)).unwrap();
    let mut cc = common::tool("cc");
    cc.args(["-O2", "-g", "-fno-optimize-sibling-calls"])
        .args(args)
        .args(["-o", name, "spin.c"])
        .current_dir(dir);
    run(&mut cc).ok();
    dir.join(name)
}

/// Runs a tool in a folder: words of one line.
#[track_caller]
pub fn tool(dir: &Path, line: &str) {
    let mut words = line.split(' ');
    let mut command = common::tool(words.next().unwrap());
    run(command.args(words).current_dir(dir)).ok();
}

/// What is compared: addresses, names, inlined frames and lines of every sample's stack.
pub fn printed(file: &Path, args: &[&str]) -> String {
    let mut script = rprof(["script", "-F", "ip,sym,symoff,srcline", "-i"]);
    run(alone(script.arg(file).args(args), file)).ok().stdout
}

/// The table of a recording.
pub fn shown(file: &Path) -> String {
    let mut report = rprof(["report", "--no-children", "-g", "none", "-i"]);
    run(alone(report.arg(file), file)).ok().stdout
}

/// Without perf's cache, which may have a program of this build id from another run.
pub fn alone<'c>(command: &'c mut Command, file: &Path) -> &'c mut Command {
    command.env("HOME", file.parent().unwrap())
}

/// A folder with the whole program, and a recording of it by the name of `program`.
pub struct Recorded {
    pub dir: TempDir,
    pub whole: PathBuf,
    pub program: PathBuf,
    pub file: PathBuf,
    pub expected: String,
}

impl Recorded {
    /// `None` without a compiler.
    #[track_caller]
    pub fn new(args: &[&str], record: &[&str]) -> Option<Self> {
        needs!(cc);
        needs!(live);
        let dir = scratch();
        let whole = compile(dir.path(), "whole", args);
        let (program, file) = (dir.path().join("program"), dir.path().join("perf.data"));
        std::fs::copy(&whole, &program).unwrap();
        let mut recorder = rprof(["record", "-q", "-e", "cpu-clock", "-F", "1999", "-o"]);
        recorder.arg(&file).args(record).arg("--").arg(&program);
        run(&mut recorder).ok();
        let expected = printed(&file, &[]);
        assert_is_whole(&expected);
        Some(Self {
            dir,
            whole,
            program,
            file,
            expected,
        })
    }

    pub fn path(&self) -> &Path {
        self.dir.path()
    }

    /// Everything is as of the whole program; then nothing is left of what made it so.
    #[track_caller]
    pub fn is_the_same(&self, how: &str) {
        let now = printed(&self.file, &[]);
        assert!(now == self.expected, "{how}:\n{now}\n{}", self.expected);
        self.clear();
    }

    pub fn clear(&self) {
        for entry in std::fs::read_dir(self.path()).unwrap() {
            let entry = entry.unwrap();
            let name = entry.file_name().into_string().unwrap();
            match &*name {
                "whole" | "spin.c" | "perf.data" => {}
                _ if entry.file_type().unwrap().is_dir() => {
                    std::fs::remove_dir_all(entry.path()).unwrap();
                }
                _ => std::fs::remove_file(entry.path()).unwrap(),
            }
        }
    }
}

/// A comparison says something only if there is something to compare.
#[track_caller]
pub fn assert_is_whole(printed: &str) {
    for part in [
        "folded",
        "(inlined)",
        " local_work+",
        " work+",
        " main+",
        "spin.c:",
    ] {
        assert!(printed.contains(part), "no {part} in\n{printed}");
    }
}

/// Lines that say something of the program, not of libraries.
pub fn of_program(printed: &str) -> Vec<&str> {
    let is_its = |line: &&str| {
        let names = ["folded", " local_work+", " work+", " main+", "spin.c"];
        names.iter().any(|name| line.contains(name))
    };
    printed.lines().filter(is_its).collect()
}
