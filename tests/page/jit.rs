//! JIT code that only a perf map tells of, in the page: its bytes are known to nobody.

use super::check;
use crate::common::{Program, needs, rprof, run};
use serde_json::json;

/// The file of a process that has ended, which is removed whatever the test finds.
struct PerfMap(String);

impl Drop for PerfMap {
    fn drop(&mut self) {
        // There may be none any more.
        let _ = std::fs::remove_file(&self.0);
    }
}

#[test]
fn hotter_functions_without_code_are_named_in_the_words_of_annotate() {
    needs!(x86_64, "chromium" in "chromium", "node" in "nodejs");
    let Some(program) = Program::new(include_str!("jit.c"), &["-O1"]) else {
        return;
    };
    let said = program.file("map");
    let events = ["-F", "999", "-e", "cpu-clock:u"];
    let recording = program.record(&events, &[said.to_str().unwrap()]);
    let map = PerfMap(std::fs::read_to_string(said).unwrap());
    let pages = [("jit.html", None), ("only.html", Some("-S*Orders*"))].map(|(name, only)| {
        let page = program.file(name);
        let mut export = recording.command("export", &[]);
        run(export.args(only).arg("-o").arg(&page)).ok();
        (page, only.is_none())
    });
    let mut annotate = rprof(["annotate", "--no-debuginfod", "-i"]);
    let annotate = run(annotate.arg(&recording.file)).ok().stderr;
    let (_, why) = annotate
        .split_once("Lshop/Orders$Item;::price(Z)D): ")
        .unwrap();
    let why = why.lines().next().unwrap();
    assert!(why.starts_with(&map.0), "{why}");
    let pages = pages.map(|(page, is_all)| json!({"page": page, "jit": why, "isAll": is_all}));
    check(pages.to_vec(), program.dir());
}
