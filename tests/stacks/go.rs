//! Go programs: goroutines' stacks, with and without DWARF, and what they do on the stack of the thread.

use crate::common::{Program, needs, run, tool};
use std::path::Path;

/// Goroutines that fill maps: they allocate, their stacks grow, and garbage is collected.
const SOURCE: &str = r#"
package main

import (
    "fmt"
    "sync"
    "time"
)

func fill(n int) int {
    m := map[string][]byte{}
    for i := 0; i < n; i++ {
        m[fmt.Sprint(i%1000)] = make([]byte, 1000)
    }
    return len(m)
}

func main() {
    var all sync.WaitGroup
    for g := 0; g < 4; g++ {
        all.Add(1)
        go func() {
            for end := time.Now().Add(400 * time.Millisecond); time.Now().Before(end); {
                fill(1000)
            }
            all.Done()
        }()
    }
    all.Wait()
}
"#;

fn build(program: &Path, flags: &str) {
    let source = program.with_extension("go");
    std::fs::write(&source, SOURCE).unwrap();
    let mut go = tool("go");
    go.args(["build", "-ldflags", flags, "-o"]);
    go.arg(program)
        .arg(&source)
        .env("GOFLAGS", "-buildvcs=false");
    run(&mut go).ok();
}

#[test]
fn goroutines_are_followed_to_where_they_began_also_from_the_threads_stack() {
    needs!("go" in "golang-go");
    for flags in ["", "-s -w"] {
        let Some(program) = Program::made(|path| build(path, flags)) else {
            return;
        };
        let recording = program.record(&["-F", "999"], &[]);
        let (mut n_filling, mut n_switched) = (0, 0);
        for sample in recording.samples() {
            let names = sample.names();
            assert_ne!(sample.end.as_deref(), Some("no-info"), "{sample:#?}");
            // Code that is on the thread's stack already may ask for it again: the last one changed stacks.
            let switch = names.iter().rposition(|name| name.contains("systemstack"));
            let Some(at) = switch.filter(|at| at + 1 < names.len()) else {
                // A goroutine that fills a map was begun in `main`.
                if sample.has("main.fill") && sample.is_whole() {
                    n_filling += 1;
                    assert!(sample.has("main.main.func1"), "{sample:#?}");
                    assert!(names.last().unwrap().contains("goexit"), "{sample:#?}");
                }
                continue;
            };
            // The runtime makes the first goroutine while it starts, before any runs; no end is claimed there.
            let is_start = sample.tid == sample.pid && names.len() == at + 2;
            if is_start && sample.end.as_deref() == Some("unmapped") {
                continue;
            }
            n_switched += 1;
            assert_ne!(names[at + 1], "runtime.newproc.abi0", "{sample:#?}");
            let is_marked = names[at + 1] == "[truncated]";
            assert_eq!(sample.is_whole(), !is_marked, "{sample:#?}");
            assert!(names.last().unwrap().contains("goexit"), "{sample:#?}");
        }
        println!("{flags}: {n_filling} filling, {n_switched} switched: {recording:?}");
        assert!(n_filling > 0, "{recording:?}");
    }
}
