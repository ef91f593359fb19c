//! What is recorded if no event is named.

use rprof_abi::{event_type, sw};

use crate::pmu::Pmu;
use crate::{Event, Sources, parse_events};

/// `cycles:P`, or one such event for each kind of core; empty where no PMU counts cycles, as
/// in most virtual machines. There, [`cpu_clock`] is left.
pub fn default_events(sources: &Sources) -> Vec<Event> {
    let has_core = Pmu::load_all(sources).iter().any(Pmu::is_usable_core);
    if has_core {
        // This text cannot be wrong; no candidates would be the answer if it were.
        parse_events("cycles:P", sources).unwrap_or_default()
    } else {
        Vec::new()
    }
}

/// A timer of the kernel on each CPU: needs no PMU, samples only where interrupts are on.
pub fn cpu_clock() -> Event {
    let name = "cpu-clock".to_owned();
    Event::new(name, event_type::SOFTWARE, sw::CPU_CLOCK)
}
