//! Starting a command that waits at a gate until its events are open.
//!
//! `std::process::Command` cannot do this: its `spawn` returns only after exec. So: fork, the
//! child waits for a byte on a pipe, then execs; exec's errno comes back over a second pipe
//! that a successful exec closes.

#![expect(unsafe_code, reason = "fork and exec; see the SAFETY comments")]

use rprof_ringbuf::sys;
use std::ffi::{CString, OsString};
use std::fs::File;
use std::io::{self, Read, Write};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::os::unix::ffi::OsStringExt;
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;
use std::time::Duration;

/// A command could not be started.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SpawnError {
    /// A word of the command holds a NUL byte, or there is none at all.
    #[error("the command is empty or holds a NUL byte")]
    BadCommand,
    /// No pipe or no process could be made.
    #[error("starting a process")]
    Fork(#[source] io::Error),
    /// exec failed.
    #[error("{command}")]
    Exec {
        /// The command's first word.
        command: String,
        /// Why.
        source: io::Error,
    },
}

/// What the command prints to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stdout {
    /// Our standard output.
    Inherited,
    /// Our standard error: the output is for something else.
    ToStderr,
    /// Nowhere, and it reads nothing: the terminal is for something else.
    Nowhere,
}

/// A forked child that waits at its gate.
///
/// Readable ([`AsFd`]) once the gate is open and the command runs, or could not be started.
#[derive(Debug)]
pub struct Gated {
    child: Child,
    gate: Option<File>,
    exec_error: File,
    command: String,
}

/// A running command.
#[derive(Debug)]
pub struct Child {
    pid: i32,
    status: Option<ExitStatus>,
    cpu_time: Option<ResourceUsage>,
}

/// What a command had of the CPUs, with all that it has waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ResourceUsage {
    /// In its own code.
    pub user: Duration,
    /// In the kernel.
    pub system: Duration,
}

impl Gated {
    /// Forks a child that will exec `command`, looked up in `PATH`. Call it before any thread
    /// is started: the child of a threaded process may not even allocate.
    ///
    /// # Errors
    /// [`SpawnError::BadCommand`], [`SpawnError::Fork`].
    pub fn spawn(command: &[OsString], stdout: Stdout) -> Result<Self, SpawnError> {
        let words: Vec<CString> = command
            .iter()
            .map(|word| CString::new(word.clone().into_vec()))
            .collect::<Result<_, _>>()
            .map_err(|_| SpawnError::BadCommand)?;
        let first = words.first().ok_or(SpawnError::BadCommand)?;
        let name = first.to_string_lossy().into_owned();
        let mut argv: Vec<*const libc::c_char> = words.iter().map(|word| word.as_ptr()).collect();
        argv.push(std::ptr::null());
        let (gate_read, gate) = pipe().map_err(SpawnError::Fork)?;
        let (exec_error, error_write) = pipe().map_err(SpawnError::Fork)?;

        // SAFETY: no other thread exists (caller), so the child may run ordinary code.
        let pid = unsafe { libc::fork() };
        if pid < 0 {
            return Err(SpawnError::Fork(io::Error::last_os_error()));
        }
        if pid == 0 {
            // The parent's end must not stay open here, or its death would not end our wait.
            drop(gate);
            run_child(&gate_read, &error_write, &argv, stdout);
        }
        drop(gate_read);
        drop(error_write);
        Ok(Self {
            child: Child::new(pid),
            gate: Some(File::from(gate)),
            exec_error: File::from(exec_error),
            command: name,
        })
    }

    /// The child's process id.
    pub fn pid(&self) -> i32 {
        self.child.pid
    }

    /// Lets the child execute the command.
    pub fn open(&mut self) {
        if let Some(mut gate) = self.gate.take() {
            // If the child is gone already, `started` says so.
            let _ = gate.write_all(&[1]);
        }
    }

    /// Ends the child (SIGKILL), also while it is about to execute the command.
    pub fn kill(&self) {
        self.child.kill();
    }

    /// Waits until the command runs, once the gate is open.
    ///
    /// # Errors
    /// [`SpawnError::Exec`] with exec's own error.
    pub fn started(mut self) -> Result<Child, SpawnError> {
        self.open();
        let mut errno = [0; 4];
        match self.exec_error.read_exact(&mut errno) {
            Ok(()) => {
                // Its tracer may have been told of its end already.
                let _ = self.child.wait();
                Err(SpawnError::Exec {
                    command: self.command,
                    source: io::Error::from_raw_os_error(i32::from_ne_bytes(errno)),
                })
            }
            // Closed by exec: it runs.
            Err(_) => Ok(self.child),
        }
    }
}

impl AsFd for Gated {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.exec_error.as_fd()
    }
}

/// The child between fork and exec; never returns.
fn run_child(gate: &OwnedFd, error: &OwnedFd, argv: &[*const libc::c_char], stdout: Stdout) -> ! {
    let mut byte = 0u8;
    // SAFETY: writes at most one byte to `byte`.
    let got = unsafe { libc::read(gate.as_raw_fd(), (&raw mut byte).cast(), 1) };
    if got == 1 {
        // std ignores SIGPIPE, and a recorder blocks what it reads from a signalfd.
        sys::restore_signals_of_start();
        redirect(stdout);
        let command = argv.first().copied().unwrap_or(std::ptr::null());
        // SAFETY: `argv` is NULL-terminated and points to strings that the parent's frame owns.
        unsafe { libc::execvp(command, argv.as_ptr()) };
        let errno = io::Error::last_os_error()
            .raw_os_error()
            .unwrap_or(libc::EINVAL)
            .to_ne_bytes();
        // SAFETY: reads four bytes of `errno`.
        unsafe { libc::write(error.as_raw_fd(), errno.as_ptr().cast(), errno.len()) };
    }
    // SAFETY: ends this process without running the parent's exit handlers.
    unsafe { libc::_exit(127) }
}

/// In the child.
fn redirect(stdout: Stdout) {
    match stdout {
        Stdout::Inherited => {}
        Stdout::ToStderr => {
            // SAFETY: two numbers; where it fails, what is printed is lost.
            unsafe { libc::dup2(libc::STDERR_FILENO, libc::STDOUT_FILENO) };
        }
        Stdout::Nowhere => {
            // SAFETY: the path is a C string.
            let nowhere = unsafe { libc::open(c"/dev/null".as_ptr(), libc::O_RDWR) };
            for fd in [libc::STDIN_FILENO, libc::STDOUT_FILENO, libc::STDERR_FILENO] {
                // SAFETY: two numbers; where it fails, the terminal is printed to.
                unsafe { libc::dup2(nowhere, fd) };
            }
        }
    }
}

impl Child {
    fn new(pid: i32) -> Self {
        Self {
            pid,
            status: None,
            cpu_time: None,
        }
    }

    /// Process id.
    pub fn pid(&self) -> i32 {
        self.pid
    }

    /// Its status, once it has ended; does not wait.
    ///
    /// # Errors
    /// The kernel's.
    pub fn try_wait(&mut self) -> io::Result<Option<ExitStatus>> {
        self.wait_with(libc::WNOHANG)
    }

    /// Waits for its end.
    ///
    /// # Errors
    /// The kernel's.
    pub fn wait(&mut self) -> io::Result<ExitStatus> {
        self.wait_with(0)?
            .ok_or_else(|| io::Error::from(io::ErrorKind::WouldBlock))
    }

    /// What it had of the CPUs, once it was waited for.
    pub fn cpu_time(&self) -> Option<ResourceUsage> {
        self.cpu_time
    }

    fn wait_with(&mut self, options: libc::c_int) -> io::Result<Option<ExitStatus>> {
        while self.status.is_none() {
            let (mut raw, mut usage) = (0, MaybeUninit::<libc::rusage>::zeroed());
            // SAFETY: the kernel writes one int and one rusage.
            match unsafe { libc::wait4(self.pid, &raw mut raw, options, usage.as_mut_ptr()) } {
                0 => break,
                pid if pid == self.pid => {
                    self.status = Some(ExitStatus::from_raw(raw));
                    // SAFETY: numbers, all of them zero before.
                    let usage = unsafe { usage.assume_init() };
                    self.cpu_time = Some(ResourceUsage::from_rusage(&usage));
                }
                _ => {
                    let error = io::Error::last_os_error();
                    if error.kind() != io::ErrorKind::Interrupted {
                        return Err(error);
                    }
                }
            }
        }
        Ok(self.status)
    }

    /// It has ended with this status, as its tracer was told.
    pub fn set_ended(&mut self, status: ExitStatus) {
        self.status.get_or_insert(status);
    }

    /// Asks it to end (SIGTERM).
    pub fn terminate(&self) {
        if self.status.is_none() {
            self.signal(libc::SIGTERM);
        }
    }

    /// Ends it (SIGKILL).
    pub fn kill(&self) {
        if self.status.is_none() {
            self.signal(libc::SIGKILL);
        }
    }

    /// To be called while it has not been waited for.
    fn signal(&self, signal: libc::c_int) {
        // SAFETY: our own child, not yet waited for, so the id is still its.
        unsafe { libc::kill(self.pid, signal) };
    }
}

impl ResourceUsage {
    fn from_rusage(usage: &libc::rusage) -> Self {
        let duration = |time: libc::timeval| {
            let seconds = Duration::from_secs(u64::try_from(time.tv_sec).unwrap_or(0));
            seconds + Duration::from_micros(u64::try_from(time.tv_usec).unwrap_or(0))
        };
        Self {
            user: duration(usage.ru_utime),
            system: duration(usage.ru_stime),
        }
    }
}

/// The exit code that passes a status on: death by signal n is 128 + n, as shells say it.
pub fn exit_code(status: ExitStatus) -> u8 {
    let code = match (status.code(), status.signal()) {
        (Some(code), _) => code,
        (None, Some(signal)) => 128 + signal,
        (None, None) => 1,
    };
    u8::try_from(code & 0xff).unwrap_or(1)
}

/// A close-on-exec pipe: (read, write).
fn pipe() -> io::Result<(OwnedFd, OwnedFd)> {
    let mut fds = [-1; 2];
    // SAFETY: the kernel writes two descriptors.
    if unsafe { libc::pipe2(fds.as_mut_ptr(), libc::O_CLOEXEC) } != 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the kernel just gave it to us.
    let read = unsafe { OwnedFd::from_raw_fd(fds[0]) };
    // SAFETY: the kernel just gave it to us.
    let write = unsafe { OwnedFd::from_raw_fd(fds[1]) };
    Ok((read, write))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spawn(words: &[&str]) -> Result<Gated, SpawnError> {
        let words: Vec<OsString> = words.iter().map(OsString::from).collect();
        Gated::spawn(&words, Stdout::Inherited)
    }

    // One test: fork needs that no other test thread holds a lock of the allocator, and glibc
    // takes care of its own; keep it to what the child does.
    #[test]
    fn a_gated_command_runs_when_released_and_tells_its_end() {
        let gated = spawn(&["sh", "-c", "exit 7"]).unwrap();
        let mut child = gated.started().unwrap();
        assert_eq!(child.cpu_time(), None);
        assert_eq!(exit_code(child.wait().unwrap()), 7);
        assert!(child.cpu_time().is_some());

        let killed = spawn(&["sh", "-c", "kill -9 $$"]).unwrap();
        assert_eq!(exit_code(killed.started().unwrap().wait().unwrap()), 137);

        let missing = spawn(&["/no/such/command"]).unwrap();
        let error = missing.started().unwrap_err();
        assert!(
            matches!(error, SpawnError::Exec { ref source, .. } if source.kind() == io::ErrorKind::NotFound)
        );

        let dropped = spawn(&["true"]).unwrap();
        let pid = dropped.pid();
        drop(dropped);
        // Its gate is closed, so it ends by itself without running the command.
        let mut child = Child::new(pid);
        assert_eq!(exit_code(child.wait().unwrap()), 127);
        assert!(matches!(spawn(&[]), Err(SpawnError::BadCommand)));
    }
}
