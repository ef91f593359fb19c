//! Who runs: `/proc` as lists of ids and names. A process that ends meanwhile is just absent.

use std::io;
use std::path::Path;
use std::str::FromStr;
use std::time::Duration;

/// A thread's name: any bytes, at most 15.
pub type Comm = Vec<u8>;

/// Ids of all processes, ascending.
///
/// # Errors
/// If `/proc` cannot be listed.
pub fn all_processes() -> io::Result<Vec<i32>> {
    numbers_in(Path::new("/proc"))
}

/// Ids of a process's threads, ascending; the main thread's is the process's.
///
/// # Errors
/// `NotFound` if there is no such process.
pub fn threads_of(pid: i32) -> io::Result<Vec<i32>> {
    numbers_in(Path::new(&format!("/proc/{pid}/task")))
}

fn numbers_in(dir: &Path) -> io::Result<Vec<i32>> {
    let mut ids: Vec<i32> = std::fs::read_dir(dir)?
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
        .collect();
    ids.sort_unstable();
    Ok(ids)
}

/// A thread's name.
///
/// # Errors
/// If it is gone.
pub fn comm_of(pid: i32, tid: i32) -> io::Result<Comm> {
    let mut comm = std::fs::read(format!("/proc/{pid}/task/{tid}/comm"))?;
    if comm.last() == Some(&b'\n') {
        comm.pop();
    }
    Ok(comm)
}

/// A process's parent; 0 if it has none.
///
/// # Errors
/// If it is gone.
pub fn parent_of(pid: i32) -> io::Result<i32> {
    status_field(pid, "PPid:", 0)
}

/// The process that a thread belongs to.
///
/// # Errors
/// If it is gone.
pub fn process_of(tid: i32) -> io::Result<i32> {
    status_field(tid, "Tgid:", 0)
}

/// The user that a process runs as (effective user id).
///
/// # Errors
/// If it is gone.
pub fn owner_of(pid: i32) -> io::Result<u32> {
    // Real, effective, saved, of the file system.
    status_field(pid, "Uid:", 1)
}

/// Time in user space of our own children that have ended and were waited for, and of theirs; `None`
/// if `/proc` does not say.
///
/// Source: `cutime` in proc(5), in ticks of `USER_HZ`, which is 100.
pub fn user_time_of_children() -> Option<Duration> {
    const TICK_MS: u64 = 10;
    let stat = std::fs::read("/proc/self/stat").ok()?;
    // The name is in parentheses, and may hold some.
    let name_end = stat.iter().rposition(|&byte| byte == b')')?;
    let fields = std::str::from_utf8(stat.get(name_end + 1..)?).ok()?;
    let ticks: u64 = fields.split_whitespace().nth(13)?.parse().ok()?;
    Some(Duration::from_millis(ticks.checked_mul(TICK_MS)?))
}

/// The nth value of a line of `/proc/PID/status`.
fn status_field<T: FromStr>(pid: i32, name: &str, nth: usize) -> io::Result<T> {
    let status = std::fs::read(format!("/proc/{pid}/status"))?;
    String::from_utf8_lossy(&status)
        .lines()
        .find_map(|line| {
            line.strip_prefix(name)?
                .split_whitespace()
                .nth(nth)?
                .parse()
                .ok()
        })
        .ok_or_else(|| io::Error::from(io::ErrorKind::InvalidData))
}
