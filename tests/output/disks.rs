//! Disks that get full or fail: the error names the file that is there, and what was written is read.

use super::switched::{finished, samples_of};
use crate::common::{has, is_root, needs, not_run, perf, rprof, run, scratch, tool, work::burn};
use std::path::{Path, PathBuf};

/// What a recorder says that fails, and the files that it leaves.
struct Failed {
    error: String,
    files: Vec<PathBuf>,
}

/// Records on a disk of its own, which goes with the shell: `mount` makes it in `$1`, where `$0` is a folder.
fn record_on(dir: &Path, mount: &str, flags: &[&str], command: &str) -> Option<Failed> {
    let disk = dir.join("disk");
    std::fs::create_dir(&disk).unwrap();
    let script = format!(
        "{{ {mount}; }} >&2 || exit 99
        shift
        \"$@\"
        status=$?
        mkdir \"$0/files\" && cp \"$0\"/disk/perf.data* \"$0/files\"
        exit $status"
    );
    let mut shell = tool("unshare");
    shell.args(["-m", "sh", "-c", &script]).arg(dir).arg(&disk);
    shell.arg(env!("CARGO_BIN_EXE_rprof"));
    shell.args(["record", "-e", "cpu-clock", "-F", "9999", "-o"]);
    shell.arg(disk.join("perf.data")).args(flags);
    let ran = run(shell.args(["--", "sh", "-c", command]).arg(dir));
    if ran.status.code() == Some(99) {
        not_run("no such disk can be mounted");
        return None;
    }
    let mut files = finished(&dir.join("files"));
    let last = dir.join("files/perf.data");
    files.extend(last.exists().then_some(last));
    if dir.join("still_writable").exists() {
        not_run("the disk does not fail when its blocks are gone");
        return None;
    }
    let error = ran.fails(1);
    Some(Failed { error, files })
}

fn can_mount() -> bool {
    is_root() && has("unshare", "util-linux")
}

/// Whether the error names a file that is there, and perf reads as many samples in each as we do.
fn assert_readable(dir: &Path, failed: &Failed) {
    let Failed { error, files } = failed;
    let disk = format!("are readable: {}/", dir.join("disk").display());
    let named = error.split(&disk).nth(1).expect(error);
    let named = named.split(':').next().unwrap();
    assert!(dir.join("files").join(named).exists(), "{error}");
    let mut sum = 0;
    for file in files {
        let n = samples_of(file);
        sum += n;
        // The last one may have been begun only just.
        if n > 0 && has("perf", "linux-perf") {
            let mut script = perf(["script", "-F", "comm,time,ip", "-G", "-i"]);
            let ran = run(script.arg(file));
            let by_perf = ran.stdout.lines().count() as u64;
            // Where a file ends within a record, perf leaves out what it has not put in order yet.
            assert!(
                by_perf == n || is_cut(file) && by_perf < n,
                "{by_perf}, {n}: {error}{}",
                ran.stderr
            );
        }
    }
    // Pages that memory has no more are lost with the disk.
    if sum == 0 && error.contains("error reading") {
        not_run("what was written has left memory");
        return;
    }
    assert!(sum > 0, "{error}");
}

/// Whether a file does not end after a record: not all of it could be written, or copied.
fn is_cut(file: &Path) -> bool {
    let mut report = rprof(["report", "-g", "none", "-i"]);
    let said = run(report.arg(file)).stderr;
    said.contains("the file is truncated") || said.contains("damaged record")
}

#[test]
fn a_disk_that_gets_full_leaves_all_files_that_were_begun() {
    needs!(alone);
    if !can_mount() {
        return;
    }
    let dir = scratch();
    let mount = "mount -t tmpfs -o size=64k none \"$1\"";
    let flags = ["--switch-output=8K"];
    let Some(failed) = record_on(dir.path(), mount, &flags, &burn(60)) else {
        return;
    };
    assert!(failed.error.contains("No space left"), "{}", failed.error);
    assert!(failed.files.len() > 1, "{}", failed.error);
    assert_readable(dir.path(), &failed);
}

#[test]
fn a_disk_that_fails_leaves_a_file_that_is_read() {
    needs!(alone);
    let tools = [
        ("losetup", "util-linux"),
        ("mkfs.ext2", "e2fsprogs"),
        ("truncate", "coreutils"),
    ];
    if !can_mount() || !tools.iter().all(|(name, package)| has(name, package)) {
        return;
    }
    let dir = scratch();
    let mount = "truncate -s 4M \"$0/image\" && mkfs.ext2 -q \"$0/image\" &&
        mount -o loop,sync \"$0/image\" \"$1\"";
    // The disk loses all its blocks: what is not in memory cannot be read or written any more.
    let fail =
        "loop=$(losetup -n -O NAME -j \"$0/image\"); truncate -s 0 \"$0/image\"; losetup -c $loop;
        ! dd if=/dev/zero of=\"$0/disk/more\" bs=64k count=8 2>/dev/null || : >\"$0/still_writable\"";
    let command = format!("{}; {fail}; {}", burn(30), burn(60));
    let Some(failed) = record_on(dir.path(), mount, &[], &command) else {
        return;
    };
    // ext2 has no room, as it says, where it cannot read which blocks are free.
    let causes = ["Input/output error", "No space left on device"];
    let is_said = causes.iter().any(|cause| failed.error.contains(cause));
    assert!(is_said, "{}", failed.error);
    assert_readable(dir.path(), &failed);
}
