//! The memory of processes: `/proc/PID/mem`, read and never written.

use std::fs::File;
use std::os::unix::fs::FileExt;

/// The memory of processes; the files of the last ones stay open.
#[derive(Debug, Default)]
pub(crate) struct ProcessMemory {
    /// By process, the newest last.
    open: Vec<(i32, File)>,
}

/// Open files: one for each process that has deep stacks just now.
const MAX_OPEN: usize = 32;

impl ProcessMemory {
    /// Reads bytes at an address; fewer where the mapping ends. `None` if nothing can be read: the
    /// process is gone, not ours, or executes another program.
    pub(crate) fn read(&mut self, pid: i32, avma: u64, into: &mut [u8]) -> Option<usize> {
        let found = self.open.iter().position(|(known, _)| *known == pid);
        if let Some(found) = found {
            if let Ok(n @ 1..) = read(&self.open[found].1, avma, into) {
                return Some(n);
            }
            // The file is of the program that ran when it was opened.
            self.open.remove(found);
        }
        let file = File::open(format!("/proc/{pid}/mem")).ok()?;
        let n = read(&file, avma, into).ok().filter(|&n| n > 0)?;
        if self.open.len() == MAX_OPEN {
            self.open.remove(0);
        }
        self.open.push((pid, file));
        Some(n)
    }
}

/// Whether we may not look into a process.
pub(crate) fn is_refused(pid: i32) -> bool {
    let opened = File::open(format!("/proc/{pid}/mem"));
    opened.is_err_and(|error| error.kind() == std::io::ErrorKind::PermissionDenied)
}

/// Reads bytes; goes on if the kernel stops between two pages.
fn read(file: &File, avma: u64, into: &mut [u8]) -> std::io::Result<usize> {
    let mut done = 0;
    while done < into.len() {
        match file.read_at(&mut into[done..], avma + done as u64) {
            Ok(0) => break,
            Ok(n) => done += n,
            Err(error) if done == 0 => return Err(error),
            Err(_) => break,
        }
    }
    Ok(done)
}
