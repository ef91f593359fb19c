//! Who else wants the debug registers of a task: a debugger, or the program itself.

use foldhash::HashMap;
use std::fs;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// Whether a task's debug registers are somebody else's. Breakpoints that another process set by an event
/// show only when the kernel has none left (ENOSPC).
#[derive(Debug, Default)]
pub(super) struct Claims {
    own_events: HashMap<i32, OwnEvents>,
}

/// Whether a process has events open, any of which may be a breakpoint.
#[derive(Clone, Copy, Debug)]
struct OwnEvents {
    has_some: bool,
    /// A process may have very many files: it is not looked at again before.
    look_again: Instant,
}

/// Files of a process are listed this often at most, and for a hundredth of the time.
const EVENTS_INTERVAL: Duration = Duration::from_millis(50);
const LOOKING_SHARE: u32 = 100;

/// Files of a process that are looked at: each takes microseconds, and stacks wait meanwhile.
const MAX_FILES: usize = 1024;

/// Processes that are remembered.
const MAX_PROCESSES: usize = 1024;

impl Claims {
    /// Whether a task is traced, or its process has events of its own. What cannot be read, or would take
    /// long to read, counts as such.
    pub(super) fn has(&mut self, pid: i32, tid: i32) -> bool {
        is_traced(tid) || self.has_own_events(pid)
    }

    fn has_own_events(&mut self, pid: i32) -> bool {
        let begin = Instant::now();
        let known = self.own_events.get(&pid);
        if let Some(known) = known.filter(|known| begin < known.look_again) {
            return known.has_some;
        }
        if self.own_events.len() >= MAX_PROCESSES {
            self.own_events.clear();
        }
        let has_some = has_open_events(pid);
        let now = Instant::now();
        let pause = (now - begin) * LOOKING_SHARE;
        let known = OwnEvents {
            has_some,
            look_again: now + pause.max(EVENTS_INTERVAL),
        };
        self.own_events.insert(pid, known);
        has_some
    }
}

/// Whether somebody traces a task (`TracerPid` of `/proc/PID/status`).
fn is_traced(tid: i32) -> bool {
    let Ok(status) = fs::read(format!("/proc/{tid}/status")) else {
        return true;
    };
    let mut lines = status.split(|&byte| byte == b'\n');
    let tracer = lines.find_map(|line| line.strip_prefix(b"TracerPid:"));
    tracer.is_none_or(|tracer| tracer.trim_ascii() != b"0")
}

/// Whether a process has an event open, or so many files that one of them may be.
fn has_open_events(pid: i32) -> bool {
    let Ok(files) = fs::read_dir(format!("/proc/{pid}/fd")) else {
        return true;
    };
    may_have_event(files.flatten().map(|file| fs::read_link(file.path()).ok()))
}

/// Whether one of these files is an event (`anon_inode:[perf_event]`; its link does not say of what kind), or
/// there are too many to look at. Those that are closed by now have no link.
fn may_have_event(mut links: impl Iterator<Item = Option<PathBuf>>) -> bool {
    let is_event = |link: PathBuf| link.as_os_str() == "anon_inode:[perf_event]";
    let has_some = links
        .by_ref()
        .take(MAX_FILES)
        .any(|link| link.is_some_and(is_event));
    has_some || links.next().is_some()
}

#[cfg(test)]
mod tests {
    use super::*;
    use rprof_abi::{AttrFlags, PerfEventAttr, event_type, sw};
    use rprof_ringbuf::{Counter, Cpu, Target};

    #[test]
    fn a_process_without_events_and_debugger_claims_nothing_until_it_opens_one() {
        let pid = i32::try_from(std::process::id()).unwrap();
        let mut child = std::process::Command::new("sleep")
            .arg("60")
            .spawn()
            .unwrap();
        let child_pid = i32::try_from(child.id()).unwrap();
        let is_claimed = is_traced(child_pid) || has_open_events(child_pid);
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(!is_claimed);
        let attr = PerfEventAttr {
            kind: event_type::SOFTWARE,
            config: sw::DUMMY,
            flags: AttrFlags::DISABLED.with(AttrFlags::EXCLUDE_KERNEL),
            ..PerfEventAttr::default()
        };
        // Where no event can be opened, nobody has one.
        if let Ok(counter) = Counter::open(&attr, Target::Thread(0), Cpu::Any) {
            assert!(Claims::default().has(pid, pid));
            drop(counter);
        }
    }

    #[test]
    fn of_many_files_only_the_first_are_looked_at_and_all_claim() {
        let may_have_one = |n_files: usize| {
            let mut n_looked_at = 0_usize;
            let links = (0..n_files).map(|_| {
                n_looked_at += 1;
                Some(PathBuf::from("/dev/null"))
            });
            (may_have_event(links), n_looked_at)
        };
        assert_eq!(may_have_one(MAX_FILES), (false, MAX_FILES));
        assert_eq!(may_have_one(20 * MAX_FILES), (true, MAX_FILES + 1));
    }

    #[test]
    fn what_is_gone_is_left_alone() {
        // Ids are below 2^22 (PID_MAX_LIMIT).
        assert!(is_traced(1 << 22) && has_open_events(1 << 22));
    }
}
