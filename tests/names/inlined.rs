//! Inlined functions and lines, as DWARF has them.

use crate::common::{needs, run, scratch, tool};
use crate::names::{Frames, addresses, compile, frames};
use std::path::{Path, PathBuf};

/// Functions inlined into each other, in a file of its own and in a header.
const PROGRAM: &str = r#"
    #include "inner.h"
    volatile int sink;
    static inline __attribute__((always_inline)) int middle(int n) {
        int sum = inner(n);
        return sum + inner(sum);
    }
    __attribute__((noinline)) int outer(int n) {
        if (n > 3)
            return middle(n);
        sink = n;
        return n;
    }
    int main(int n, char **words) {
        return outer(n) + middle(n);
    }"#;

const HEADER: &str = r"
    extern volatile int sink;
    static inline __attribute__((always_inline)) int inner(int n) {
        sink += n;
        return sink * 3;
    }";

/// What binutils' addr2line says.
fn addr2line(program: &Path, addresses: &[u64]) -> Vec<Frames> {
    let mut command = tool("addr2line");
    command.args(["-a", "-f", "-i", "-e"]).arg(program);
    command.args(addresses.iter().map(|address| format!("{address:#x}")));
    let text = run(&mut command).ok().stdout;
    let mut all: Vec<Frames> = Vec::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        if line.starts_with("0x") {
            all.push(Vec::new());
            continue;
        }
        let place = lines.next().unwrap();
        let place = place.split(" (discriminator").next().unwrap();
        let (file, number) = place.rsplit_once(':').unwrap();
        let number: u32 = number.parse().unwrap_or(0);
        let place = (number != 0).then(|| (file.to_owned(), number));
        all.last_mut().unwrap().push((line.to_owned(), place));
    }
    all
}

#[test]
fn every_version_of_dwarf_says_what_addr2line_reads_in_it() {
    needs!(cc, "addr2line" in "binutils");
    let dir = scratch();
    std::fs::write(dir.path().join("inner.h"), HEADER).unwrap();
    for version in ["2", "3", "4", "5"] {
        let option = format!("-gdwarf-{version}");
        let program = compile(dir.path(), &option, PROGRAM, &["-O2", &option]);
        let asked = addresses(&program, |name| matches!(name, "outer" | "main"));
        let ours = frames(&program, &asked, 1);
        let theirs = addr2line(&program, &asked);
        assert_eq!(ours, theirs, "DWARF {version}");
        let deepest = ours.iter().map(Vec::len).max();
        assert_eq!(deepest, Some(3), "DWARF {version}");
    }
}

#[test]
fn shards_answer_as_one_thread_does() {
    let path = PathBuf::from(env!("CARGO_BIN_EXE_rprof"));
    let asked: Vec<u64> = addresses(&path, |name| name.contains("rprof"))
        .into_iter()
        .step_by(61)
        .take(4000)
        .collect();
    let one = frames(&path, &asked, 1);
    assert!(one.iter().any(|frames| frames.len() > 2));
    for n_threads in [2, 5] {
        assert_eq!(frames(&path, &asked, n_threads), one);
    }
}
