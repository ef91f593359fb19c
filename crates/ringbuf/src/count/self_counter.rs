//! A counter of this thread, read through its page.

use super::door::KernelDoor;
use super::group::{CounterGroup, Values};
use super::page::{PageLoads, read_page};
use super::reading::Reading;
use super::topdown::TopdownSample;
use crate::region::{Access, Region};
use crate::{Counter, Cpu, OpenError, Target, sys};
use rprof_abi::{AttrFlags, PerfEventAttr};
use std::io;
use std::marker::PhantomData;
use std::os::fd::AsFd;

/// A counter of the thread that has opened it, for a region of its code: read without a system call where
/// the machine allows it, else with one.
#[derive(Debug)]
pub struct SelfCounter {
    group: CounterGroup,
    /// Of each event, the leader first. The CPU reads a counter for us only while its page is mapped.
    pages: Vec<Page>,
    /// `rdpmc` reads the counters of the CPU, whose they may be: no other thread may ask.
    _of_one_thread: PhantomData<*const ()>,
}

/// A count, and who said it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SelfReading {
    /// Count and times; the times are 0 if they would have taken a system call.
    pub reading: Reading,
    /// It took no system call.
    pub is_from_page: bool,
}

/// A [`SelfCounter`] could not be made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SelfCounterError {
    /// An event could not be opened.
    #[error("{0}")]
    Open(OpenError),
    /// Its page could not be mapped.
    #[error("mapping the page of a counter: {0}")]
    Map(io::Error),
}

impl SelfCounter {
    /// Opens a counter of the calling thread. It is never inherited: a page knows its own thread only.
    ///
    /// # Errors
    /// [`SelfCounterError`].
    pub fn open(attr: &PerfEventAttr) -> Result<Self, SelfCounterError> {
        Self::open_group(std::slice::from_ref(attr))
    }

    /// The same of a group, whose leader is what is read. A group of `slots` and its metrics has
    /// [`SelfCounter::topdown`].
    ///
    /// # Errors
    /// [`SelfCounterError`].
    pub fn open_group(attrs: &[PerfEventAttr]) -> Result<Self, SelfCounterError> {
        let mut attrs = attrs.to_vec();
        for attr in &mut attrs {
            attr.flags = attr.flags.without(AttrFlags::INHERIT);
        }
        let group = CounterGroup::open(KernelDoor, &attrs, Target::Thread(0), Cpu::Any);
        let group = group.map_err(|error| SelfCounterError::Open(error.source))?;
        // Elsewhere a page may say that its counter can be read, and nobody here knows how.
        let mapped = group.events().iter().filter(|_| sys::READS_COUNTERS);
        let pages: io::Result<Vec<Page>> = mapped.map(Page::map).collect();
        Ok(Self {
            group,
            pages: pages.map_err(SelfCounterError::Map)?,
            _of_one_thread: PhantomData,
        })
    }

    /// The count until now.
    ///
    /// # Errors
    /// Those of `read(2)`, where it takes one; `Other` if the counter is pinned and failed.
    pub fn read(&self) -> io::Result<SelfReading> {
        if let Some(read) = self.pages.first().and_then(read_page) {
            let reading = if read.has_times {
                read.reading
            } else {
                Reading {
                    enabled_ns: 0,
                    running_ns: 0,
                    ..read.reading
                }
            };
            return Ok(SelfReading {
                reading,
                is_from_page: true,
            });
        }
        match self.group.read()? {
            Values::Read(readings) => Ok(SelfReading {
                reading: readings.first().copied().unwrap_or_default(),
                is_from_page: false,
            }),
            Values::Failed => Err(io::Error::other("the counter was not scheduled on the PMU")),
        }
    }

    /// The registers of slots and metrics; see [`TopdownSample::read`]. `None` where only `read(2)` can tell.
    pub fn topdown(&self) -> Option<TopdownSample> {
        self.pages.first().and_then(TopdownSample::read)
    }

    /// What is switched and reset.
    pub fn group(&self) -> &CounterGroup {
        &self.group
    }
}

/// The first page of an event's mapping; nothing of a ring.
#[derive(Debug)]
struct Page(Region);

impl Page {
    fn map(event: &Counter) -> io::Result<Self> {
        Region::map(event.as_fd(), sys::page_size(), Access::ReadOnly).map(Self)
    }
}

impl PageLoads for Page {
    fn load(&self, offset: usize) -> u64 {
        self.0.load_acquire(offset)
    }

    fn performance_counter(&self, index: u32) -> u64 {
        sys::performance_counter(index)
    }

    fn cycles(&self) -> u64 {
        sys::cycles()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rprof_abi::{event_type, sw};

    #[test]
    fn a_counter_without_a_register_is_read_by_the_kernel() {
        let attr = PerfEventAttr {
            kind: event_type::SOFTWARE,
            config: sw::TASK_CLOCK,
            flags: AttrFlags::EXCLUDE_KERNEL.with(AttrFlags::EXCLUDE_HV),
            ..PerfEventAttr::default()
        };
        // Where nothing may be counted at all, there is nothing to see.
        let Ok(counter) = SelfCounter::open(&attr) else {
            return;
        };
        let (first, second) = (counter.read().unwrap(), counter.read().unwrap());
        assert!(!first.is_from_page);
        assert!(second.reading.count > first.reading.count);
        assert_eq!(counter.topdown(), None);
    }
}
