//! What was opened, to be told.

use rprof_abi::PerfEventAttr;
use rprof_base::Counted;
use std::fmt;

/// An event as it was opened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenedEvent {
    /// Its name.
    pub name: String,
    /// What the kernel got.
    pub attr: PerfEventAttr,
    /// How often: for each target on each CPU.
    pub n_counters: usize,
    /// What for.
    pub opened_for: OpenedFor,
}

/// What an event is opened for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum OpenedFor {
    /// Samples.
    Samples,
    /// Samples with small stack dumps, while these are enough.
    SmallDumps,
    /// Samples of everybody, should those by thread miss much.
    Everybody,
    /// Mappings and names.
    Sideband,
}

impl fmt::Display for OpenedEvent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let counters = Counted::new(self.n_counters as u64, "counter", "counters");
        write!(f, "event '{}': {counters} ", self.name)?;
        f.write_str(match self.opened_for {
            OpenedFor::Samples => "for samples",
            OpenedFor::SmallDumps => "for samples with small stack dumps, off at first",
            OpenedFor::Everybody => "for samples of all processes, off at first",
            OpenedFor::Sideband => "for mappings and names",
        })
    }
}
