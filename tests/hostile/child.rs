//! The command that is recorded is started as it would be without rprof.

use crate::common::{needs, run, scratch, skipped, tool};
use std::process::Command;

/// Its signals, as the kernel has them: those that are blocked, and those that are ignored.
const SIGNALS: &[&str] = &["grep", "-E", "^Sig(Blk|Ign)", "/proc/self/status"];

/// The same command, run by `env` with these options, whatever we were started with (`nohup`).
fn with_env(options: &[&str], command: &Command) -> Command {
    let mut env = tool("env");
    env.arg("--default-signal")
        .args(options)
        .arg(command.get_program());
    env.args(command.get_args());
    env
}

#[test]
fn a_command_has_the_signals_that_rprof_was_started_with() {
    needs!(live);
    if !run(&mut with_env(&["--block-signal=USR1"], &tool("true")))
        .status
        .success()
    {
        skipped("an env with --block-signal (coreutils 8.31)");
        return;
    }
    let dir = scratch();
    // As they are: `tool` and `rprof` would undo what `env` is told.
    let mut plain = Command::new(SIGNALS[0]);
    plain.args(&SIGNALS[1..]);
    let mut recorded = Command::new(env!("CARGO_BIN_EXE_rprof"));
    recorded.args(["record", "-q", "-e", "cpu-clock", "-o"]);
    recorded
        .arg(dir.path().join("perf.data"))
        .arg("--")
        .args(SIGNALS);
    let mut seen = Vec::new();
    for options in [
        &[][..],
        &["--ignore-signal=PIPE"],
        &["--default-signal=PIPE"],
        // As nohup, as a script's background job, and as those that want no zombies.
        &["--ignore-signal=HUP"],
        &["--ignore-signal=INT,QUIT"],
        &["--ignore-signal=CHLD"],
        &["--block-signal=USR1,PIPE,TERM,CHLD"],
        &["--block-signal=INT,HUP", "--ignore-signal=PIPE,USR2"],
    ] {
        let expected = run(&mut with_env(options, &plain)).ok().stdout;
        let found = run(&mut with_env(options, &recorded)).ok().stdout;
        assert_eq!(found, expected, "{options:?}");
        seen.push(expected);
    }
    // They are different states, or nothing was shown.
    seen.sort();
    seen.dedup();
    assert_eq!(seen.len(), 7, "{seen:?}");
}
