//! When samples are taken (`-D`, `--control`).

use super::{info, sampled};
use crate::common::{
    FRAME_POINTERS, Program, Ran, Running, alone, needs, perf, rprof, run, samples, scratch, tool,
    work::burn,
};
use std::fs::File;
use std::io::{Read, Write};
use std::path::Path;
use std::process::Command;

/// Three parts, each of which begins with a line and ends with another.
const PARTS: &str = r#"
#include <stdio.h>
volatile unsigned long sink;
__attribute__((noinline)) void before(void) { WORK(60, sink += i) }
__attribute__((noinline)) void between(void) { WORK(60, sink += i) }
__attribute__((noinline)) void after(void) { WORK(60, sink += i) }
static void part(void (*work)(void)) {
    if (getchar() != '\n') return;
    work();
    puts("done");
    fflush(stdout);
}
int main(void) {
    part(before); part(between); part(after);
    return getchar() == '\n' ? 7 : 8;
}
"#;
const NAMES: &[&str] = &["before", "between", "after"];

/// The pipes of `--control fifo:words,acks`, in a folder.
struct Pipes {
    words: File,
    acks: File,
}

impl Pipes {
    #[track_caller]
    fn make(dir: &Path) -> Self {
        let open = |name| {
            let path = dir.join(name);
            run(tool("mkfifo").arg(&path)).ok();
            // Also to be written: then nobody is waited for.
            File::options().read(true).write(true).open(path).unwrap()
        };
        let (words, acks) = (open("words"), open("acks"));
        Self { words, acks }
    }

    #[track_caller]
    fn say(&mut self, word: &str) {
        self.words
            .write_all(format!("{word}\n").as_bytes())
            .unwrap();
    }

    /// Says a word, and waits for its acknowledgement.
    #[track_caller]
    fn ask(&mut self, word: &str) {
        self.say(word);
        let mut ack = [0; 5];
        self.acks.read_exact(&mut ack).unwrap();
        assert_eq!(&ack, b"ack\n\0", "{word}");
    }

    /// All that was acknowledged, once nobody else writes.
    #[track_caller]
    fn all(&mut self) -> String {
        self.acks.write_all(b"end").unwrap();
        let mut bytes = Vec::new();
        while !bytes.ends_with(b"end") {
            let mut byte = [0];
            self.acks.read_exact(&mut byte).unwrap();
            bytes.push(byte[0]);
        }
        String::from_utf8(bytes).unwrap()
    }
}

#[test]
fn samples_are_taken_from_enable_to_disable() {
    let Some(program) = Program::new(PARTS, FRAME_POINTERS) else {
        return;
    };
    for form in ["fifo", "fd"] {
        let _live = alone();
        let dir = scratch();
        let mut pipes = Pipes::make(dir.path());
        let control = match form {
            "fifo" => "--control=fifo:words,acks",
            _ => "--control=fd:7,8",
        };
        let mut shell = tool("sh");
        shell.args(["-c", "exec 7<>words 8<>acks \"$@\"", "sh"]);
        let args = ["record", "-e", "cpu-clock", "-D", "-1", control, "--"];
        shell.arg(env!("CARGO_BIN_EXE_rprof")).args(args);
        shell.arg(program.path()).current_dir(dir.path());
        let mut recorder = Running::start(&mut shell);
        recorder.work();
        pipes.ask("enable");
        recorder.work();
        pipes.ask("disable");
        recorder.work();
        recorder.type_in(b"\n");
        let ran = recorder.finish();
        assert_eq!(ran.status.code(), Some(7), "{ran:?}");
        assert!(ran.stderr.contains("rprof: events enabled\n"), "{ran:?}");
        let file = dir.path().join("perf.data");
        assert_eq!(sampled(&file, NAMES), ["between"], "{form}: {ran:?}");
    }
}

#[test]
fn an_event_is_switched_by_its_name() {
    needs!(live);
    let dir = scratch();
    let mut pipes = Pipes::make(dir.path());
    let words = "record -e cpu-clock:u -e task-clock:u --control fifo:words,acks -- cat";
    let mut record = rprof(words.split(' '));
    let recorder = Running::start(record.current_dir(dir.path()));
    pipes.ask("disable cpu-clock:u");
    pipes.ask("disable nope");
    pipes.ask("evlist");
    pipes.ask("evlist -v");
    pipes.say("enabled");
    pipes.ask("ping");
    pipes.ask("stop");
    let ran = recorder.finish();
    assert_eq!(ran.status.code(), Some(0), "{ran:?}");
    for said in [
        "rprof: event 'cpu-clock:u' disabled\n",
        "rprof: --control: no event 'nope' (recorded: cpu-clock:u, task-clock:u)\n",
        "rprof: cpu-clock:u\nrprof: task-clock:u\nrprof: dummy:u\n",
        "rprof: task-clock:u: type: 1, config: 0x1, sample_freq: 4000, sample_type: IP|TID|TIME",
        "rprof: --control: unknown command 'enabled' (known: enable [EVENT], ",
    ] {
        assert!(ran.stderr.contains(said), "{said}: {}", ran.stderr);
    }
}

#[test]
fn words_are_acknowledged_as_by_perf() {
    needs!(alone, perf);
    let acknowledged = |recorder: &mut Command, words: &[&str]| -> (String, Ran) {
        let dir = scratch();
        let mut pipes = Pipes::make(dir.path());
        let args = "record -e cpu-clock -D -1 --control fifo:words,acks -- cat";
        recorder.args(args.split(' ')).current_dir(dir.path());
        let running = Running::start(recorder);
        words.iter().for_each(|word| pipes.say(word));
        let ran = running.finish();
        (pipes.all(), ran)
    };
    for words in [
        &["ping", "stop"][..],
        &["enable", "nonsense", "disable", "stop"],
        &[
            "evlist",
            "evlist -v",
            "",
            "enable cpu-clock",
            "enable nope",
            "stop",
        ],
        &["snapshot", "nonsense", "nonsense", "stop"],
    ] {
        let (ours, ran) = acknowledged(&mut rprof([""; 0]), words);
        let (perfs, _) = acknowledged(&mut perf([""; 0]), words);
        assert_eq!(ours, perfs, "{words:?}: {ran:?}");
        let n_acks = words
            .iter()
            .filter(|word| !["", "nonsense"].contains(word))
            .count();
        assert_eq!(ours.matches("ack\n\0").count(), n_acks, "{words:?}");
    }
}

#[test]
fn the_file_is_complete_when_acknowledgements_end() {
    needs!(live);
    let dir = scratch();
    let mut pipes = Pipes::make(dir.path());
    let args = "record -e cpu-clock -F 4999 -z19 --control fifo:words,acks -- cat";
    let mut recorder = rprof(args.split(' '));
    let running = Running::start(recorder.current_dir(dir.path()));
    // From now on rprof has its end of the pipe open.
    pipes.ask("ping");
    let Pipes { mut words, acks } = pipes;
    let mut rest = File::open(dir.path().join("acks")).unwrap();
    drop(acks);
    words.write_all(b"stop\n").unwrap();
    rest.read_to_end(&mut Vec::new()).unwrap();
    let len = || dir.path().join("perf.data").metadata().unwrap().len();
    let len_at_end = len();
    let ran = running.finish();
    assert_eq!(len_at_end, len(), "{ran:?}");
}

#[test]
fn ranges_of_time_end_with_the_last_one() {
    needs!(live);
    let dir = scratch();
    let record = |words: &[&str]| {
        let mut record = rprof(["record", "-e", "cpu-clock"]);
        run(record.args(words).current_dir(dir.path()))
    };
    // The command does not end by itself.
    let spin = ["sh", "-c", "while :; do :; done"];
    let ran = record(&[&["-D", "20-120,140-240", "--"], &spin[..]].concat()).ok();
    assert!(samples(&ran.stderr) > 0, "{}", ran.stderr);
    let switched: Vec<_> = ran
        .stderr
        .lines()
        .filter(|line| line.contains("events "))
        .collect();
    let (on, off) = ("rprof: events enabled", "rprof: events disabled");
    assert_eq!(switched, [off, on, off, on], "{}", ran.stderr);
    // Of a command that ends by itself, the status is passed on.
    let ran = record(&[
        "-D",
        "1",
        "--",
        "sh",
        "-c",
        &format!("{}; exit 3", burn(30)),
    ]);
    assert_eq!(ran.status.code(), Some(3), "{ran:?}");
    assert!(samples(&ran.stderr) > 0, "{}", ran.stderr);
    // Events wait for no exec then, as perf's.
    let attr = &info(&dir.path().join("perf.data"))["events"][0]["attr"];
    assert!(
        !attr["flags"].to_string().contains("enable_on_exec"),
        "{attr}"
    );
    let said = record(&["-D", "-1", "true"]).ok().stderr;
    assert!(
        said.contains("no samples: they were never enabled"),
        "{said}"
    );
}

#[test]
fn what_cannot_control_a_recording_is_one_line() {
    let dir = scratch();
    std::fs::write(dir.path().join("file"), "").unwrap();
    for (how, code, said) in [
        (
            "fifo:missing",
            1,
            "commands from missing (mkfifo creates a FIFO): No such file",
        ),
        (
            "fifo:file",
            1,
            "commands from file (mkfifo creates a FIFO): neither a FIFO nor a pipe",
        ),
        ("fd:99", 1, "commands from /proc/self/fd/99 "),
        ("pipe:x", 2, "fifo:PATH[,PATH] or fd:N[,N]"),
    ] {
        let mut record = rprof(["record", "--control", how, "true"]);
        let error = run(record.current_dir(dir.path())).fails(code);
        assert!(error.contains(said), "{error}");
        assert_eq!(error.lines().count(), 1, "{error}");
    }
    let error = run(rprof(["record", "-D", "5-1", "true"]).current_dir(dir.path())).fails(2);
    assert!(error.contains("the range 5-1 is empty"), "{error}");
    assert!(!dir.path().join("perf.data").exists());
}
