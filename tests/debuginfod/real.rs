//! Debian's debuginfod.

use crate::common::{Running, WATCHDOG, has, needs, rprof, run, tool};
use crate::debuginfod::{PATIENT, Stripped, assert_named, can_run};
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::Stdio;
use std::time::Instant;

/// Debian's server, over the folder of what was taken away.
struct Real {
    _running: Running,
    url: String,
}

impl Real {
    /// Runs once it has these files.
    fn new(program: &Stripped, kinds: &[&str]) -> Self {
        // The port may be taken by another before the server has it.
        let mut servers = std::iter::repeat_with(|| Self::try_new(program, kinds));
        servers
            .by_ref()
            .take(5)
            .flatten()
            .next()
            .expect("debuginfod serves")
    }

    fn try_new(program: &Stripped, kinds: &[&str]) -> Option<Self> {
        // A port that was free a moment ago.
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        drop(listener);
        let mut command = tool("debuginfod");
        command.args(["-d", ":memory:", "-F", "-p", &port.to_string()]);
        command.arg(program.dir.path().join("served"));
        command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        let mut running = Running::of(command.spawn().unwrap());
        let until = Instant::now() + WATCHDOG;
        for kind in kinds {
            while !is_served(port, &program.path(kind)) {
                if !running.is_running() || Instant::now() > until {
                    return None;
                }
            }
        }
        let url = format!("http://127.0.0.1:{port}");
        Some(Self {
            _running: running,
            url,
        })
    }
}

fn is_served(port: u16, path: &str) -> bool {
    let Ok(mut stream) = TcpStream::connect(("127.0.0.1", port)) else {
        return false;
    };
    let mut answer = [0; 12];
    let asked = write!(stream, "GET {path} HTTP/1.0\r\n\r\n");
    asked.is_ok() && stream.read_exact(&mut answer).is_ok() && answer.ends_with(b" 200")
}

#[test]
fn a_real_server_gives_names_inlined_functions_and_lines() {
    if !can_run() || !has("debuginfod", "debuginfod") {
        return;
    }
    needs!(live);
    let program = Stripped::new("auto");
    assert!(!program.report("", &[]).stdout.contains("burn_cpu"));
    let server = Real::new(&program, &["debuginfo"]);
    let ran = program.report(&server.url, &PATIENT);
    assert_named(&ran);
    drop(server);
    // gdb and perf find it there, too; and we need no server any more.
    assert_eq!(program.cached(), ["debuginfo"]);
    let nobody = "http://127.0.0.1:1";
    let folded = run(&mut program.rprof(&["flame", "--folded"], nobody)).ok();
    let inlined = ";main;burn_cpu;mix_inlined ";
    assert!(folded.stdout.contains(inlined), "{}", folded.stdout);
    let mut script = program.rprof(&["script", "-G", "-F", "ip,sym,srcline"], nobody);
    let script = run(&mut script).ok();
    assert!(script.stdout.contains("program.c:4"), "{}", script.stdout);
}

#[test]
fn a_program_that_is_gone_comes_from_the_server_and_its_stacks_are_walked() {
    if !can_run() || !has("debuginfod", "debuginfod") {
        return;
    }
    needs!(live);
    let program = Stripped::new("dwarf");
    let dir = program.dir.path();
    let mut record = rprof([
        "record",
        "-q",
        "-e",
        "cpu-clock",
        "-F",
        "499",
        "--post-unwind",
        "-o",
    ]);
    run(record
        .arg(dir.join("perf.data"))
        .arg("--")
        .arg(dir.join("program")))
    .ok();
    std::fs::rename(dir.join("program"), dir.join("served/program")).unwrap();
    let server = Real::new(&program, &["debuginfo", "executable"]);
    let is_walked = || {
        let mut folded = program.rprof(&["flame", "--folded"], &server.url);
        let folded = run(folded.args(PATIENT)).ok();
        assert!(
            folded.stdout.contains(";main;burn_cpu"),
            "{}\n{}",
            folded.stdout,
            folded.stderr
        );
    };
    is_walked();
    assert_eq!(program.cached(), ["debuginfo", "executable"]);
    // A debug file that is here stands in for names, not for walking.
    std::fs::remove_dir_all(program.cache()).unwrap();
    std::fs::create_dir_all(dir.join(".debug")).unwrap();
    let here = dir.join(".debug/program.debug");
    std::fs::copy(dir.join("served/program.debug"), here).unwrap();
    is_walked();
    assert_eq!(program.cached(), ["executable"]);
}
