//! What `/proc` says of a live process: enough to tell whether it is the one that was recorded, and
//! to see files as it does.

use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

/// A live process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LiveProcess {
    /// Its id as we see it.
    pub pid: i32,
    /// Its id in its own, innermost PID namespace.
    pub namespace_pid: i32,
    /// Its user.
    pub owner: u32,
    /// When it was started, by the wall clock, to a hundredth of a second.
    pub started: SystemTime,
}

impl LiveProcess {
    /// The process of this id, if there is one.
    pub fn of(pid: i32) -> Option<Self> {
        let dir = PathBuf::from(format!("/proc/{pid}"));
        let stat = std::fs::read_to_string(dir.join("stat")).ok()?;
        let status = std::fs::read_to_string(dir.join("status")).ok()?;
        let uptime = std::fs::read_to_string("/proc/uptime").ok()?;
        let uptime: f64 = uptime.split(' ').next()?.parse().ok()?;
        let since_boot = Duration::try_from_secs_f64(uptime).ok()?;
        let booted = SystemTime::now().checked_sub(since_boot)?;
        Some(Self {
            pid,
            namespace_pid: namespace_pid(&status)?,
            owner: std::fs::metadata(&dir).ok()?.uid(),
            started: booted.checked_add(start_after_boot(&stat)?)?,
        })
    }

    /// A path as the process itself sees it.
    pub fn path(&self, path: &str) -> PathBuf {
        let root = PathBuf::from(format!("/proc/{}/root", self.pid));
        root.join(path.strip_prefix('/').unwrap_or(path))
    }
}

/// Our user, as far as files count.
fn own_user() -> Option<u32> {
    Some(std::fs::metadata("/proc/self").ok()?.uid())
}

/// Whose maps and logs of code count: ours and root's, as in perf (`dso__load`,
/// tools/perf/util/symbol.c, v6.1), and those of the live process's own user.
pub fn is_trusted_owner(owner: u32, process: Option<LiveProcess>) -> bool {
    owner == 0 || own_user() == Some(owner) || process.is_some_and(|process| process.owner == owner)
}

/// `NSpid:` lists ids from the outermost namespace that we see to the innermost.
fn namespace_pid(status: &str) -> Option<i32> {
    let ids = status
        .lines()
        .find_map(|line| line.strip_prefix("NSpid:"))?;
    ids.split_whitespace().next_back()?.parse().ok()
}

/// `starttime`, field 22; the second one is a name in parentheses that may hold any.
/// In `USER_HZ`, which is 100 wherever the kernel is built for a machine that rprof knows
/// (include/asm-generic/param.h, v6.1).
fn start_after_boot(stat: &str) -> Option<Duration> {
    let fields = stat.get(stat.rfind(')')? + 1..)?;
    let ticks: u64 = fields.split_whitespace().nth(22 - 3)?.parse().ok()?;
    Some(Duration::from_millis(ticks.checked_mul(10)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn we_live_since_a_moment_ago() {
        let pid = std::process::id().cast_signed();
        let process = LiveProcess::of(pid).unwrap();
        assert_eq!(process.namespace_pid, pid);
        assert_eq!(Some(process.owner), own_user());
        let age = SystemTime::now().duration_since(process.started).unwrap();
        assert!(age < Duration::from_secs(600), "{age:?}");
        assert!(process.path("/proc").is_dir());
        assert_eq!(LiveProcess::of(-1), None);
    }

    #[test]
    fn names_with_parentheses_hide_nothing() {
        let stat = "7 (a) b) c) S 1 7 7 0 -1 4194560 1 0 0 0 0 0 0 0 20 0 1 0 250 9 8 7";
        assert_eq!(start_after_boot(stat), Some(Duration::from_millis(2500)));
        assert_eq!(namespace_pid("Name:\tx\nNSpid:\t4711\t12\t3\n"), Some(3));
    }
}
