//! Who else wants the debug registers of a task: a debugger, or the program itself.

use foldhash::HashMap;
use std::fs;
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

/// Processes that are remembered.
const MAX_PROCESSES: usize = 1024;

impl Claims {
    /// Whether a task is traced, or its process has events of its own. What cannot be read counts as such.
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

/// Whether a process has an event open (`anon_inode:[perf_event]`; its descriptor does not say of what kind).
fn has_open_events(pid: i32) -> bool {
    let Ok(files) = fs::read_dir(format!("/proc/{pid}/fd")) else {
        return true;
    };
    let mut links = files.flatten().map(|file| fs::read_link(file.path()));
    links.any(|link| link.is_ok_and(|link| link.as_os_str() == "anon_inode:[perf_event]"))
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
    fn what_is_gone_is_left_alone() {
        // Ids are below 2^22 (PID_MAX_LIMIT).
        assert!(is_traced(1 << 22) && has_open_events(1 << 22));
    }
}
