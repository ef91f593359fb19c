//! Debug files from servers: Debian's debuginfod, and servers of our own that misbehave.

mod real;

use crate::common::server::{Reply, Server};
use crate::common::{Ran, has, needs, rprof, run, scratch, tool, work};
use std::path::PathBuf;
use std::process::Command;

const PROGRAM: &str = r#"
    #include <stdint.h>
    static inline __attribute__((always_inline)) uint64_t mix_inlined(uint64_t x) {
        x ^= x << 13; x ^= x >> 7; x ^= x << 17;
        return x;
    }
    __attribute__((noinline)) uint64_t burn_cpu(uint64_t n) {
        uint64_t x = 88172645463325252ull;
        WORK(n, x = mix_inlined(x))
        return x;
    }
    int main(void) { return burn_cpu(400) == 1; }"#;

/// A program without names, and its recording; beside it, what was taken away.
struct Stripped {
    dir: tempfile::TempDir,
    build_id: String,
}

impl Stripped {
    fn new(call_graph: &str) -> Self {
        let dir = scratch();
        let path = |name: &str| dir.path().join(name);
        std::fs::write(path("program.c"), format!("{}{PROGRAM}", work::C)).unwrap();
        std::fs::create_dir(path("served")).unwrap();
        let make = |words: &str| {
            let mut words = words.split(' ');
            let mut command = tool(words.next().unwrap());
            run(command.args(words).current_dir(dir.path())).ok().stdout
        };
        make("cc -g -O1 -Wl,--build-id -o program program.c");
        make("objcopy --only-keep-debug program served/program.debug");
        make("objcopy --strip-all program");
        let notes = make("readelf -n program");
        let build_id = notes.split("Build ID: ").nth(1).unwrap();
        let build_id = build_id.split_whitespace().next().unwrap().to_owned();
        let mut record = rprof(["record", "-q", "-e", "cpu-clock", "-F", "499", "-o"]);
        record.arg(path("perf.data"));
        record
            .args(["--call-graph", call_graph, "--"])
            .arg(path("program"));
        run(&mut record).ok();
        Self { dir, build_id }
    }

    fn debug_file(&self) -> Vec<u8> {
        std::fs::read(self.dir.path().join("served/program.debug")).unwrap()
    }

    /// The path of a file on a server.
    fn path(&self, kind: &str) -> String {
        format!("/buildid/{}/{kind}", self.build_id)
    }

    /// The folder where fetched files of the program are.
    fn cache(&self) -> PathBuf {
        self.dir.path().join("cache").join(&self.build_id)
    }

    /// Names of files in that folder, sorted.
    fn cached(&self) -> Vec<String> {
        let Ok(entries) = std::fs::read_dir(self.cache()) else {
            return Vec::new();
        };
        let name = |entry: std::fs::DirEntry| entry.file_name().into_string().unwrap();
        let mut names: Vec<String> = entries.map(|entry| name(entry.unwrap())).collect();
        names.sort();
        names
    }

    fn rprof(&self, verb: &[&str], urls: &str) -> Command {
        let mut command = rprof(verb);
        command.arg("-i").arg(self.dir.path().join("perf.data"));
        command
            .env("HOME", self.dir.path())
            .env("DEBUGINFOD_URLS", urls)
            .env("DEBUGINFOD_CACHE_PATH", self.dir.path().join("cache"));
        command
    }

    fn report(&self, urls: &str, more: &[&str]) -> Ran {
        // Hardly a sample is outside of the inlined function.
        let report = ["report", "--no-children", "--self-by-symbol"];
        run(self.rprof(&report, urls).args(more)).ok()
    }
}

/// The debug file is here: the program's function has its name.
#[track_caller]
fn assert_named(ran: &Ran) {
    let Ran { stdout, stderr, .. } = ran;
    assert!(stdout.contains(" burn_cpu"), "{stdout}\n{stderr}");
}

fn can_run() -> bool {
    has("cc", "gcc") && has("objcopy", "binutils") && has("readelf", "binutils")
}

/// Long enough for any machine.
const PATIENT: [&str; 2] = ["--debuginfod-wait", "60"];

#[test]
fn a_server_that_hangs_is_not_waited_for() {
    if !can_run() {
        return;
    }
    needs!(live);
    let program = Stripped::new("none");
    let hanging = Server::new(|_| Reply::Silence);
    // It would be silent for ever.
    let ran = program.report(&hanging.url, &[]);
    let said = "debuginfod: continued without the files of";
    assert!(ran.stderr.contains(said), "{}", ran.stderr);
    assert!(ran.stderr.contains("program"), "{}", ran.stderr);
    assert!(ran.stdout.contains("program"), "{}", ran.stdout);
    // Another server answers meanwhile.
    let file = program.debug_file();
    let path = program.path("debuginfo");
    let other = Server::new(move |asked| {
        if asked == path {
            Reply::Is(200, file.clone())
        } else {
            Reply::Is(404, Vec::new())
        }
    });
    let urls = format!("{} {}", hanging.url, other.url);
    let ran = program.report(&urls, &[PATIENT[0], "5"]);
    assert_named(&ran);
}

#[test]
fn what_no_server_has_is_asked_for_once() {
    if !can_run() {
        return;
    }
    needs!(live);
    let program = Stripped::new("none");
    let server = Server::new(|_| Reply::Is(404, b"not found".to_vec()));
    let only_ours = |asked: Vec<String>| {
        let mut asked = asked;
        asked.retain(|path| path.contains(&program.build_id));
        asked
    };
    program.report(&server.url, &["--no-debuginfod"]);
    assert_eq!(server.asked(), [""; 0]);
    let first = program.report(&server.url, &PATIENT);
    assert_eq!(first.stderr, "");
    assert_eq!(only_ours(server.asked()), [program.path("debuginfo")]);
    let n_asked = server.asked().len();
    let second = program.report(&server.url, &PATIENT);
    assert_eq!(server.asked().len(), n_asked);
    assert_eq!(first.stdout, second.stdout);
    // As elfutils' client leaves it, so that gdb does not ask either.
    let note = std::fs::metadata(program.cache().join("debuginfo")).unwrap();
    assert_eq!(note.len(), 0);
}

#[test]
fn only_the_file_that_was_asked_for_counts() {
    if !can_run() {
        return;
    }
    needs!(live);
    let program = Stripped::new("none");
    let right = program.debug_file();
    let mut other = right.clone();
    let id: Vec<u8> = (0..program.build_id.len())
        .step_by(2)
        .map(|at| u8::from_str_radix(&program.build_id[at..at + 2], 16).unwrap())
        .collect();
    let at = other
        .windows(id.len())
        .position(|bytes| bytes == id)
        .unwrap();
    other[at] ^= 1;
    let bad: [(&str, Vec<u8>, &str); 3] = [
        (
            "another build id",
            other,
            "the server sent a different file",
        ),
        (
            "garbage",
            b"<html>hello</html>".to_vec(),
            "the server sent a different file",
        ),
        ("nothing", Vec::new(), "the server sent a different file"),
    ];
    for (what, body, why) in bad {
        let server = Server::new(move |_| Reply::Is(200, body.clone()));
        let ran = program.report(&server.url, &PATIENT);
        assert!(!ran.stdout.contains("burn_cpu"), "{what}: {}", ran.stdout);
        assert!(ran.stderr.contains(why), "{what}: {}", ran.stderr);
        assert_eq!(program.cached(), [""; 0], "{what}");
    }
    let broken = Server::new(|_| Reply::Is(503, Vec::new()));
    let ran = program.report(&broken.url, &PATIENT);
    assert!(ran.stderr.contains("status 503"), "{}", ran.stderr);
    let nobody = program.report("http://127.0.0.1:1", &PATIENT);
    assert!(
        nobody.stderr.contains("debuginfod: http://127.0.0.1:1: "),
        "{}",
        nobody.stderr
    );
    assert_eq!(program.cached(), [""; 0]);
    // The right one, by way of another address.
    let target = Server::new(move |_| Reply::Is(200, right.clone()));
    let url = format!("{}{}", target.url, "/elsewhere");
    let redirecting = Server::new(move |_| Reply::At(url.clone()));
    let ran = program.report(&redirecting.url, &PATIENT);
    assert_named(&ran);
}

#[test]
fn an_endless_answer_ends_and_leaves_nothing() {
    if !can_run() {
        return;
    }
    needs!(alone);
    let program = Stripped::new("none");
    let start = program.debug_file();
    let server = Server::new(move |_| Reply::Endless(start.clone()));
    let ran = program.report(&server.url, &[PATIENT[0], "0.5"]);
    assert!(
        ran.stderr.contains("continued without the files of"),
        "{}",
        ran.stderr
    );
    assert_eq!(program.cached(), [""; 0]);
    let mut bounded = program.rprof(&["report"], &server.url);
    bounded.env("DEBUGINFOD_MAXSIZE", "1000000").args(PATIENT);
    let ran = run(&mut bounded).ok();
    assert!(
        ran.stderr.contains("larger than 1000000 bytes"),
        "{}",
        ran.stderr
    );
    assert_eq!(program.cached(), [""; 0]);
}
