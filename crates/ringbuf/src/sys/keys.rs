//! A terminal that hands over each key as it is pressed.

use super::calls::check;
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

/// A terminal whose keys come one by one, and are not shown. Output stays as it was, and so do keys that send signals
/// (Ctrl-C, Ctrl-Z). Once this is dropped, it is as it was before.
pub struct KeyByKey {
    terminal: OwnedFd,
    before: libc::termios,
}

impl KeyByKey {
    /// Takes a terminal.
    ///
    /// # Errors
    /// The kernel's, if it is not a terminal, or gone.
    pub fn take(terminal: OwnedFd) -> io::Result<Self> {
        let before = settings(terminal.as_fd())?;
        let taken = Self { terminal, before };
        taken.take_again()?;
        Ok(taken)
    }

    /// Takes it again: others had it meanwhile.
    ///
    /// # Errors
    /// The kernel's, if it is gone.
    pub fn take_again(&self) -> io::Result<()> {
        let mut keys = self.before;
        keys.c_lflag &= !(libc::ICANON | libc::ECHO);
        keys.c_cc[libc::VMIN] = 1;
        keys.c_cc[libc::VTIME] = 0;
        set(self.terminal.as_fd(), &keys)
    }

    /// Gives it back until it is taken again.
    ///
    /// # Errors
    /// The kernel's, if it is gone.
    pub fn give_back(&self) -> io::Result<()> {
        set(self.terminal.as_fd(), &self.before)
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
        let taken = KeyByKey::take(terminal.try_clone().unwrap()).unwrap();
        assert_eq!(flags(), before & !by_line);
        taken.give_back().unwrap();
        assert_eq!(flags(), before);
        taken.take_again().unwrap();
        drop(taken);
        assert_eq!(flags(), before);
    }

    #[test]
    fn what_is_no_terminal_is_an_error() {
        let file = File::open("/dev/null").unwrap();
        assert!(KeyByKey::take(file.into()).is_err());
    }
}
