//! Rings, and which counters write into them.
//!
//! A ring is mapped with a dummy of the recorder's own, which is there as long as the recorder. Counters write into it
//! while they are on. Those that are off have no ring: whenever a thread ends, the kernel wakes all counters of each
//! ring that one of the thread's events has (`ring_buffer_wakeup` in `kernel/events/core.c`, v6.12), which is long for
//! processes of a thousand threads.

use crate::control::DumpSize;
use crate::cpu_or_thread::CpuOrThread;
use crate::error::Error;
use crate::opening::{EventCounters, Group};
use rprof_abi::{AttrFlags, PerfEventAttr, event_type, sw};
use rprof_ringbuf::{Counter, OpenError, Ring, Target};
use std::io;

/// What a ring is mapped with.
#[derive(Debug)]
pub(crate) struct RingOwner {
    place: CpuOrThread,
    counter: Counter,
}

impl RingOwner {
    /// An event that never happens, of the recorder itself or, as the kernel wants it, of the thread that has the
    /// ring; `None` if that has ended. The ring is read as `like` wants it.
    fn open(place: CpuOrThread, like: &EventCounters) -> Result<Option<Self>, Error> {
        let kept = [
            AttrFlags::DISABLED,
            AttrFlags::EXCLUDE_KERNEL,
            AttrFlags::EXCLUDE_HV,
        ];
        let of_ring = [
            AttrFlags::WATERMARK,
            AttrFlags::WRITE_BACKWARD,
            AttrFlags::USE_CLOCKID,
        ];
        let of_ring = of_ring
            .into_iter()
            .filter(|&flag| like.attr.flags.has(flag));
        let attr = PerfEventAttr {
            kind: event_type::SOFTWARE,
            config: sw::DUMMY,
            flags: kept
                .into_iter()
                .chain(of_ring)
                .fold(AttrFlags::default(), AttrFlags::with),
            wakeup: like.attr.wakeup,
            clockid: like.attr.clockid,
            ..PerfEventAttr::default()
        };
        let target = match place {
            CpuOrThread::Cpu(_) => Target::Thread(0),
            CpuOrThread::Thread(tid) => Target::Thread(tid),
        };
        match Counter::open(&attr, target, place.cpu()) {
            Ok(counter) => Ok(Some(Self { place, counter })),
            Err(OpenError::NoSuchTask) => Ok(None),
            Err(why) => Err(Error::open("dummy", &attr, why, target)),
        }
    }
}

impl Group {
    /// Maps a ring for a place, if some event can be opened there.
    pub(crate) fn map_ring(&mut self, place: CpuOrThread, pages: usize) -> Result<(), Error> {
        let is_here = |event: &&EventCounters| place.is_on(event.cpus.as_deref());
        let first = self.events.iter().find(is_here);
        let (None, Some(first)) = (self.owner(place), first) else {
            return Ok(());
        };
        let Some(owner) = RingOwner::open(place, first)? else {
            return Ok(());
        };
        let ring = if first.attr.flags.has(AttrFlags::WRITE_BACKWARD) {
            Ring::map_overwritten(&owner.counter, pages)
        } else {
            Ring::map(&owner.counter, pages)
        };
        self.rings
            .push(ring.map_err(|why| Error::Map { place, why })?);
        self.owners.push(owner);
        Ok(())
    }

    /// Counters that hang up when what their ring is for has ended, and wake who waits for the ring before that.
    pub(crate) fn ring_owners(&self) -> impl Iterator<Item = &Counter> {
        self.owners.iter().map(|owner| &owner.counter)
    }

    /// Has a counter write into the ring of its place.
    pub(crate) fn attach(&self, counter: &Counter, place: CpuOrThread) -> io::Result<()> {
        match self.owner(place) {
            Some(owner) => counter.write_into(&owner.counter),
            None => Ok(()),
        }
    }

    /// From now on dumps have another size.
    pub(super) fn resize_dumps(&self, size: DumpSize) -> io::Result<()> {
        let (old, new) = (size.other(), size);
        let doubled = || {
            self.events
                .iter()
                .filter(|event| event.small_dumps.is_some())
        };
        if self.is_off_without_ring {
            doubled().try_for_each(|event| self.attach_all(event, new))?;
        }
        for event in doubled().filter(|event| event.is_on && event.leads()) {
            for (old, new) in event.of_size(old).iter().zip(event.of_size(new)) {
                old.disable()?;
                new.enable()?;
            }
        }
        if self.is_off_without_ring {
            doubled().try_for_each(|event| event.detach(old))
        } else {
            Ok(())
        }
    }

    /// Takes the rings from counters that are off for good.
    pub(crate) fn detach(&self) -> io::Result<()> {
        let sizes = [DumpSize::Large, DumpSize::Small];
        let mut events = self.events.iter().filter(|_| self.is_off_without_ring);
        events.try_for_each(|event| sizes.into_iter().try_for_each(|size| event.detach(size)))
    }

    fn attach_all(&self, event: &EventCounters, size: DumpSize) -> io::Result<()> {
        let mut counters = event.of_size(size).iter().zip(&event.opened_for);
        counters.try_for_each(|(counter, (_, place))| self.attach(counter, *place))
    }

    fn owner(&self, place: CpuOrThread) -> Option<&RingOwner> {
        self.owners.iter().find(|owner| owner.place == place)
    }
}

impl EventCounters {
    fn detach(&self, size: DumpSize) -> io::Result<()> {
        self.of_size(size)
            .iter()
            .try_for_each(Counter::write_nowhere)
    }
}
