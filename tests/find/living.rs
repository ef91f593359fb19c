//! Programs that are gone from their path, but not from the process that runs them.

use crate::common::{self, has, is_root, links, needs, rprof, run, scratch, signal, skipped};
use crate::find::program::{
    BUILD_ID, NO_BUILD_ID, OTHER_BUILD_ID, assert_is_whole, compile, of_program, printed, shown,
    tool,
};
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::thread::JoinHandle;

/// A program that waits after it was recorded, until this is dropped.
struct Waiting {
    file: PathBuf,
    pid: u32,
    lives: Option<JoinHandle<()>>,
}

impl Waiting {
    /// Records a command that goes on when the recording has ended.
    fn record(dir: &Path, command: &str) -> Self {
        Self::record_with(dir, command, &[])
    }

    fn record_with(dir: &Path, command: &str, args: &[&str]) -> Self {
        for name in ["said", "lives"] {
            run(common::tool("mkfifo").arg(dir.join(name))).ok();
        }
        // It ends for us when the process no longer has it open: when it has no memory either.
        let pipe = dir.join("lives");
        let lives = std::thread::spawn(move || {
            File::open(pipe)
                .unwrap()
                .read_to_end(&mut Vec::new())
                .unwrap();
        });
        let file = dir.join("perf.data");
        let shell =
            format!("{command} > said 2> /dev/null 3> lives & echo $! > pid; read line < said");
        let mut record = rprof(["record", "-q", "-e", "cpu-clock", "-F", "1999", "-o"]);
        record.arg(&file).args(args);
        record.args(["--", "sh", "-c", &shell]);
        run(record.current_dir(dir)).ok();
        let pid = std::fs::read_to_string(dir.join("pid")).unwrap();
        Self {
            file,
            pid: pid.trim().parse().unwrap(),
            lives: Some(lives),
        }
    }

    fn end(&mut self) {
        if let Some(lives) = self.lives.take() {
            signal(self.pid, "KILL");
            lives.join().unwrap();
        }
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        self.end();
    }
}

#[test]
fn a_program_that_was_deleted_or_replaced_is_read_while_it_runs() {
    needs!(cc, root, live);
    for (build_id, why) in [
        (BUILD_ID, "changed since the recording"),
        (NO_BUILD_ID, "replaced by another file"),
    ] {
        let dir = scratch();
        let program = compile(dir.path(), "program", &[build_id]);
        let mut waiting = Waiting::record(dir.path(), "./program wait");
        let expected = printed(&waiting.file, &[]);
        assert_is_whole(&expected);
        let moved = dir.path().join("moved");
        std::fs::rename(&program, &moved).unwrap();
        assert_eq!(printed(&waiting.file, &[]), expected, "{build_id}: renamed");
        std::fs::remove_file(&moved).unwrap();
        assert_eq!(printed(&waiting.file, &[]), expected, "{build_id}: deleted");
        compile(dir.path(), "program", &[OTHER_BUILD_ID, "-O1"]);
        assert_eq!(
            printed(&waiting.file, &[]),
            expected,
            "{build_id}: replaced"
        );
        waiting.end();
        let table = shown(&waiting.file);
        assert!(table.contains(why), "{build_id}: {table}");
        assert!(!table.contains("local_work"), "{build_id}: {table}");
        std::fs::remove_file(&program).unwrap();
        let table = shown(&waiting.file);
        assert!(table.contains("file not found"), "{build_id}: {table}");
    }
}

#[test]
fn a_debug_file_that_is_left_does_not_hide_the_program_that_runs() {
    needs!(cc, "objcopy" in "binutils", root, live);
    let dir = scratch();
    let program = compile(dir.path(), "program", &[BUILD_ID, "-fomit-frame-pointer"]);
    let record = ["--call-graph", "dwarf", "--post-unwind"];
    let waiting = Waiting::record_with(dir.path(), "./program wait", &record);
    let expected = printed(&waiting.file, &[]);
    assert_is_whole(&expected);
    // A service that runs on while its package is upgraded.
    std::fs::create_dir(dir.path().join(".debug")).unwrap();
    let split = "objcopy --only-keep-debug program .debug/program.debug";
    tool(dir.path(), split);
    std::fs::remove_file(&program).unwrap();
    compile(dir.path(), "program", &[OTHER_BUILD_ID, "-O1"]);
    assert_eq!(printed(&waiting.file, &[]), expected);
}

#[test]
fn programs_are_read_where_their_process_sees_them() {
    let is_static = links(&["-static"], "libc6-dev (libc.a)");
    if !is_static || !has("unshare", "util-linux") || !is_root() {
        return;
    }
    let mut unshare = common::tool("unshare");
    unshare.args(["-m", "-p", "-f", "--kill-child", "true"]);
    if !run(&mut unshare).status.success() {
        skipped("the right to make namespaces");
        return;
    }
    needs!(alone);
    let dir = scratch();
    let root = dir.path().join("root");
    let inside = root.join(dir.path().strip_prefix("/").unwrap());
    for args in [[BUILD_ID, "-static"], [NO_BUILD_ID, "-static"]] {
        let program = compile(&inside, "program", &args);
        // At that path there is another program outside, or none.
        let outside = compile(dir.path(), "program", &[OTHER_BUILD_ID, "-O1"]);
        let command = format!(
            "unshare -m -p -f --kill-child chroot {} {} wait",
            root.display(),
            outside.display()
        );
        let mut waiting = Waiting::record(dir.path(), &command);
        let symfs = ["--symfs", root.to_str().unwrap()];
        let ours = |args: &[&str]| {
            let printed = printed(&waiting.file, args);
            assert_is_whole(&printed);
            let ours = of_program(&printed).into_iter();
            ours.map(str::to_owned).collect::<Vec<_>>()
        };
        let expected = ours(&symfs);
        assert_eq!(ours(&[]), expected, "{args:?}: another outside");
        std::fs::remove_file(&outside).unwrap();
        assert_eq!(ours(&[]), expected, "{args:?}: none outside");
        std::fs::remove_file(&program).unwrap();
        assert_eq!(ours(&[]), expected, "{args:?}: deleted inside");
        waiting.end();
        let table = shown(&waiting.file);
        assert!(!table.contains("local_work"), "{args:?}: {table}");
        for name in ["said", "lives", "pid"] {
            std::fs::remove_file(dir.path().join(name)).unwrap();
        }
    }
}
