//! Directories of recordings: what is taken from them, when, and what is deleted.

use super::collector::{Collector, Reply};
use super::{copied, push, pushed};
use crate::common::{Running, both, needs, run, scratch, tool, until};
use std::fs::{self, File, FileTimes};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::time::{Duration, SystemTime};

/// Gives a file a time, so that it is older than others.
#[track_caller]
fn set_age(path: &Path, seconds: u64) {
    let then = SystemTime::now() - Duration::from_secs(seconds);
    let file = File::options().write(true).open(path).unwrap();
    file.set_times(FileTimes::new().set_modified(then)).unwrap();
}

/// The same recording, but with other contents.
#[track_caller]
fn copied_as(dir: &Path, name: &str) {
    use std::io::Write;
    let path = copied("spin", dir, name);
    let mut file = File::options().append(true).open(path).unwrap();
    file.write_all(name.as_bytes()).unwrap();
}

#[test]
fn complete_recordings_of_a_directory_are_taken_and_nothing_else() {
    let (dir, elsewhere) = (scratch(), scratch());
    copied("spin", dir.path(), "perf.data.1");
    let other = copied("dwarf", elsewhere.path(), "secret.data");
    symlink(&other, dir.path().join("link.data")).unwrap();
    fs::write(dir.path().join("notes.txt"), "PERF").unwrap();
    fs::create_dir(dir.path().join("folder")).unwrap();
    run(tool("mkfifo").arg(dir.path().join("fifo.data"))).ok();
    // As a recorder leaves it that still writes, or was killed: without features.
    let mut bytes = fs::read(&other).unwrap();
    bytes[72..104].fill(0);
    fs::write(dir.path().join("perf.data"), &bytes).unwrap();
    // As perf leaves it that writes a file for each CPU: its section DIR_FORMAT says so.
    let mut bytes = fs::read(&other).unwrap();
    bytes[72 + 3] |= 1;
    fs::write(dir.path().join("data"), &bytes).unwrap();
    let server = Collector::good();
    let ran = pushed(&server.url, "otlp", dir.path());
    assert_eq!(server.received().len(), 1);
    let said = "/data is left out: it is a part of a recording in a directory";
    assert!(ran.stderr.contains(said), "{}", ran.stderr);
    assert!(
        ran.stderr
            .contains("perf.data is left out: it is still being recorded"),
        "{}",
        ran.stderr
    );
    // By name it is taken, with a warning: there may be more to come.
    let ran = pushed(&server.url, "otlp", &dir.path().join("perf.data"));
    assert!(ran.stderr.contains("is not finished"), "{}", ran.stderr);
    assert!(server.received().len() > 1);
}

#[test]
fn a_renamed_recording_is_the_same_one() {
    let dir = scratch();
    let file = copied("spin", dir.path(), "1.data");
    let server = Collector::good();
    pushed(&server.url, "otlp", dir.path());
    fs::rename(&file, dir.path().join("2.data")).unwrap();
    copied("spin", dir.path(), "3.data");
    let ran = pushed(&server.url, "otlp", dir.path());
    assert!(ran.stderr.contains("2 delivered before"), "{}", ran.stderr);
    assert_eq!(server.received().len(), 1);
    // Another server has not got it.
    let other = Collector::good();
    pushed(&other.url, "otlp", dir.path());
    assert_eq!(other.received().len(), 1);
}

#[test]
fn new_recordings_are_followed() {
    let dir = scratch();
    copied_as(dir.path(), "1.data");
    let server = Collector::new(|_, nth| match nth {
        1 => Reply::status(503),
        _ => Reply::ok(),
    });
    let mut command = push(&server.url, "otlp", dir.path());
    let mut running = Running::start(command.arg("--follow"));
    server.wait_for(1);
    // As a recorder does: the file has its name first, and is complete when its header says so.
    copied_as(dir.path(), ".new");
    let path = dir.path().join("2.data");
    let mut bytes = fs::read(dir.path().join(".new")).unwrap();
    fs::remove_file(dir.path().join(".new")).unwrap();
    let features = bytes[72..104].to_vec();
    bytes[72..104].fill(0);
    fs::write(&path, &bytes).unwrap();
    copied_as(dir.path(), "3.data");
    // It is tried again after the refusal.
    server.wait_for(3);
    bytes[72..104].copy_from_slice(&features);
    fs::write(&path, &bytes).unwrap();
    let received = server.wait_for(4);
    let bodies: std::collections::BTreeSet<_> = received.iter().map(|one| &one.body).collect();
    // All three recordings have the same samples: only the refused message is sent twice, and they differ by nothing.
    assert_eq!(bodies.len(), 1);
    assert!(running.is_running());
    drop(running);
    let ran = pushed(&server.url, "otlp", dir.path());
    assert!(ran.stderr.contains("delivered before"), "{}", ran.stderr);
}

#[test]
fn beyond_its_bound_a_directory_loses_what_is_delivered_first() {
    let dir = scratch();
    let names = ["1.data", "2.data", "3.data", "4.data"];
    for (name, age) in names.into_iter().zip([40, 30, 20, 10]) {
        copied_as(dir.path(), name);
        set_age(&dir.path().join(name), age);
    }
    let left = || {
        let names = names.into_iter();
        let there = names.filter(|name| dir.path().join(name).exists());
        there.collect::<Vec<_>>()
    };
    // The oldest is not delivered.
    let server = Collector::new(|_, nth| match nth {
        0 => Reply::status(400),
        _ => Reply::ok(),
    });
    let mut command = push(&server.url, "otlp", dir.path());
    let error = run(command.args(["--max-disk", "60000"])).fails(1);
    assert_eq!(left(), ["1.data", "4.data"], "{error}");
    assert!(error.contains("2.data (212 samples, delivered)"), "{error}");
    assert!(error.contains("3.data (212 samples, delivered)"), "{error}");
    let gone = Collector::new(|_, _| Reply::status(400));
    let mut command = push(&gone.url, "otlp", dir.path());
    let error = run(command.args(["--max-disk", "30000"])).fails(1);
    assert_eq!(left(), ["4.data"], "{error}");
    assert!(
        error.contains("1.data (212 samples, not delivered)"),
        "{error}"
    );
}

#[test]
fn without_a_bound_nothing_is_deleted() {
    let dir = scratch();
    let file = copied("spin", dir.path(), "1.data");
    pushed(&Collector::good().url, "otlp", dir.path());
    assert!(file.exists());
}

#[test]
fn a_full_disk_is_said_and_all_goes_on() {
    needs!(root);
    let dir = scratch();
    let (one, other) = (scratch(), scratch());
    copied("spin", one.path(), "1.data");
    copied("dwarf", other.path(), "2.data");
    let server = Collector::good();
    // Seen by this command alone, and gone with it.
    let script = "mount -t tmpfs -o size=64k none \"$0\" && cp \"$1\"/* \"$2\"/* \"$0\" && \
        { cat /dev/zero > \"$0/filler\" 2>/dev/null; shift 2; exec \"$@\"; }";
    let mut command = tool("unshare");
    command.args(["-m", "sh", "-c", script]);
    command.arg(dir.path()).args([one.path(), other.path()]);
    let pushing = push(&server.url, "otlp", dir.path());
    command.arg(pushing.get_program()).args(pushing.get_args());
    let ran = run(&mut command);
    if ran.stderr.contains("unshare: ") || ran.stderr.contains("mount: ") {
        return crate::common::not_run("no file system can be mounted here");
    }
    let ran = ran.ok();
    let said = "cannot note what is delivered";
    assert_eq!(ran.stderr.matches(said).count(), 1, "{}", ran.stderr);
    assert!(ran.stderr.contains("pushed 2 recordings"), "{}", ran.stderr);
}

/// Without notes that are there, all would be sent again.
#[test]
fn notes_that_cannot_be_read_stop_it() {
    let dir = scratch();
    copied("spin", dir.path(), "1.data");
    fs::write(dir.path().join(".rprof-push"), "").unwrap();
    let server = Collector::good();
    let error = run(&mut push(&server.url, "otlp", dir.path())).fails(1);
    let said = ".rprof-push: cannot read this note on what is delivered";
    assert!(error.contains(said), "{error}");
    assert_eq!(server.received().len(), 0);
}

#[test]
fn root_takes_no_recordings_of_strangers_from_a_directory_for_all() {
    needs!(root);
    let dir = scratch();
    copied("spin", dir.path(), "1.data");
    let strangers = copied("dwarf", dir.path(), "2.data");
    std::os::unix::fs::chown(&strangers, Some(65534), None).unwrap();
    fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o1777)).unwrap();
    let server = Collector::good();
    let ran = pushed(&server.url, "otlp", dir.path());
    let said = "2.data is left out: it belongs to another user";
    assert!(ran.stderr.contains(said), "{}", ran.stderr);
    assert_eq!(server.received().len(), 1);
    // By name it is taken, and where nobody else may write.
    fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o700)).unwrap();
    pushed(&server.url, "otlp", dir.path());
    assert_eq!(server.received().len(), 2);
}

/// `--switch-max-files` keeps only so many, delivered or not.
#[test]
fn a_recording_that_goes_before_it_is_delivered_is_said() {
    let dir = scratch();
    let [first, second] = ["1.data", "2.data"].map(|name| copied("spin", dir.path(), name));
    copied_as(dir.path(), "3.data");
    // It takes 1 and its copy, and not 3.
    let server = Collector::new(|_, nth| match nth {
        0 => Reply::ok(),
        _ => Reply::status(400),
    });
    let mut command = push(&server.url, "otlp", dir.path());
    let mut running = Running::start(&mut both(command.arg("--follow")));
    until(&mut running, "3.data is set aside");
    for file in [first, second, dir.path().join("3.data")] {
        fs::remove_file(file).unwrap();
    }
    let said = until(&mut running, "3.data is gone, and was not delivered");
    assert_eq!(said.matches("is gone").count(), 1, "{said}");
}

#[test]
fn a_directory_without_recordings_is_said() {
    let dir = scratch();
    let error = run(&mut push("http://localhost:1", "otlp", dir.path())).fails(1);
    assert!(error.contains("no complete recordings"), "{error}");
    let missing = dir.path().join("none");
    let error = run(&mut push("http://localhost:1", "otlp", &missing)).fails(1);
    assert!(error.contains("none"), "{error}");
}

#[test]
fn a_damaged_recording_does_not_block_the_rest() {
    let dir = scratch();
    let file = copied("dwarf", dir.path(), "1.data");
    let mut bytes = fs::read(&file).unwrap();
    // The size of its attributes.
    bytes[24..40].fill(0xff);
    fs::write(&file, bytes).unwrap();
    copied("spin", dir.path(), "2.data");
    let server = Collector::good();
    let error = run(&mut push(&server.url, "otlp", dir.path())).fails(1);
    assert!(error.contains("1.data is left out"), "{error}");
    assert_eq!(server.received().len(), 1);
}
