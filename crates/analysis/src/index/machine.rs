//! The machine that was recorded.

use rprof_abi::Machine;
use rprof_abi::{Endian, SampleType};
use rprof_perfdata::{FeatureId, Reader, RecordedEvent};

/// The machine whose stacks a recording holds; `None` if those are not walked.
pub(crate) fn machine_of(reader: &Reader) -> Option<Machine> {
    if reader.endian() != Endian::Little {
        return None;
    }
    match reader.feature_text(FeatureId::ARCH) {
        Some(name) => Machine::named(name.trim()),
        None => Machine::native(),
    }
}

/// What to say of a recording whose stacks are there, but cannot be unwound.
pub(crate) fn not_unwound(reader: &Reader) -> Option<String> {
    if !reader.events().iter().any(has_stack) || machine_of(reader).is_some() {
        return None;
    }
    let machine = reader.feature_text(FeatureId::ARCH);
    let machine = machine.as_deref().unwrap_or("this machine");
    Some(format!(
        "samples hold stack dumps, which are not unwound for {machine}: of user code, only the \
         sampled address is shown"
    ))
}

/// Whether samples of an event have what a walk begins with.
pub(crate) fn has_stack(event: &RecordedEvent) -> bool {
    let has = |bit| event.attr.sample_type.has(bit);
    has(SampleType::REGS_USER) && has(SampleType::STACK_USER)
}

/// The name of the machine that was recorded, if it is not this one.
pub(crate) fn recorded_elsewhere(reader: &Reader) -> Option<String> {
    let here = std::fs::read_to_string("/proc/sys/kernel/hostname").ok()?;
    let there = reader.feature_text(FeatureId::HOSTNAME)?;
    (there.trim() != here.trim()).then_some(there)
}
