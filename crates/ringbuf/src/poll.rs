//! Waiting for rings, signals and children, all in one `poll`.

use crate::sys;
use std::io;
use std::os::fd::{AsFd, AsRawFd};
use std::time::Duration;

/// What became of one descriptor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ready {
    /// Its index, in the order of [`Poller::add`].
    pub index: usize,
    /// There is something to read.
    pub readable: bool,
    /// The other end is gone: for an event, its task and all that inherited it have ended.
    pub hung_up: bool,
}

/// A set of descriptors to wait for.
///
/// A ring's POLLIN is like an edge: it comes once per watermark. So heads are re-read after
/// every wait, for whatever reason it ended, and waits have a time-out.
#[derive(Debug, Default)]
pub struct Poller {
    fds: Vec<libc::pollfd>,
}

impl Poller {
    /// Adds a descriptor, which must stay open as long as the poller is used.
    pub fn add(&mut self, fd: &impl AsFd) {
        self.fds.push(libc::pollfd {
            fd: fd.as_fd().as_raw_fd(),
            events: libc::POLLIN,
            revents: 0,
        });
    }

    /// Stops watching a descriptor (one that hung up would end every wait at once).
    pub fn remove(&mut self, index: usize) {
        if let Some(fd) = self.fds.get_mut(index) {
            fd.fd = -1;
        }
    }

    /// Watches another descriptor in the place of one, from now on.
    pub fn replace(&mut self, index: usize, fd: &impl AsFd) {
        if let Some(old) = self.fds.get_mut(index) {
            old.fd = fd.as_fd().as_raw_fd();
            old.revents = 0;
        }
    }

    /// Waits until something happens or the time is over; an interrupting signal counts as
    /// "something".
    ///
    /// # Errors
    /// The kernel's, other than EINTR.
    pub fn wait(&mut self, timeout: Duration) -> io::Result<impl Iterator<Item = Ready> + '_> {
        sys::poll(&mut self.fds, timeout)?;
        Ok(self.fds.iter().enumerate().filter_map(|(index, fd)| {
            let ready = Ready {
                index,
                readable: fd.revents & libc::POLLIN != 0,
                hung_up: fd.revents & (libc::POLLHUP | libc::POLLERR) != 0,
            };
            (ready.readable || ready.hung_up).then_some(ready)
        }))
    }
}
