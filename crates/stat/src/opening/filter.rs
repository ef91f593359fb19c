//! Which hits of a tracepoint are counted: the kernel compares, counter by counter.

use super::Counters;
use crate::Error;
use rprof_ringbuf::Counter;
use rprof_ringbuf::count::KernelDoor;
use std::ffi::CString;
use std::io;

impl Counters<KernelDoor> {
    /// Has the kernel apply the filters of events; to threads that inherit them, too.
    pub(crate) fn set_filters(&self) -> Result<(), Error> {
        for group in &self.groups {
            for (&nth, counter) in group.events.iter().zip(group.counters.events()) {
                let event = self.events.get(nth);
                if let Some((event, filter)) =
                    event.and_then(|one| Some((one, one.filter.as_ref()?)))
                {
                    set(counter, filter).map_err(|source| Error::Filter {
                        event: event.name.clone(),
                        filter: filter.clone(),
                        source,
                    })?;
                }
            }
        }
        Ok(())
    }
}

fn set(counter: &Counter, filter: &str) -> io::Result<()> {
    counter.set_filter(&CString::new(filter)?)
}
