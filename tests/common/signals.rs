//! Programs that tests start have the signals that a terminal would give them, whatever the tests were started with:
//! nohup ignores SIGHUP, a shell SIGINT and SIGQUIT for what runs in the background, and who is started inherits that.

use std::ffi::OsStr;
use std::process::{Command, Stdio};
use std::sync::OnceLock;

/// Those that somebody may have had ignored.
const SIGNALS: [(u32, &str); 6] = [
    (1, "HUP"),
    (2, "INT"),
    (3, "QUIT"),
    (10, "USR1"),
    (12, "USR2"),
    (15, "TERM"),
];

/// A program that is started with default signals. Only another program can say so: what one ignores itself, it
/// ignores for all that it starts.
pub(super) fn command(program: impl AsRef<OsStr>) -> Command {
    let Some(defaults) = defaults() else {
        return Command::new(program);
    };
    let mut command = Command::new("env");
    command.arg(defaults).arg(program);
    command
}

/// What `env` is told, if anything is ignored.
fn defaults() -> Option<&'static str> {
    static DEFAULTS: OnceLock<Option<String>> = OnceLock::new();
    let told = DEFAULTS.get_or_init(|| {
        let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
        let ignored = ignored_in(&status);
        let option = format!("--default-signal={}", ignored.join(","));
        (!ignored.is_empty() && knows(&option)).then_some(option)
    });
    told.as_deref()
}

/// The signals that a process ignores, as `/proc/PID/status` has them.
pub fn ignored_in(status: &str) -> Vec<&'static str> {
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    let has = |number: u32| mask.unwrap_or(0) >> (number - 1) & 1 == 1;
    let ignored = SIGNALS.into_iter().filter(|&(number, _)| has(number));
    ignored.map(|(_, name)| name).collect()
}

/// Whether `env` is that of the GNU coreutils, since 8.31.
pub fn knows(option: &str) -> bool {
    let mut env = Command::new("env");
    let silent = env.args([option, "true"]).stderr(Stdio::null());
    silent.status().is_ok_and(|status| status.success())
}
