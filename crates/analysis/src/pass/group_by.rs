//! What samples may be told apart by.

use super::recorded::check;
use rprof_perfdata::Reader;
use rprof_profile::Dimension;

/// A field of tracepoints.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TraceField {
    /// Of this event alone, by its whole name.
    pub event: Option<String>,
    /// Its name.
    pub name: String,
}

/// What samples are told apart by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupBy {
    /// By the names of their threads.
    pub names: bool,
    /// At most [`DimensionValues::MOST`].
    pub dimensions: Vec<Dimension>,
    /// Nanoseconds: times within them are one.
    pub time_quantum_ns: u64,
    /// What [`Dimension::TraceField`] means, by number.
    pub trace_fields: Vec<TraceField>,
}

impl GroupBy {
    /// perf's: a tenth of a second.
    pub const TIME_QUANTUM_NS: u64 = 100_000_000;

    /// By these, and by the names of threads.
    pub fn of(dimensions: &[Dimension]) -> Self {
        Self {
            names: true,
            dimensions: dimensions.to_vec(),
            time_quantum_ns: Self::TIME_QUANTUM_NS,
            trace_fields: Vec::new(),
        }
    }

    /// Whether samples of a recording have values in a dimension.
    pub fn is_recorded(reader: &Reader, dimension: Dimension) -> bool {
        check(reader, dimension).is_ok()
    }
}

impl Default for GroupBy {
    fn default() -> Self {
        Self::of(&[])
    }
}
