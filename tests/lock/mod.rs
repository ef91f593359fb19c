//! Locks that threads wait for: a mutex whose waits are known, and those that the kernel says.

use crate::common::{Tracefs, compile, fixtures, needs, rprof, run, scratch, tracefs};
use std::path::{Path, PathBuf};

/// Records the program, which prints where its mutex is.
#[track_caller]
fn record(tracefs: Tracefs, dir: &Path, more: &[&str]) -> (PathBuf, String) {
    let (program, file) = (dir.join("convoy"), dir.join("perf.data"));
    let options = ["-O1", "-g", "-pthread", "-fno-optimize-sibling-calls"];
    compile(&program, include_str!("convoy.c"), &options);
    let mut record = rprof(["record", "-q", "--lock", "-m", "4096", "-o"]);
    let record = record
        .arg(&file)
        .args(more)
        .arg("--")
        .arg(&program)
        .arg(dir.join("written"));
    let mutex = run(&mut tracefs.within(record)).ok().stdout;
    (file, mutex.trim().to_owned())
}

#[test]
fn a_mutex_was_waited_for_as_often_as_it_was_held() {
    needs!(cc);
    let Some(tracefs) = tracefs() else {
        return;
    };
    needs!(alone);
    let dir = scratch();
    let (file, mutex) = record(tracefs, dir.path(), &[]);
    let text = run(rprof(["lock", "-g", "-i"]).arg(&file)).ok().stdout;
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    let at = lines.iter().position(|line| line.contains(" mutex "));
    let row: Vec<&str> = lines[at.unwrap()].split_whitespace().collect();
    let [contended, _, _, _, _, threads, kind, address, caller] = row[..] else {
        panic!("{text}");
    };
    assert_eq!((contended, threads, kind), ("10", "1", "futex"), "{text}");
    // It is static: it has the name of its symbol.
    assert_eq!((address, caller), ("mutex", "take_it"), "{mutex}: {text}");
    // Below it who waited and who released, each with a stack, up to the next row.
    let rest = &lines[at.unwrap() + 1..];
    let is_row = |line: &&str| line.starts_with(|c: char| c.is_ascii_digit());
    let end = rest.iter().position(is_row).unwrap_or(rest.len());
    let (mut side, mut found) = ("", Vec::new());
    for line in &rest[..end] {
        if line.starts_with("waited ") || line.starts_with("released by ") {
            side = line;
        } else {
            found.push((side, *line));
        }
    }
    let has = |begin: &str, times: &str, function: &str| {
        found.iter().any(|(side, name)| {
            side.starts_with(begin) && side.contains(times) && *name == function
        })
    };
    assert!(has("waited waiter[", ": 10 times, ", "take_it"), "{text}");
    assert!(
        has("released by holder[", ": 10 times, ", "release_it"),
        "{text}"
    );
}

#[test]
fn locks_in_static_data_have_the_names_of_their_symbols() {
    needs!(cc);
    let Some(tracefs) = tracefs() else {
        return;
    };
    needs!(alone);
    let dir = scratch();
    let (program, file) = (dir.path().join("convoy"), dir.path().join("perf.data"));
    let library = dir.path().join("liblocks.so");
    compile(
        &library,
        include_str!("library.c"),
        &["-shared", "-fPIC", "-pthread"],
    );
    // Which mutex the program has, and its name: none if it is not in static data. Without events of locks, a recording
    // only has mappings of code.
    let locks = &["--lock"][..];
    let futexes = &["-e", "syscalls:sys_enter_futex,syscalls:sys_exit_futex"][..];
    for (options, events, expected) in [
        (&["-DZERO"][..], locks, Some("mutex")),
        (&["-DZERO", "-no-pie"][..], locks, Some("mutex")),
        (&["-DINITIALIZED"][..], locks, Some("mutex")),
        (&["-DMEMBER"][..], locks, Some("object+0x10000")),
        (
            &["-DMEMBER", "-no-pie"][..],
            futexes,
            Some("object+0x10000"),
        ),
        (&["-DLIBRARY"][..], locks, Some("mutex")),
        (&["-DLIBRARY"][..], futexes, Some("mutex")),
        (&["-DTHREAD_LOCAL"][..], locks, None),
    ] {
        let path = library.to_str().unwrap();
        let mut all = vec!["-O1", "-g", "-pthread"];
        all.extend(options.contains(&"-DLIBRARY").then_some(path));
        all.extend(options);
        compile(&program, include_str!("convoy.c"), &all);
        let mut record = rprof(["record", "-q", "-m", "1024"]);
        record.args(events).arg("-o").arg(&file);
        record.arg("--").arg(&program);
        let address = run(&mut tracefs.within(&record)).ok().stdout;
        let text = run(rprof(["lock", "-i"]).arg(&file)).ok().stdout;
        let rows = text
            .lines()
            .map(|line| line.split_whitespace().collect::<Vec<_>>());
        // Its mutex alone is waited for ten times, by one thread.
        let names: Vec<&str> = rows
            .filter(|row| row.first() == Some(&"10") && row.get(5) == Some(&"1"))
            .filter_map(|row| row.get(7).copied())
            .collect();
        let expected = expected.unwrap_or(address.trim());
        assert!(
            names.contains(&expected),
            "{options:?} {events:?}: {expected}: {text}"
        );
    }
}

#[test]
fn each_end_of_a_wait_in_the_kernel_is_a_wait() {
    needs!(cc);
    let Some(tracefs) = tracefs() else {
        return;
    };
    needs!(alone);
    let dir = scratch();
    let (file, _) = record(tracefs, dir.path(), &[]);
    let script = run(rprof(["script", "-G", "-i"]).arg(&file)).ok().stdout;
    let n_ends = script
        .lines()
        .filter(|line| line.contains("contention_end:"))
        .count();
    let read = run(rprof(["lock", "-i"]).arg(&file)).ok();
    let of_kernel = read.stdout.lines().filter_map(|line| {
        let cells: Vec<&str> = line.split_whitespace().collect();
        let address = cells.get(7)?;
        address
            .starts_with("0xffff")
            .then(|| cells[0].parse::<usize>().unwrap())
    });
    let n_alone = read.stderr.lines().filter_map(|line| {
        let (before, _) = line.split_once(" waits for locks of the kernel began before")?;
        before.split_whitespace().next_back()?.parse::<usize>().ok()
    });
    let n_waits: usize = of_kernel.sum();
    assert_eq!(n_waits + n_alone.sum::<usize>(), n_ends, "{}", read.stdout);
}

#[test]
fn time_off_the_cpu_is_told_apart_by_lock() {
    needs!(cc);
    let Some(tracefs) = tracefs() else {
        return;
    };
    needs!(alone);
    let dir = scratch();
    let (file, mutex) = record(tracefs, dir.path(), &["--off-cpu"]);
    let rows = |keys: &str| {
        let mut report = rprof([
            "report",
            "--off-cpu",
            "--no-children",
            "--format",
            "csv",
            "-i",
        ]);
        let table = run(report.arg(&file).args(["-F", keys])).ok().stdout;
        table.lines().map(str::to_owned).collect::<Vec<_>>()
    };
    // The waiter also waits for other threads, at the barrier.
    let all = rows("lock,cause,comm,sample");
    let of_mutex: Vec<&String> = all.iter().filter(|row| row.starts_with("mutex,")).collect();
    let [row] = &of_mutex[..] else {
        panic!("{mutex}: {all:?}");
    };
    let n = row.strip_prefix("mutex,futex,waiter,");
    assert!(n.is_some_and(|n| n.parse::<u64>().unwrap() >= 10), "{row}");
    // What is no wait for a lock has none.
    let others = rows("cause,lock");
    assert!(
        others
            .iter()
            .all(|row| !row.starts_with("runnable,") || row == "runnable,"),
        "{others:?}"
    );
    let spin = fixtures().join("spin").join("perf.data");
    let refused = run(rprof(["report", "--off-cpu", "-s", "lock", "-i"]).arg(spin)).fails(1);
    assert!(refused.contains("--off-cpu"), "{refused}");
}

#[test]
fn what_has_no_waits_says_how_to_record_them() {
    needs!(live);
    let dir = scratch();
    let file = dir.path().join("perf.data");
    let mut record = rprof(["record", "-q", "-e", "cpu-clock", "-o"]);
    run(record.arg(&file).args(["--", "true"])).ok();
    let error = run(rprof(["lock", "-i"]).arg(&file)).fails(1);
    assert!(error.contains("rprof record --lock"), "{error}");
}
