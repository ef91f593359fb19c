//! A terminal that hands over each key as it is pressed.

use super::calls::check;
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

/// A terminal whose keys come one by one, and are not shown, while it is taken. Output stays as it was, and so do keys
/// that send signals (Ctrl-C, Ctrl-Z). Once this is dropped, it is as it was before.
pub struct KeyByKey {
    terminal: OwnedFd,
    /// As it was when it was taken first.
    before: Option<libc::termios>,
    is_taken: bool,
}

impl KeyByKey {
    /// A terminal that is not taken yet.
    pub fn of(terminal: OwnedFd) -> Self {
        Self {
            terminal,
            before: None,
            is_taken: false,
        }
    }

    /// Takes it, unless this process is in the background: the kernel would stop it (SIGTTOU). Returns whether it has
    /// the terminal now.
    ///
    /// # Errors
    /// The kernel's, if it is not a terminal, or gone.
    pub fn take(&mut self) -> io::Result<bool> {
        let terminal = self.terminal.as_fd();
        if is_of_others(terminal) {
            self.is_taken = false;
        } else if !self.is_taken {
            let before = match self.before {
                Some(before) => before,
                None => *self.before.insert(settings(terminal)?),
            };
            let mut keys = before;
            keys.c_lflag &= !(libc::ICANON | libc::ECHO);
            keys.c_cc[libc::VMIN] = 1;
            keys.c_cc[libc::VTIME] = 0;
            set(terminal, &keys)?;
            self.is_taken = true;
        }
        Ok(self.is_taken)
    }

    /// Others may have had it meanwhile: it is not taken.
    pub fn lose(&mut self) {
        self.is_taken = false;
    }

    /// Gives it back, if it is taken.
    ///
    /// # Errors
    /// The kernel's, if it is gone.
    pub fn give_back(&mut self) -> io::Result<()> {
        let is_taken = std::mem::take(&mut self.is_taken);
        match &self.before {
            Some(before) if is_taken && !is_of_others(self.terminal.as_fd()) => {
                set(self.terminal.as_fd(), before)
            }
            _ => Ok(()),
        }
    }
}

impl Drop for KeyByKey {
    fn drop(&mut self) {
        // Nobody reads from a terminal that is gone.
        let _ = self.give_back();
    }
}

impl std::fmt::Debug for KeyByKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("KeyByKey").finish_non_exhaustive()
    }
}

/// Whether other processes are in the foreground of a terminal that can stop this one.
fn is_of_others(terminal: BorrowedFd<'_>) -> bool {
    // SAFETY: no pointers. It fails for terminals that do not control this process.
    let foreground = check(unsafe { libc::tcgetpgrp(terminal.as_raw_fd()) });
    // SAFETY: no pointers, cannot fail.
    foreground.is_ok_and(|group| group != unsafe { libc::getpgrp() })
}

fn settings(terminal: BorrowedFd<'_>) -> io::Result<libc::termios> {
    let mut settings = MaybeUninit::uninit();
    // SAFETY: the call writes the whole struct if it succeeds.
    check(unsafe { libc::tcgetattr(terminal.as_raw_fd(), settings.as_mut_ptr()) })?;
    // SAFETY: it has succeeded.
    Ok(unsafe { settings.assume_init() })
}

fn set(terminal: BorrowedFd<'_>, settings: &libc::termios) -> io::Result<()> {
    // SAFETY: the settings are initialised, and only read.
    check(unsafe { libc::tcsetattr(terminal.as_raw_fd(), libc::TCSANOW, settings) })?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::File;
    use std::os::fd::FromRawFd;

    /// A terminal that nobody looks at, and its other end.
    fn terminal() -> (OwnedFd, OwnedFd) {
        let (mut master, mut slave) = (-1, -1);
        // SAFETY: both numbers are written; no name, settings or size is asked for.
        let opened = unsafe {
            libc::openpty(
                &raw mut master,
                &raw mut slave,
                std::ptr::null_mut(),
                std::ptr::null(),
                std::ptr::null(),
            )
        };
        check(opened).unwrap();
        // SAFETY: just opened.
        let master = unsafe { OwnedFd::from_raw_fd(master) };
        // SAFETY: just opened.
        (master, unsafe { OwnedFd::from_raw_fd(slave) })
    }

    #[test]
    fn keys_come_one_by_one_until_it_is_dropped() {
        let (_master, terminal) = terminal();
        let flags = || settings(terminal.as_fd()).unwrap().c_lflag;
        let before = flags();
        let by_line = libc::ICANON | libc::ECHO;
        assert_eq!(before & by_line, by_line);
        let mut keys = KeyByKey::of(terminal.try_clone().unwrap());
        assert_eq!(flags(), before);
        assert!(keys.take().unwrap());
        assert_eq!(flags(), before & !by_line);
        keys.give_back().unwrap();
        assert_eq!(flags(), before);
        assert!(keys.take().unwrap());
        drop(keys);
        assert_eq!(flags(), before);
    }

    #[test]
    fn what_others_do_to_a_terminal_stays_until_it_is_taken_again() {
        let (_master, terminal) = terminal();
        let now = || settings(terminal.as_fd()).unwrap();
        let before = now();
        let mut keys = KeyByKey::of(terminal.try_clone().unwrap());
        assert!(keys.take().unwrap());
        set(terminal.as_fd(), &before).unwrap();
        // It is taken, as far as is known.
        assert!(keys.take().unwrap());
        assert_eq!(now().c_lflag, before.c_lflag);
        keys.lose();
        assert!(keys.take().unwrap());
        assert_ne!(now().c_lflag, before.c_lflag);
        keys.lose();
        drop(keys);
        assert_ne!(now().c_lflag, before.c_lflag);
    }

    #[test]
    fn what_is_no_terminal_is_an_error() {
        let file = File::open("/dev/null").unwrap();
        assert!(KeyByKey::of(file.into()).take().is_err());
    }
}
