//! Who runs: `/proc` as lists of ids and names. A process that ends meanwhile is just absent.

use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::str::FromStr;
use std::time::Duration;

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
pub fn comm_of(pid: i32, tid: i32) -> io::Result<Vec<u8>> {
    let mut comm = std::fs::read(format!("/proc/{pid}/task/{tid}/comm"))?;
    if comm.last() == Some(&b'\n') {
        comm.pop();
    }
    Ok(comm)
}

/// The base name of the file that a process executes; of one that is gone by now, too.
///
/// # Errors
/// If the process is gone, has none (it is the kernel's), or may not be looked at.
pub fn program_of(pid: i32) -> io::Result<Vec<u8>> {
    let path = std::fs::read_link(format!("/proc/{pid}/exe"))?;
    let name = path.file_name().unwrap_or_default().as_bytes();
    Ok(name.strip_suffix(b" (deleted)").unwrap_or(name).to_vec())
}

/// A process's parent; 0 if it has none.
///
/// # Errors
/// If it is gone.
pub fn parent_of(pid: i32) -> io::Result<i32> {
    status_field(pid, "PPid:", 0)
}

/// Ids of the processes that these have started, and of those that they have started in turn; not of
/// those whose parent has ended, nor of this process and what it has started: a shell among them may have
/// started it. Unordered.
pub fn started_by(pids: &[i32]) -> Vec<i32> {
    descendants_of(pids, std::process::id().cast_signed())
}

/// Ids of all threads of these processes, and of those of the processes that they have started if these are wanted,
/// too.
///
/// # Errors
/// The first of them that is not there.
pub fn threads_of_all(pids: &[i32], with_children: bool) -> Result<Vec<i32>, i32> {
    let mut all = Vec::new();
    for &pid in pids {
        all.extend(threads_of(pid).map_err(|_| pid)?);
    }
    if with_children {
        let threads = started_by(pids).into_iter().map(threads_of);
        all.extend(threads.filter_map(Result::ok).flatten());
    }
    Ok(all)
}

/// What [`started_by`] says, without `left_out` and what that has started.
fn descendants_of(pids: &[i32], left_out: i32) -> Vec<i32> {
    let all = all_processes().unwrap_or_default();
    // Also of a thread's children, that is its process.
    let parents = all.into_iter().filter(|&pid| pid != left_out);
    let parents: Vec<(i32, i32)> = parents
        .filter_map(|pid| Some((pid, parent_of(pid).ok()?)))
        .collect();
    let mut found = pids.to_vec();
    let mut n_seen = 0;
    while let Some(&parent) = found.get(n_seen) {
        n_seen += 1;
        for &(pid, of) in &parents {
            if of == parent && !found.contains(&pid) {
                found.push(pid);
            }
        }
    }
    found.split_off(pids.len())
}

/// The process that a thread belongs to.
///
/// # Errors
/// If it is gone.
pub fn process_of(tid: i32) -> io::Result<i32> {
    status_field(tid, "Tgid:", 0)
}

/// The process that traces a thread; `None` if nobody does, or if it is gone.
pub fn tracer_of(tid: i32) -> Option<i32> {
    status_field(tid, "TracerPid:", 0)
        .ok()
        .filter(|&tracer| tracer != 0)
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

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{BufRead, BufReader};
    use std::process::{Command, Stdio};

    #[test]
    fn descendants_are_found_at_any_depth_and_without_a_branch() {
        let own = std::process::id().cast_signed();
        // A shell with a shell below it, which says both ids and waits.
        let script = "sh -c 'echo $PPID $$; read x; :'; :";
        let mut shell = Command::new("sh")
            .args(["-c", script])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        let mut said = BufReader::new(shell.stdout.take().unwrap());
        said.read_line(&mut line).unwrap();
        let ids: Vec<i32> = line
            .split(' ')
            .map(|id| id.trim().parse().unwrap())
            .collect();
        let mut of_test = descendants_of(&[own], 0);
        of_test.retain(|pid| ids.contains(pid));
        assert_eq!(of_test, ids);
        assert_eq!(descendants_of(&ids[..1], 0), ids[1..]);
        assert!(descendants_of(&ids, 0).is_empty());
        assert!(descendants_of(&ids[..1], ids[1]).is_empty());
        let mut without = descendants_of(&[own], ids[0]);
        without.retain(|pid| ids.contains(pid));
        assert!(without.is_empty());
        drop(shell.stdin.take());
        shell.wait().unwrap();
    }
}
