//! Commands that rprof suggests can be pasted into a shell, whatever files are called.

use crate::common::work::burn;
use crate::common::{in_path, needs, rprof, run, scratch, tool};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

/// Names that want to run something.
const NAMES: &[&[u8]] = &[
    b"$(touch ran)",
    b"a'; touch ran; '",
    b"a\\'; touch ran #",
    b"a\\",
    b"!touch; touch ran",
    b"-x; touch ran",
    b"a\n'; touch ran #",
    b"\xff'; touch ran #",
];

#[test]
fn a_suggested_command_runs_nothing_else_in_any_shell() {
    needs!(live);
    let dir = scratch();
    for name in NAMES {
        let mut record = rprof(["record", "-F", "999", "-e", "cpu-clock"]);
        let mut output = b"-o".to_vec();
        output.extend_from_slice(name);
        record.arg(OsStr::from_bytes(&output));
        record.args(["--", "sh", "-c", &burn(10)]);
        let ran = run(record.current_dir(dir.path())).ok();
        let next = ran.stderr.split("next: rprof ").nth(1).unwrap().trim();
        for shell in ["sh", "bash", "zsh", "fish"] {
            if in_path(shell).is_none() {
                continue;
            }
            let line = format!("{} {next}", env!("CARGO_BIN_EXE_rprof"));
            let mut pasted = tool(shell);
            pasted.args(["-c", &line]).current_dir(dir.path());
            let pasted = run(&mut pasted);
            assert!(!dir.path().join("ran").exists(), "{shell}: {next}");
            // Not all shells can write all bytes.
            if shell == "bash" {
                assert!(pasted.ok().stdout.contains("# Samples: "), "{next}");
            }
        }
    }
}
