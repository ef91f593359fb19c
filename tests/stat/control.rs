//! Counting that is switched through a pipe.

use crate::common::{Running, needs, rprof, run, scratch, tool};
use crate::stat::{HIT, work};
use std::fs::File;
use std::io::{Read, Write};
use std::path::Path;

/// The two pipes, and both ends of each.
struct Pipes {
    words: File,
    acks: File,
}

impl Pipes {
    #[track_caller]
    fn make(dir: &Path) -> (Self, String) {
        let path = |name: &str| dir.join(name);
        for name in ["words", "acks"] {
            run(tool("mkfifo").arg(path(name))).ok();
        }
        let open = |name: &str| {
            File::options()
                .read(true)
                .write(true)
                .open(path(name))
                .unwrap()
        };
        let pipes = Self {
            words: open("words"),
            acks: open("acks"),
        };
        let how = format!(
            "fifo:{},{}",
            path("words").display(),
            path("acks").display()
        );
        (pipes, how)
    }

    /// Says a word, and waits until it is obeyed.
    #[track_caller]
    fn say(&mut self, word: &str) {
        writeln!(self.words, "{word}").unwrap();
        let mut ack = [0; 5];
        self.acks.read_exact(&mut ack).unwrap();
        assert_eq!(&ack, b"ack\n\0");
    }
}

#[test]
fn only_what_comes_between_enable_and_disable_is_counted() {
    let Some(program) = work() else { return };
    needs!(alone);
    let dir = scratch();
    let (mut pipes, how) = Pipes::make(dir.path());
    let hits = format!("mem:{HIT:#x}:x");
    let work = program.path().display().to_string();
    let script = format!("for i in 1 2 3; do read x; {work}; echo done; done");
    let mut stat = rprof(["stat", "-D", "-1", "--control", &how, "-x,", "-e", &hits]);
    let mut running = Running::start(stat.args(["sh", "-c", &script]));
    pipes.say("ping");
    running.work();
    pipes.say("enable");
    running.work();
    pipes.say(&format!("disable {hits}"));
    running.work();
    let ran = running.finish().ok();
    let fields: Vec<&str> = ran.stderr.split(',').collect();
    assert_eq!(fields[0], "1000", "{}", ran.stderr);
}

#[test]
fn a_word_ends_it_and_others_are_refused() {
    needs!(alone);
    let dir = scratch();
    let (mut pipes, how) = Pipes::make(dir.path());
    let mut stat = rprof(["stat", "--control", &how, "-x,", "-e", "faults"]);
    let running = Running::start(stat.args(["sleep", "300"]));
    pipes.words.write_all(b"snapshot\nenable cycles\n").unwrap();
    pipes.say("stop");
    let ran = running.finish();
    assert_eq!(ran.status.code(), Some(128 + 15), "{}", ran.stderr);
    assert!(
        ran.stderr.contains("unknown command 'snapshot' (known: "),
        "{}",
        ran.stderr
    );
    assert!(
        ran.stderr.contains("event 'cycles' is not counted"),
        "{}",
        ran.stderr
    );
    assert!(ran.stderr.contains(",,faults"), "{}", ran.stderr);
}

#[test]
fn counting_may_begin_later() {
    let Some(program) = work() else { return };
    needs!(alone);
    let hits = format!("mem:{HIT:#x}:x");
    let mut stat = rprof(["stat", "-D", "60000", "-x,", "-e", &hits]);
    let ran = run(stat.arg("--").arg(program.path())).ok();
    // It has ended before.
    assert!(ran.stderr.starts_with("<not counted>,"), "{}", ran.stderr);
}
