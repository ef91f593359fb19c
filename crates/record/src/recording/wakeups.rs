//! What a recording waits for.

use crate::interrupts::Interrupts;
use crate::opening::{Group, Opened};
use rprof_ringbuf::Poller;
use std::io;
use std::ops::Range;
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
    /// The sample rings, by their indexes in the poller.
    sample_rings: Range<usize>,
}

/// What ended a wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Woken {
    /// A part of a sample ring is full, and nothing else happened.
    BySamples,
    Otherwise,
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
            sample_rings: ALIVE + 1..ALIVE + 1 + opened.sampling.ring_owners().count(),
        }
    }

    /// Waits for this, too.
    pub(super) fn add(&mut self, fd: &impl AsFd) {
        self.poller.add(fd);
    }

    /// Waits until something happens or the time is over.
    pub(super) fn wait(&mut self, opened: &Opened, timeout: Duration) -> io::Result<Woken> {
        let (mut n_ready, mut n_full) = (0, 0);
        let mut hung_up = Vec::new();
        for ready in self.poller.wait(timeout)? {
            n_ready += 1;
            n_full += usize::from(self.sample_rings.contains(&ready.index));
            if ready.hung_up {
                hung_up.push(ready.index);
            }
        }
        let woken = if n_ready > 0 && n_full == n_ready && hung_up.is_empty() {
            Woken::BySamples
        } else {
            Woken::Otherwise
        };
        for index in hung_up {
            self.poller.remove(index);
            if index == ALIVE {
                self.find_next(opened)?;
            }
        }
        Ok(woken)
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
