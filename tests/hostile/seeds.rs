//! Tables are hashed with a seed of each run, and no output shows it.

use crate::common::{fixtures, rprof, run};
use std::path::PathBuf;

/// All that prints, and more sort keys than anybody asks for.
const OUTPUTS: [&[&str]; 24] = [
    &["report"],
    &["report", "--children", "--percent-limit", "0"],
    &["report", "--no-children", "-n"],
    &["report", "--sort", "comm,comm_nodigit,pid,tid,dso,sym"],
    &["report", "--sort", "dso"],
    &["report", "-g", "callee,0"],
    &["report", "--stats"],
    &["script"],
    &["script", "-F", "+srcline"],
    &["script", "--json"],
    &[
        "script",
        "--deltatime",
        "--show-task-events",
        "--show-mmap-events",
    ],
    &["flame"],
    &["flame", "--folded"],
    &["symbols"],
    &["symbols", "--json"],
    &["info"],
    &["info", "--json"],
    &["dump"],
    &["dump", "--json"],
    &["export", "--format", "firefox"],
    &["export", "--format", "speedscope"],
    &["export", "--format", "pprof"],
    &["export", "--format", "folded"],
    &["export", "--format", "json"],
];

/// Recordings with many and with few names, of several forms, and where their programs are.
fn recordings() -> [(PathBuf, PathBuf); 4] {
    let all = fixtures();
    [
        ("spin/perf.data", "spin/root"),
        ("dwarf/perf.data", "dwarf/root"),
        ("forms/directory", "spin/root"),
        ("forms/piped-compressed.data", "spin/root"),
    ]
    .map(|(file, root)| (all.join(file), all.join(root)))
}

#[test]
fn the_same_recording_gives_the_same_bytes_each_time() {
    for (file, root) in recordings() {
        for output in OUTPUTS {
            let said = || {
                let mut command = rprof(output);
                if !matches!(output[0], "info" | "dump") {
                    command.arg("--symfs").arg(&root);
                }
                let ran = run(command.arg("-i").arg(&file));
                // Two of them have no call chains: to ask for trees is an error there.
                assert!(ran.status.success() || output.contains(&"-g"), "{ran:?}");
                (ran.stdout, ran.stderr)
            };
            let first = said();
            for _ in 0..2 {
                assert_eq!(said(), first, "{output:?} {}", file.display());
            }
        }
    }
}
