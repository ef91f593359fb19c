//! Programs without a build id that are other ones by now: rewritten where they are, in the same file.

use crate::common::{has, needs, perf, rprof, run, scratch, write};
use crate::find::program::{
    NO_BUILD_ID, Recorded, assert_is_whole, compile, of_program, printed, shown,
};
use std::fs::{File, metadata};
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, SystemTime};

/// Other functions at the same addresses.
fn other_program(dir: &Path) -> Vec<u8> {
    let other = compile(dir, "other", &[NO_BUILD_ID, "-O1", "-Dlocal_work=wrong"]);
    std::fs::read(other).unwrap()
}

/// Writes to a file that is there, as `cat new > program` does.
fn rewrite(path: &Path, bytes: &[u8]) {
    let inode = metadata(path).unwrap().ino();
    write(path, bytes);
    assert_eq!(metadata(path).unwrap().ino(), inode);
}

fn date(path: &Path, time: SystemTime) {
    let file = File::options().append(true).open(path).unwrap();
    file.set_modified(time).unwrap();
}

#[track_caller]
fn names_nothing(file: &Path, why: &str) {
    let table = shown(file);
    assert!(table.contains(why), "no {why} in {table}");
    let printed = printed(file, &[]);
    assert_eq!(of_program(&printed), [""; 0], "{printed}");
    assert!(!printed.contains("wrong"), "{printed}");
}

#[test]
fn a_program_that_was_rewritten_in_place_gives_no_names_and_a_touched_one_does() {
    let Some(recorded) = Recorded::new(&[NO_BUILD_ID], &[]) else {
        return;
    };
    let (program, file) = (&recorded.program, &recorded.file);
    if has("perf", "linux-perf") {
        let report = run(perf(["report", "--stdio", "-g", "none", "-i"]).arg(file)).ok();
        assert!(report.stdout.contains(" local_work"), "{}", report.stdout);
    }
    let whole = std::fs::read(program).unwrap();
    let dated = metadata(program).unwrap().modified().unwrap();
    let later = SystemTime::now() + Duration::from_secs(100);
    date(program, later);
    assert_eq!(printed(file, &[]), recorded.expected, "touched");

    rewrite(program, &other_program(recorded.path()));
    names_nothing(file, "rewritten in place");
    let symfs = printed(file, &["--symfs", "/"]);
    assert!(symfs.contains(" wrong+"), "who says so knows: {symfs}");
    // It has no other size, and is no younger.
    let mut same_size = whole.clone();
    let middle = same_size.len() / 2;
    same_size[middle] ^= 1;
    rewrite(program, &same_size);
    date(program, dated);
    names_nothing(file, "rewritten in place");
    rewrite(program, &whole);
    assert_eq!(printed(file, &[]), recorded.expected, "as it was");
}

#[test]
fn names_that_are_embedded_stay_when_the_program_is_rewritten() {
    let Some(recorded) = Recorded::new(&[NO_BUILD_ID], &["--embed-symbols"]) else {
        return;
    };
    rewrite(&recorded.program, &other_program(recorded.path()));
    assert_eq!(printed(&recorded.file, &[]), recorded.expected);
}

#[test]
fn what_was_written_to_after_a_recording_of_perf_is_not_taken_for_what_was_recorded() {
    needs!(cc, perf, alone);
    let dir = scratch();
    let program = compile(
        dir.path(),
        "program",
        &[NO_BUILD_ID, "-fno-omit-frame-pointer"],
    );
    let file = dir.path().join("perf.data");
    for clock in [&[][..], &["-k", "mono"]] {
        let mut record = perf(["record", "-q", "-g", "-e", "cpu-clock", "-F", "1999"]);
        record
            .args(clock)
            .arg("-o")
            .arg(&file)
            .arg("--")
            .arg(&program);
        run(&mut record).ok();
        assert_is_whole(&printed(&file, &[]));
        let whole = std::fs::read(&program).unwrap();
        rewrite(&program, &other_program(dir.path()));
        names_nothing(&file, "or only touched");
        rewrite(&program, &whole);
        names_nothing(&file, "or only touched");
        // As `cp -p` and `rsync -t` do: dates can be set, but not when they were.
        rewrite(&program, &other_program(dir.path()));
        date(
            &program,
            SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000),
        );
        names_nothing(&file, "or only touched");
        rewrite(&program, &whole);
    }
}

/// One after the other runs under one name, in one file: samples of both have the same addresses.
#[test]
fn a_program_that_is_rewritten_between_two_runs_of_a_recording_gives_no_names() {
    needs!(cc, live);
    let dir = scratch();
    compile(dir.path(), "one", &[NO_BUILD_ID]);
    other_program(dir.path());
    let program = dir.path().join("program");
    std::fs::copy(dir.path().join("one"), &program).unwrap();
    let script = dir.path().join("both");
    write(&script, b"./program; cat other > program; ./program");
    let file = dir.path().join("perf.data");
    let record = |mut recorder: Command| {
        recorder.arg("-o").arg(&file).arg("--");
        recorder.arg("sh").arg(&script).current_dir(dir.path());
        run(&mut recorder).ok();
        names_nothing(&file, "no build id was recorded");
    };
    let clock = ["record", "-q", "-e", "cpu-clock", "-F", "1999"];
    record(rprof(clock));
    if has("perf", "linux-perf") {
        record(perf([&clock[..], &["-k", "mono"]].concat()));
    }
}
