//! pprof as profile stores take it: what Pyroscope and Parca make series of.

use super::Words;
use crate::Format;
use rprof_profile::{CountedStacks, EventKind, EventProfile};
use std::io::{self, Write};

/// What is told of a sample beside its stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SampleLabels {
    /// Process, thread, its name, and the CPU.
    All,
    /// The thread's name.
    Comm,
}

/// pprof of one event, for profile stores. The type of its values becomes a part of what they are asked for,
/// `NAME:TYPE:UNIT:PERIOD:UNIT`: it has letters, digits and `_` only, and time on a CPU is `cpu`, as Go has it.
///
/// Source: `ValidateProfile` in pkg/validation/validate.go of github.com/grafana/pyroscope, which refuses types with a
/// dash; `ParseProfileType` there, and in pkg/parcacol of github.com/parca-dev/parca.
#[derive(Clone, Copy, Debug)]
pub struct StorePprof {
    /// Pyroscope makes a series of each set of labels.
    pub labels: SampleLabels,
}

impl Format for StorePprof {
    type Source = CountedStacks;

    fn write(&self, stacks: &CountedStacks, out: &mut dyn Write) -> io::Result<()> {
        let words = Words {
            labels: self.labels,
            type_name: |event| match event.kind {
                EventKind::CpuTime => "cpu".to_owned(),
                EventKind::WallTime => "wall".to_owned(),
                _ => plain_name(event),
            },
        };
        words.write(stacks, out)
    }
}

/// What stores call the series of an event (`__name__`): `process_cpu` for time on a CPU, as Go has it.
pub fn store_series(event: &EventProfile) -> String {
    match event.kind {
        EventKind::CpuTime => "process_cpu".to_owned(),
        EventKind::WallTime => "wall".to_owned(),
        _ => plain_name(event),
    }
}

/// The name of an event as an identifier, without who is counted (`:u`).
fn plain_name(event: &EventProfile) -> String {
    let name = event.kind.without_modifier(event.name.raw());
    let name = name.replace(|c: char| !c.is_ascii_alphanumeric(), "_");
    if name.starts_with(|c: char| c.is_ascii_digit()) || name.is_empty() {
        format!("_{name}")
    } else {
        name
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rprof_profile::testing;

    #[test]
    fn stores_get_names_that_their_selectors_can_hold() {
        let (cpu, cycles, other) = (EventKind::CpuTime, EventKind::Cycles, EventKind::Occurrence);
        for (name, kind, series) in [
            ("cpu-clock:u", cpu, "process_cpu"),
            ("cycles:u", cycles, "cycles"),
            ("page-faults", other, "page_faults"),
            ("sched:sched_switch", other, "sched_sched_switch"),
            ("4k", other, "_4k"),
            ("", other, "_"),
        ] {
            let event = EventProfile {
                kind,
                ..testing::event(name)
            };
            assert_eq!(store_series(&event), series);
        }
    }
}
