//! What a recording waits for.

use crate::interrupts::Interrupts;
use crate::opening::{Group, Opened};
use rprof_ringbuf::Poller;
use std::io;
use std::os::fd::AsFd;
use std::time::Duration;

/// Rings, signals, words on a pipe, and the end of what is recorded.
///
/// Of all counters, one that is alive is waited for, and the next one when it hangs up. To wait for each of them would
/// take time with each wait, and the kernel's whenever a thread ends.
#[derive(Debug)]
pub(super) struct Wakeups {
    poller: Poller,
    /// Which of the counters it is; beyond the last, if all have hung up.
    alive: usize,
    n_counters: usize,
}

/// Its index in the poller.
const ALIVE: usize = 0;

impl Wakeups {
    pub(super) fn new(opened: &Opened, interrupts: &Interrupts) -> Self {
        let mut poller = Poller::default();
        let n_counters = opened.lifetimes().count();
        match opened.lifetimes().next() {
            Some(first) => poller.add(first),
            None => poller.add(interrupts),
        }
        let groups = [&opened.sampling, &opened.sideband];
        let owners = groups.into_iter().flat_map(Group::ring_owners);
        owners.for_each(|owner| poller.add(owner));
        poller.add(interrupts);
        Self {
            poller,
            alive: 0,
            n_counters,
        }
    }

    /// Waits for this, too.
    pub(super) fn add(&mut self, fd: &impl AsFd) {
        self.poller.add(fd);
    }

    /// Waits until something happens or the time is over.
    pub(super) fn wait(&mut self, opened: &Opened, timeout: Duration) -> io::Result<()> {
        let ready = self.poller.wait(timeout)?;
        let hung_up = ready.filter(|ready| ready.hung_up).map(|ready| ready.index);
        let hung_up: Vec<usize> = hung_up.collect();
        for index in hung_up {
            self.poller.remove(index);
            if index == ALIVE {
                self.find_next(opened)?;
            }
        }
        Ok(())
    }

    /// Whether all that is recorded has ended, as far as it was seen while waiting.
    pub(super) fn all_gone(&self) -> bool {
        self.alive >= self.n_counters
    }

    fn find_next(&mut self, opened: &Opened) -> io::Result<()> {
        for counter in opened.lifetimes().skip(self.alive + 1) {
            self.alive += 1;
            let mut one = Poller::default();
            one.add(counter);
            if !one.wait(Duration::ZERO)?.any(|ready| ready.hung_up) {
                self.poller.replace(ALIVE, counter);
                return Ok(());
            }
        }
        self.alive = self.n_counters;
        Ok(())
    }
}
