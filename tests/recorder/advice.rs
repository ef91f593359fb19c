//! What is said when something cannot be done, or is less than asked for: the right cause, and one
//! thing to do.

use crate::common::nobody::{Nobody, Sysctl, paranoid};
use crate::common::{
    Running, needs, not_run, report, rprof, run, samples, scratch, tool, work::burn,
};

#[test]
fn events_of_the_kernel_alone_are_not_taken_for_tracepoints() {
    needs!(live);
    if paranoid() < 2 {
        not_run("everybody may sample the kernel");
        return;
    }
    let Some(nobody) = Nobody::new() else {
        return;
    };
    let error = run(&mut nobody.rprof(&["record", "-e", "cpu-clock:k", "true"])).fails(1);
    assert!(
        error.contains("profiling the kernel needs kernel.perf_event_paranoid at 1"),
        "{error}"
    );
    assert!(!error.contains("tracepoint"), "{error}");
}

#[test]
fn anothers_process_is_named_with_its_owner() {
    needs!(live, root);
    let Some(nobody) = Nobody::new() else {
        return;
    };
    let cat = Running::start(&mut tool("cat"));
    let pid = cat.pid().to_string();
    let error = run(&mut nobody.rprof(&["record", "-p", &pid])).fails(1);
    assert!(error.contains(&format!("process {pid} (cat)")), "{error}");
    assert!(error.contains("uid 0") && error.contains("sudo"), "{error}");
    assert!(!error.contains("dummy"), "{error}");
}

#[test]
fn processes_that_may_not_be_looked_into_are_said_to_be_the_cause() {
    needs!(alone, root);
    let Some(nobody) = Nobody::new() else {
        return;
    };
    let Some(_sysctl) = Sysctl::paranoid("0") else {
        not_run("kernel.perf_event_paranoid may not be set");
        return;
    };
    // Busy for long enough before and after the recording's start and end.
    let mut busy = Running::start(tool("sh").args(["-c", "echo ready; while :; do :; done"]));
    assert_eq!(busy.line(), "ready");
    let script = burn(50);
    let words = [
        "record",
        "-a",
        "-F",
        "999",
        "-e",
        "cpu-clock",
        "--",
        "sh",
        "-c",
        &script,
    ];
    let ran = run(&mut nobody.rprof(&words)).ok();
    // Others come and go.
    let pid = busy.pid().to_string();
    drop(busy);
    assert!(ran.stderr.contains("cannot inspect "), "{}", ran.stderr);
    let stats = run(&mut nobody.rprof(&["report", "--stats", "--pid", &pid]));
    let stats = stats.ok().stdout;
    assert!(
        stats.contains("a process that could not be inspected"),
        "{stats}"
    );
    assert!(!stats.contains("outside any code"), "{stats}");
}

#[test]
fn events_that_give_no_samples_are_told_why() {
    needs!(alone);
    let dir = scratch();
    let record = |words: &[&str]| {
        let mut record = rprof(["record"]);
        let ran = run(record.args(words).arg("true").current_dir(dir.path()));
        ran.ok().stderr
    };
    let said = record(&["-e", "dummy"]);
    assert!(
        said.contains("'dummy:u' takes no samples") || said.contains("'dummy' takes no samples"),
        "{said}"
    );
    assert!(!said.contains("-F"), "{said}");
    let said = record(&["-e", "page-faults", "-c", "1000000"]);
    assert!(said.contains("'page-faults"), "{said}");
    assert!(
        said.contains("a sample takes 1000000: a smaller -c may help"),
        "{said}"
    );
    let said = record(&["-e", "major-faults:u", "-c", "1000000"]);
    assert!(said.contains("'major-faults:u' "), "{said}");
}

#[test]
fn what_is_less_than_asked_for_is_said_in_one_line() {
    needs!(alone);
    if paranoid() < 2 {
        not_run("everybody may sample the kernel");
        return;
    }
    let Some(nobody) = Nobody::new() else {
        return;
    };
    let script = burn(10);
    let ran = run(&mut nobody.rprof(&["record", "-F", "999", "sh", "-c", &script])).ok();
    assert_eq!(ran.stderr.lines().count(), 2, "{}", ran.stderr);
    let first = ran.stderr.lines().next().unwrap();
    assert!(
        first.contains("not permitted to sample the kernel"),
        "{first}"
    );
    // Rings too small for what was asked say what comes of it.
    let mut shell = nobody.command("sh");
    shell.args([
        "-c",
        "ulimit -l 0; exec ./rprof record -m 64M sh -c \"$0\"",
        &script,
    ]);
    let ran = run(&mut shell);
    if ran.status.success() && ran.stderr.contains("lockable") {
        let first = ran.stderr.lines().next().unwrap();
        assert!(
            first.contains("may be truncated") || first.contains("may be lost"),
            "{first}"
        );
    } else {
        not_run("rings of 64 MiB need no rights here");
    }
}

#[test]
fn the_next_command_can_be_pasted_into_a_shell() {
    needs!(live);
    let dir = scratch();
    let name = "it's $(exit 9) here";
    let mut record = rprof(["record", "-F", "999", "-e", "cpu-clock", "-o", name]);
    record.args(["sh", "-c", &burn(10)]).current_dir(dir.path());
    let ran = run(&mut record).ok();
    let next = ran.stderr.split("next: rprof ").nth(1).unwrap().trim();
    let mut shell = tool("sh");
    shell.args(["-c", &format!("\"$0\" {next}"), env!("CARGO_BIN_EXE_rprof")]);
    let table = run(shell.current_dir(dir.path())).ok().stdout;
    assert!(table.contains("# Samples: "), "{table}");
    assert!(samples(&ran.stderr) > 0);
    report(&dir.path().join(name), &["-g", "none"]);
}

#[test]
fn a_disk_that_is_full_from_the_start_is_said_to_be() {
    needs!(alone);
    let dir = scratch();
    // A limit on file sizes fails like a full disk, whether its signal is ignored or not.
    for trap in ["trap '' XFSZ;", ""] {
        let script = format!("{trap} ulimit -f 0; exec \"$0\" record -e cpu-clock -- true");
        let mut shell = tool("sh");
        shell.args(["-c", &script, env!("CARGO_BIN_EXE_rprof")]);
        let error = run(shell.current_dir(dir.path())).fails(1);
        assert!(error.contains("nothing could be written"), "{error}");
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
    }
}

#[test]
fn a_file_that_may_not_grow_is_as_a_disk_that_is_full() {
    needs!(alone);
    let dir = scratch();
    // 64 KiB and 32 KiB, by the unit of the shell; the command itself has the signal.
    let script = "ulimit -f 64; exec \"$0\" record -F 9999 -e cpu-clock -- sh -c \"$1\"";
    let work = format!(
        "{}; dd if=/dev/zero of=full bs=1k count=65 2> said; echo $? > status",
        burn(100)
    );
    let mut shell = tool("sh");
    shell.args(["-c", script, env!("CARGO_BIN_EXE_rprof"), &work]);
    let ran = run(shell.current_dir(dir.path()));
    assert!(ran.status.code().is_some(), "{ran:?}");
    assert!(ran.stderr.contains("File too large"), "{}", ran.stderr);
    let status = std::fs::read_to_string(dir.path().join("status")).unwrap();
    // 128 and SIGXFSZ: it is not ignored for the command.
    assert_eq!(status.trim(), (128 + 25).to_string());
}

#[test]
fn a_small_stack_is_enough() {
    needs!(alone);
    let dir = scratch();
    // What is too short has no samples to be read.
    let work = format!("ulimit -s; {}", burn(20));
    let small = |words: &str| {
        let mut shell = tool("sh");
        let script = format!("ulimit -s 64; exec \"$0\" {words}");
        shell.args(["-c", &script, env!("CARGO_BIN_EXE_rprof"), &work]);
        run(shell.current_dir(dir.path())).ok()
    };
    small("--help");
    let recorded = small("record -e cpu-clock -F 999 -- sh -c \"$1\"");
    assert_eq!(recorded.stdout.trim(), "64", "the command has its limit");
    assert!(samples(&recorded.stderr) > 0, "{}", recorded.stderr);
    for words in ["report", "script", "flame"] {
        small(words);
    }
}
