//! Call stacks that the processor kept in its branch records (`--call-graph lbr`): each entry is a
//! call that has not returned yet, the innermost first. Of the kernel there is the chain.

use super::Context;
use super::samples::Seen;
use rprof_abi::sample::BranchStack;
use rprof_abi::{BranchSampleType, Callchain, context as marker};
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
    context: &Context<'_>,
    seen: &Seen<'_>,
    frames: &mut Vec<StackFrame>,
) -> Option<()> {
    let event = context.reader.events().get(seen.event)?;
    let has_user = |chain: Callchain<'_>| chain.entries().any(|entry| entry == marker::USER);
    if !has_calls(event) || !seen.sample.callchain.is_some_and(has_user) {
        return None;
    }
    let branches = context.whole(seen)?.branch_stack?;
    frames.extend(calls(&branches));
    Some(())
}

/// Where the innermost call led, and from where each was made.
fn calls(branches: &BranchStack<'_>) -> impl Iterator<Item = StackFrame> {
    let innermost = branches.entries().next().map(|entry| entry.to);
    let callers = branches.entries().map(|entry| entry.from);
    innermost.into_iter().chain(callers).map(|avma| StackFrame {
        avma,
        sp: 0,
        slot: 0,
        // The address of the call itself, not of what comes after it.
        is_return: false,
    })
}
