//! Call chains that simpleperf unwound while it recorded (`--call-graph dwarf`): in their user part
//! each address is that of the call itself, or of a DEX instruction, and none is a return address.
//!
//! Source: AOSP, simpleperf/OfflineUnwinder.cpp: the pc of frames, which libunwindstack adjusts.

use crate::index::has_stack;
use crate::recording::Recording;
use crate::samples::DecodedSample;
use rprof_abi::context as marker;
use rprof_perfdata::{FeatureId, Reader};
use rprof_unwind::StackFrame;

/// Whether a recording may have such chains.
pub(crate) fn has_call_addresses(reader: &Reader) -> bool {
    let mut sections = reader.features().iter();
    let is_simpleperf = sections.any(|&(id, _)| id == FeatureId::SIMPLEPERF_META_INFO);
    is_simpleperf && reader.events().iter().any(has_stack)
}

/// Appends the user part of a sample's chain, innermost first, if it was unwound: then the sample
/// has no stack dump any more.
pub(crate) fn append_frames(
    recording: &Recording<'_>,
    decoded: &DecodedSample<'_>,
    frames: &mut Vec<StackFrame>,
) -> Option<()> {
    let event = recording.reader.events().get(decoded.recorded_event);
    let chain = decoded
        .head
        .callchain
        .filter(|_| event.is_some_and(has_stack))?;
    let dump = decoded.all_fields(recording.reader)?.stack_user;
    if dump.is_some_and(|dump| !dump.stack().is_empty()) {
        return None;
    }
    let is_marker = |&entry: &u64| entry == marker::USER;
    let mut entries = chain.entries().skip_while(|entry| !is_marker(entry));
    entries.next()?;
    // What was left out of the kernel's part is said by more markers in front.
    let addresses = entries.skip_while(is_marker);
    frames.extend(addresses.map(|avma| StackFrame {
        avma,
        sp: 0,
        slot: 0,
        is_return: false,
    }));
    Some(())
}
