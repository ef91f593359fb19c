//! Which hits of a tracepoint or probe are sampled: the kernel compares, counter by counter.

use crate::error::Error;
use rprof_events::Event;
use rprof_ringbuf::Counter;
use std::ffi::CString;

/// A filter in the kernel's words.
#[derive(Clone, Debug)]
pub(crate) struct Filter(CString);

impl Filter {
    /// That of an event; one with a NUL was an error before.
    pub(crate) fn from_event(event: &Event) -> Option<Self> {
        CString::new(event.filter.clone()?).ok().map(Self)
    }

    /// One that is made here.
    pub(crate) fn new(text: CString) -> Self {
        Self(text)
    }

    #[cfg(test)]
    pub(crate) fn text(&self) -> &str {
        self.0.to_str().unwrap_or_default()
    }

    /// Has the kernel apply it; to threads that inherit the event, too.
    pub(crate) fn set(&self, counter: &Counter, event: &str) -> Result<(), Error> {
        let set = counter.set_filter(&self.0);
        set.map_err(|source| Error::Filter {
            event: event.to_owned(),
            filter: self.0.to_string_lossy().into_owned(),
            source,
        })
    }
}
