//! Programs whose stacks are known, and the samples of recordings.

use crate::common::{NO_FRAME_POINTERS, Program, Recording, compile, run};
use serde_json::Value;
use std::path::Path;

/// What all programs begin with: `spin` is where they spend their time, that many milliseconds.
pub const SPIN: &str = r"
    #define NOINLINE __attribute__((noinline))
    static volatile unsigned long sink;
    NOINLINE void spin(unsigned long ms) { WORK(ms, sink += i) }
";

/// Compiles a C program without frame pointers to record it; `None` if that cannot be done here.
#[track_caller]
pub fn program(source: &str) -> Option<Program> {
    Program::new(&format!("{SPIN}{source}"), NO_FRAME_POINTERS)
}

/// Compiles a library that such a program may load.
#[track_caller]
pub fn library(output: &Path, source: &str) {
    let options = [NO_FRAME_POINTERS, &["-shared", "-fPIC"]].concat();
    compile(output, source, &options);
}

/// A frame of a sample's stack.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame {
    /// As it is printed: in user space, relative to the image.
    pub address: u64,
    pub name: String,
    pub image: String,
}

impl Frame {
    pub fn is_kernel(&self) -> bool {
        self.address >> 63 == 1
    }
}

/// A sample and its stack, innermost frame first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sample {
    pub comm: String,
    pub pid: i32,
    pub tid: i32,
    pub frames: Vec<Frame>,
    /// Why the stack is not whole.
    pub end: Option<String>,
}

impl Recording {
    /// Its samples.
    #[track_caller]
    pub fn samples(&self) -> Vec<Sample> {
        self.samples_with(&[])
    }

    /// Samples that are picked by more options.
    #[track_caller]
    pub fn samples_with(&self, args: &[&str]) -> Vec<Sample> {
        let fields = "comm,pid,tid,ip,sym,dso,stackend";
        let args = [&["--no-inline", "-F", fields], args].concat();
        samples(&self.read("script", &args))
    }

    /// Samples by the function that they were taken in.
    #[track_caller]
    pub fn samples_in(&self, function: &str) -> Vec<Sample> {
        let mut samples = self.samples();
        samples.retain(|sample| {
            sample
                .user()
                .next()
                .is_some_and(|frame| frame.name == function)
        });
        assert!(
            samples.len() > 5,
            "{} in {function}: {self:?}",
            samples.len()
        );
        samples
    }

    /// How its stacks ended.
    #[track_caller]
    pub fn ends(&self) -> Ends {
        let info = self.info();
        let ends = &info["features"]["stack_ends"];
        let number = |value: &Value| value.as_u64().unwrap();
        Ends {
            complete: number(&ends["complete"]),
            completed: number(&ends["completed"]),
            others: ends["reasons"]
                .as_array()
                .unwrap()
                .iter()
                .map(|reason| number(&reason["stacks"]))
                .sum(),
        }
    }

    /// What perf makes of it, which must be nothing to complain about.
    #[track_caller]
    pub fn perf_samples(&self) -> Vec<Sample> {
        let mut perf = crate::common::perf(["script", "--no-inline", "--max-stack", "10000", "-F"]);
        perf.args(["comm,pid,tid,ip,sym,dso", "-i"]).arg(&self.file);
        let ran = run(&mut perf).ok();
        assert_eq!(ran.stderr, "");
        samples(&ran.stdout)
    }

    /// Whether the machine was too busy for the recorder: stacks may be cut then.
    pub fn is_behind(&self) -> bool {
        self.stderr.contains("writer could not keep up")
    }
}

/// Numbers of stacks.
#[derive(Debug, PartialEq, Eq)]
pub struct Ends {
    pub complete: u64,
    pub completed: u64,
    pub others: u64,
}

impl Sample {
    /// The frames of the program.
    pub fn user(&self) -> impl Iterator<Item = &Frame> {
        self.frames.iter().filter(|frame| !frame.is_kernel())
    }

    /// Their names.
    pub fn names(&self) -> Vec<&str> {
        self.user().map(|frame| frame.name.as_str()).collect()
    }

    /// Those up to where frames are missing.
    pub fn innermost(&self) -> Vec<&str> {
        let names = self.user().map(|frame| frame.name.as_str());
        names.take_while(|name| *name != "[truncated]").collect()
    }

    pub fn has(&self, name: &str) -> bool {
        self.user().any(|frame| frame.name == name)
    }

    pub fn is_whole(&self) -> bool {
        self.end.is_none()
    }

    /// Whether it is said to be short because less was copied.
    pub fn is_shortened(&self) -> bool {
        let end = self.end.as_deref();
        matches!(end, Some("truncated" | "no-dump" | "hole"))
    }

    /// Whether it is short, and the machine too busy for more.
    pub fn is_excused(&self, of: &Recording) -> bool {
        self.is_shortened() && of.is_behind()
    }

    /// Asserts that it is whole, and begins with these frames and ends with those of a program's
    /// start; or the recorder was late and says so.
    #[track_caller]
    pub fn assert_is(&self, of: &Recording, expected: &[&str]) {
        let names = self.names();
        if self.is_excused(of) {
            assert!(expected.starts_with(&self.innermost()), "{self:#?}");
            return;
        }
        assert!(self.is_whole(), "{self:#?}");
        assert!(names.starts_with(expected), "{self:#?}");
        let rest = &names[expected.len()..];
        assert!(rest.len() <= 3 && rest.ends_with(&["_start"]), "{self:#?}");
    }
}

/// Samples as they are printed.
#[track_caller]
fn samples(text: &str) -> Vec<Sample> {
    let blocks = text.split("\n\n").filter(|block| !block.trim().is_empty());
    blocks.map(sample).collect()
}

#[track_caller]
fn sample(block: &str) -> Sample {
    let mut lines = block.trim_start_matches('\n').lines();
    let head = lines.next().unwrap().trim();
    let (comm, ids) = head.rsplit_once(' ').unwrap();
    let (pid, tid) = ids.split_once('/').unwrap();
    let mut sample = Sample {
        comm: comm.trim().to_owned(),
        pid: pid.parse().unwrap(),
        tid: tid.parse().unwrap(),
        frames: Vec::new(),
        end: None,
    };
    for line in lines {
        let line = line.trim();
        if let Some(end) = line.strip_prefix("[stack ends here: ") {
            sample.end = Some(end.trim_end_matches(']').to_owned());
            continue;
        }
        let (address, rest) = line.split_once(' ').unwrap();
        let (name, image) = rest.rsplit_once(" (").unwrap();
        sample.frames.push(Frame {
            address: u64::from_str_radix(address, 16).expect(line),
            name: name.to_owned(),
            image: image.trim_end_matches(')').to_owned(),
        });
    }
    sample
}
