//! Call stacks that the processor kept in its branch records (`--call-graph lbr`): each entry is a
//! call that has not returned yet, the innermost first. Of the kernel there is the chain.
//!
//! The innermost frame is where the sample was taken, or the kernel was entered. perf begins where
//! the innermost call led: the start of the function, or a stub that is long left.

use crate::recording::Recording;
use crate::samples::DecodedSample;
use rprof_abi::sample::BranchEntry;
use rprof_abi::{BranchSampleType, Callchain, CpuMode, context as marker};
use rprof_perfdata::RecordedEvent;
use rprof_unwind::StackFrame;

/// Whether an event's branch records are calls.
pub(crate) fn has_calls(event: &RecordedEvent) -> bool {
    let kinds = event.attr.branch_sample_type;
    kinds.has(BranchSampleType::CALL_STACK)
}

/// Appends the user frames of a sample, innermost first, if its branch records tell them. As perf
/// (`resolve_lbr_callchain_sample`, tools/perf/util/machine.c, v6.1): only where the chain has a
/// user part, which they then stand for.
pub(crate) fn append_frames(
    recording: &Recording<'_>,
    decoded: &DecodedSample<'_>,
    frames: &mut Vec<StackFrame>,
) -> Option<()> {
    let event = recording.reader.events().get(decoded.recorded_event)?;
    let sample = &decoded.head;
    let chain = sample.callchain.filter(|_| has_calls(event))?;
    let innermost = innermost(chain, decoded.raw.misc.cpu_mode(), sample.ip)?;
    let branches = decoded.all_fields(recording.reader)?.branch_stack?;
    frames.extend(calls(innermost, branches.entries()));
    Some(())
}

/// Where a sample was taken, or the kernel was entered, if a chain has a user part; `Some(None)`
/// if that is empty.
fn innermost(chain: Callchain<'_>, mode: CpuMode, ip: Option<u64>) -> Option<Option<u64>> {
    let mut entries = chain.entries().skip_while(|&entry| entry != marker::USER);
    entries.next()?;
    Some(match mode {
        CpuMode::User => ip,
        _ => entries.find(|&entry| entry < marker::MAX),
    })
}

/// Where the innermost frame is, or else where its call led, and from where each call was made.
fn calls(
    innermost: Option<u64>,
    mut branches: impl Iterator<Item = BranchEntry>,
) -> impl Iterator<Item = StackFrame> {
    let newest = branches.next();
    let innermost = innermost.or(newest.map(|entry| entry.to));
    let callers = newest.into_iter().chain(branches).map(|entry| entry.from);
    innermost.into_iter().chain(callers).map(|avma| StackFrame {
        avma,
        sp: 0,
        slot: 0,
        // The address of the call itself, not of what comes after it.
        is_return: false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use rprof_abi::Endian;
    use rprof_abi::sample::BranchFlags;

    fn encoded(words: &[u64]) -> Vec<u8> {
        words.iter().flat_map(|word| word.to_le_bytes()).collect()
    }

    #[test]
    fn the_innermost_frame_is_where_the_sample_was_taken() {
        let asked = |entries: &[u64], mode| {
            let bytes = encoded(entries);
            let chain = Callchain::from_encoded(&bytes, Endian::Little);
            innermost(chain, mode, Some(100))
        };
        let user = [marker::USER, 98, 61];
        assert_eq!(asked(&user, CpuMode::User), Some(Some(100)));
        let kernel = [marker::KERNEL, 100, marker::USER, 50, 61];
        assert_eq!(asked(&kernel, CpuMode::Kernel), Some(Some(50)));
        assert_eq!(asked(&kernel[..3], CpuMode::Kernel), Some(None));
        // Branches are of user code: without a user part they say nothing.
        assert_eq!(asked(&kernel[..2], CpuMode::Kernel), None);
    }

    /// `main` called a stub at 0x20, which jumps to the function at 0x300.
    #[test]
    fn a_function_is_shown_and_not_the_stub_that_led_to_it() {
        let branches = [(0x1010, 0x20), (0x2010, 0x1000)].map(|(from, to)| BranchEntry {
            from,
            to,
            flags: BranchFlags::new(0, Endian::Little),
            counters: None,
        });
        let frames = |innermost| -> Vec<u64> {
            let frames = calls(innermost, branches.into_iter());
            frames.map(|frame| frame.avma).collect()
        };
        assert_eq!(frames(Some(0x308)), [0x308, 0x1010, 0x2010]);
        assert_eq!(frames(None), [0x20, 0x1010, 0x2010]);
    }
}
