//! What a thread has had of the CPUs, and whether it runs.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

/// The CPU time of a thread, which is asked for again and again.
#[derive(Debug)]
pub struct CpuTime {
    pid: i32,
    tid: i32,
    /// Its `schedstat`; `None` if there is none, or if too many files are open.
    file: Option<File>,
}

/// A moment of a thread (`/proc/PID/task/TID/stat`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ThreadStat {
    /// Its name.
    pub comm: Vec<u8>,
    /// It runs, or waits for a CPU only.
    pub is_running: bool,
    /// The CPU that it ran on last.
    pub cpu: u32,
    /// CPU time in user space, ticks of `USER_HZ` (10 ms).
    pub user_ticks: u64,
    /// CPU time in the kernel, ticks of `USER_HZ` (10 ms).
    pub system_ticks: u64,
}

/// `USER_HZ` is 100.
const TICK_NS: u64 = 10_000_000;

impl CpuTime {
    /// That of a thread, from now on: of the program that it executes.
    pub fn new(pid: i32, tid: i32) -> Self {
        let file = File::open(format!("/proc/{pid}/task/{tid}/schedstat")).ok();
        Self { pid, tid, file }
    }

    /// Nanoseconds until now; `None` if it is gone. While it runs, the kernel adds to it with each of its
    /// ticks.
    pub fn now_ns(&self) -> Option<u64> {
        let mut text = [0; 64];
        let read = match &self.file {
            Some(file) => file.read_at(&mut text, 0),
            None => Err(io::ErrorKind::NotFound.into()),
        };
        match read {
            Ok(n) => {
                let first = text.get(..n)?.split(|&byte| byte == b' ').next()?;
                std::str::from_utf8(first).ok()?.parse().ok()
            }
            Err(_) => {
                let state = ThreadStat::read(self.pid, self.tid)?;
                Some((state.user_ticks + state.system_ticks) * TICK_NS)
            }
        }
    }
}

impl ThreadStat {
    /// Reads what a thread does now; `None` if it is gone.
    pub fn read(pid: i32, tid: i32) -> Option<Self> {
        Self::parse(&std::fs::read(format!("/proc/{pid}/task/{tid}/stat")).ok()?)
    }

    fn parse(stat: &[u8]) -> Option<Self> {
        // The name is in parentheses, and may hold some.
        let begin = stat.iter().position(|&byte| byte == b'(')?;
        let end = stat.iter().rposition(|&byte| byte == b')')?;
        let rest = std::str::from_utf8(stat.get(end + 1..)?).ok()?;
        let fields: Vec<&str> = rest.split_whitespace().collect();
        // proc(5) counts from 1, with id and name.
        let field = |number: usize| fields.get(number - 3).copied();
        let ticks = |number| field(number)?.parse::<u64>().ok();
        Some(Self {
            comm: stat.get(begin + 1..end)?.to_vec(),
            is_running: field(3)? == "R",
            cpu: field(39)?.parse().ok()?,
            user_ticks: ticks(14)?,
            system_ticks: ticks(15)?,
        })
    }
}

/// Whether a thread that is stopped is in a system call, on its way in or out; `None` if the kernel does not
/// say so (`/proc/PID/task/TID/syscall` begins with -1 where it is in none).
pub fn is_in_system_call(pid: i32, tid: i32) -> Option<bool> {
    let text = std::fs::read(format!("/proc/{pid}/task/{tid}/syscall")).ok()?;
    let number = text.split(u8::is_ascii_whitespace).next()?;
    let number: i64 = std::str::from_utf8(number).ok()?.parse().ok()?;
    Some(number != -1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn our_own_thread_runs_and_uses_time() {
        let pid = std::process::id().cast_signed();
        let tid = rprof_ringbuf::sys::thread_id();
        let state = ThreadStat::read(pid, tid).unwrap();
        assert!(state.is_running, "{state:?}");
        let time = CpuTime::new(pid, tid);
        let before = time.now_ns().unwrap();
        // The kernel adds to it with its ticks.
        while time.now_ns().unwrap() == before {}
        assert!(time.now_ns().unwrap() > before);
    }

    #[test]
    fn names_may_hold_anything() {
        let fields =
            "5 5 0 -1 0 0 0 0 0 7 3 0 0 20 0 1 0 9 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 17 1 0 0 0";
        let stat = |comm: &str, state: &str| format!("5 ({comm}) {state} 1 {fields}");
        let parsed = ThreadStat::parse(stat("a) R (b", "S").as_bytes()).unwrap();
        assert_eq!(parsed.comm, b"a) R (b");
        assert_eq!((parsed.is_running, parsed.cpu), (false, 1));
        assert_eq!((parsed.user_ticks, parsed.system_ticks), (7, 3));
        assert!(
            ThreadStat::parse(stat("x", "R").as_bytes())
                .unwrap()
                .is_running
        );
        assert_eq!(ThreadStat::parse(b"5 (x"), None);
    }
}
