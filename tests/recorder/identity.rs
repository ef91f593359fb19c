//! Which file it was that a process had mapped, of one that is gone when the recording ends.

use crate::common::{
    Running, am_root, compile_c, has, needs, number_after, rprof, run, scratch, skipped, tool,
};
use crate::recorder::{both, until};
use serde_json::Value;
use std::path::Path;

#[test]
fn a_process_in_its_own_mount_namespace_that_ends_first_has_its_build_ids() {
    needs!(alone, cc);
    if !am_root() || !has("unshare", "util-linux") {
        skipped("root");
        return;
    }
    let dir = scratch();
    let source = r#"
        #include <stdio.h>
        static volatile unsigned long sink;
        __attribute__((noinline)) void hidden(void) { WORK(300, sink += i); }
        int main(void) { puts("ready"); fflush(stdout); getchar(); hidden(); return 0; }"#;
    let program = compile_c(dir.path(), "program", source);
    let inside = dir.path().join("inside");
    std::fs::create_dir(&inside).unwrap();
    // A file system that nobody else sees, and that is gone with the process.
    let script = "mount -t tmpfs none \"$1\" && cp \"$0\" \"$1/program\" && exec \"$1/program\"";
    let mut unshare = tool("unshare");
    unshare
        .args(["-m", "sh", "-c", script])
        .arg(&program)
        .arg(&inside);
    let mut running = Running::start(&mut unshare);
    let line = running.line();
    if line != "ready" {
        skipped("namespaces");
        return;
    }
    let out = dir.path().join("perf.data");
    let mut record = rprof(["record", "-F", "999", "-e", "cpu-clock", "-p"]);
    record.arg(running.pid().to_string()).arg("-o").arg(&out);
    let mut recorder = Running::start(&mut both(&record));
    until(&mut recorder, "press Ctrl-C to stop");
    running.type_in(b"\n");
    running.finish();
    recorder.finish().ok();

    let info = run(rprof(["info", "--json", "-i"]).arg(&out)).ok();
    assert!(info.stdout.contains("\"samples\""), "{}", info.stdout);
    let path = inside.join("program");
    let symbols = run(rprof(["symbols", "--json", "-i"]).arg(&out)).ok();
    let symbols: Value = serde_json::from_str(&symbols.stdout).unwrap();
    let images = symbols["images"].as_array().unwrap();
    let image = images
        .iter()
        .find(|image| image["path"].as_str() == path.to_str())
        .unwrap_or_else(|| panic!("{images:#?}"));
    let id = image["build_id"].as_str().expect("a build id");

    // Where perf keeps what it has seen.
    let home = dir.path().join("home");
    let kept = home.join(".debug/.build-id").join(&id[..2]).join(&id[2..]);
    std::fs::create_dir_all(&kept).unwrap();
    std::fs::copy(&program, kept.join("elf")).unwrap();
    let mut report = rprof(["report", "--no-children", "-g", "none", "-i"]);
    let table = run(report.arg(&out).env("HOME", &home)).ok().stdout;
    assert!(
        number_after(&table, "# Samples: ").unwrap() > 100,
        "{table}"
    );
    assert!(table.contains("] hidden"), "{table}");
    assert!(!Path::new(&path).exists());
}
