//! Names in recordings that are made here, through the whole of rprof.

use crate::common::{fixtures, has, needs, perf, report, rprof, run, scratch, tool, work};
use crate::names::{addresses, compile, frames};
use std::path::Path;

/// A signal handler that takes all of the time.
const HANDLED: &str = r#"
    #include <signal.h>
    static volatile unsigned long sink;
    static void handler(int signal) {
        for (int n = 0; n < 30; n++)
            for (unsigned long k = 0; k < 1000000; k++) sink += k;
    }
    int main(void) {
        signal(SIGUSR1, handler);
        return raise(SIGUSR1);
    }"#;

#[test]
fn what_a_signal_handler_returns_to_has_a_name() {
    needs!(cc, x86_64, live);
    let dir = scratch();
    // A static program has libc's own symbols.
    let options = ["-O0", "-static"];
    let program = compile(dir.path(), "handled", HANDLED, &options);
    for how in ["fp", "auto"] {
        let file = dir.path().join(how);
        let mut record = rprof([
            "record",
            "-q",
            "-e",
            "cpu-clock:u",
            "--call-graph",
            how,
            "-o",
        ]);
        run(record.arg(&file).arg(&program)).ok();
        callers_of_handler(&file, how);
    }
    if has("perf", "linux-perf") {
        let file = dir.path().join("copies");
        let copies = ["record", "-q", "-e", "cpu-clock:u", "--call-graph", "dwarf"];
        run(perf(copies).arg("-o").arg(&file).arg(&program)).ok();
        callers_of_handler(&file, "copies");
    }
}

/// The handler was not called: it returns to the first byte of the function.
#[track_caller]
fn callers_of_handler(file: &Path, how: &str) {
    let script = run(rprof(["script", "-F", "ip,sym,symoff"]).arg(file));
    let script = script.ok().stdout;
    let mut lines = script
        .lines()
        .skip_while(|line| !line.contains(" handler+"));
    let callers: Vec<&str> = lines.by_ref().take(2).collect();
    assert!(callers[1].ends_with(" __restore_rt+0x0"), "{how}: {script}");
}

#[test]
fn a_stripped_go_program_says_what_it_said_with_dwarf() {
    needs!("go" in "golang-go", "strip" in "binutils");
    let dir = scratch();
    let source = fixtures().join("workloads/busy.go");
    for mode in ["exe", "pie"] {
        let (full, stripped) = (dir.path().join("full"), dir.path().join("busy"));
        let mut build = tool("go");
        build.args(["build", "-buildmode", mode, "-o"]).arg(&full);
        build.arg(&source);
        build.env("GOFLAGS", "").env("GO111MODULE", "off");
        run(build.current_dir(dir.path())).ok();
        run(tool("strip").arg("-o").arg(&stripped).arg(&full)).ok();
        let asked = addresses(&full, |name| {
            ["main.", "sort.", "strconv."]
                .iter()
                .any(|package| name.starts_with(package))
        });
        let theirs = frames(&full, &asked, 1);
        assert!(
            theirs
                .iter()
                .any(|frames| frames[0].0 == "main.square" && frames.len() > 1)
        );
        let ours = frames(&stripped, &asked, 1);
        let differ = theirs
            .iter()
            .zip(&ours)
            .zip(&asked)
            .find(|((a, b), _)| a != b);
        assert_eq!(differ, None, "{mode}");
    }
    // Through the whole of it.
    needs!(live);
    let file = dir.path().join("perf.data");
    let mut record = rprof(["record", "-q", "-e", "cpu-clock", "-F", "1999", "-o"]);
    run(record.arg(&file).arg("--").arg(dir.path().join("busy"))).ok();
    let table = report(&file, &["--no-children", "-g", "none"]);
    assert!(table.contains("[.] main.work"), "{table}");
}

#[test]
fn names_have_the_form_that_is_asked_for() {
    needs!("c++" in "g++");
    let dir = scratch();
    let source = dir.path().join("main.cc");
    let text = "volatile unsigned long sink;\n\
        template <typename T> __attribute__((noinline)) void busy(T n) { WORK(n, sink += i) }\n\
        int main() { busy<unsigned long>(300); }\n";
    std::fs::write(&source, format!("{}{text}", work::C)).unwrap();
    let program = dir.path().join("forms");
    run(tool("c++").args(["-O1", "-o"]).arg(&program).arg(&source)).ok();
    needs!(live);
    let file = dir.path().join("perf.data");
    run(
        rprof(["record", "-q", "-e", "cpu-clock", "-F", "999", "-o"])
            .arg(&file)
            .arg(&program),
    )
    .ok();
    for (options, expected) in [
        (&[][..], "[.] busy<unsigned long>\n"),
        (
            &["--demangle=full"],
            "[.] void busy<unsigned long>(unsigned long)\n",
        ),
        (&["--demangle=folded"], "[.] busy<...>\n"),
        (&["--no-demangle"], "[.] _Z4busyImEvT_\n"),
    ] {
        let table = report(&file, &[&["--no-children", "-g", "none"], options].concat());
        assert!(table.contains(expected), "{options:?}: {table}");
        let mut folded = rprof(["flame", "--folded", "-i"]);
        let folded = run(folded.arg(&file).args(options)).ok().stdout;
        let name = expected.trim_start_matches("[.] ").trim_end();
        assert!(folded.contains(name), "{options:?}: {folded}");
        let mut script = rprof(["script", "-i"]);
        let script = run(script.arg(&file).args(options)).ok().stdout;
        assert!(script.contains(name), "{options:?}");
    }
}
