//! A test program leaves nothing behind, however it ends: not if a test panics, nor if somebody kills
//! it. All that it starts, and all that those start, has a mark in its environment. A shell beside
//! it waits for its end, which closes a pipe, and then kills what has the mark.
//!
//! `PR_SET_PDEATHSIG` would reach the children, but not what they have started: a recorder that is
//! killed leaves its command alone. Process groups do not reach those that have one of their own,
//! as commands of [`super::Running`] and of shells with job control have.

use std::ffi::OsString;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{ChildStdin, Command, Stdio};
use std::sync::OnceLock;

/// Environment variable: which test program has started a process.
pub const MARK: &str = "RPROF_STARTED_BY";

/// Arguments: the mark with its value, and the folder that tests share. Others may be started while
/// some are killed, so it looks until there are none, for half a minute: a process that the kernel holds does not die. Nobody but the test program has the pipe.
const AT_THE_END: &str = r#"
    cat > /dev/null
    tries=300
    while left=$(grep -lsaF "$0" /proc/[0-9]*/environ); [ -n "$left" ] && [ $tries -gt 0 ]; do
        for path in $left; do
            pid=${path#/proc/}; pid=${pid%/environ}
            kill -s KILL "$pid" 2> /dev/null
        done
        tries=$((tries - 1))
        sleep 0.1
    done
    rm -rf "$1"
"#;

/// Of a test program.
struct Started {
    /// What [`MARK`] is set to: the path of the folder.
    mark: OsString,
    folder: PathBuf,
    /// Open for as long as the program lives.
    _pipe: Option<ChildStdin>,
}

/// Marks a command as started by this test program.
pub(super) fn mark(command: &mut Command) {
    command.env(MARK, &started().mark);
}

/// A folder for what several tests of a test program share. It goes when that ends.
pub fn shared_folder() -> &'static Path {
    &started().folder
}

fn started() -> &'static Started {
    static STARTED: OnceLock<Started> = OnceLock::new();
    STARTED.get_or_init(|| {
        // A test that starts itself again: the outer one's shell is there for both.
        if let Some(outer) = std::env::var_os(MARK) {
            let folder = tempfile::tempdir_in(&outer).unwrap().keep();
            return Started {
                mark: outer,
                folder,
                _pipe: None,
            };
        }
        let folder = super::scratch().keep();
        let mark = folder.clone().into_os_string();
        let mut wanted = OsString::from(format!("{MARK}="));
        wanted.push(&mark);
        let mut shell = Command::new("sh");
        shell.args(["-c", AT_THE_END]).arg(wanted).arg(&folder);
        // What a terminal or `timeout` kills is another group.
        shell.process_group(0).stdin(Stdio::piped());
        // Not waited for: it ends after us.
        let pipe = shell.spawn().unwrap().stdin;
        Started {
            mark,
            folder,
            _pipe: pipe,
        }
    })
}
