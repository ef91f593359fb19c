//! Where the stacks of samples come from.

use super::call_addresses::has_call_addresses;
use super::chain::ChainOptions;
use super::lbr::has_calls;
use super::recorded_ends::RecordedEnds;
use super::unwind_tables::UnwindTables;
use crate::recording::Recording;

/// What a recording has to make stacks of, and how much of them is wanted.
#[derive(Debug)]
pub struct StackSources<'a> {
    pub(super) recording: &'a Recording<'a>,
    /// How much of chains is wanted.
    pub chains: ChainOptions,
    /// For stacks that are to be unwound, if there are any.
    pub(crate) tables: Option<UnwindTables>,
    /// Whether branch records are call stacks, of any event.
    pub(super) has_branch_calls: bool,
    /// Whether chains have addresses of calls, of any event.
    pub(super) has_call_addresses: bool,
    /// How stacks ended that were unwound while recording.
    pub(super) recorded_ends: Option<RecordedEnds>,
}

impl<'a> StackSources<'a> {
    /// Those of a recording.
    pub fn of(recording: &'a Recording<'a>, chains: ChainOptions) -> Self {
        let (reader, index) = (recording.reader, &recording.index);
        let stacks = chains.stacks;
        let n_images = index.history.images().iter().count();
        let tables = stacks.then(|| UnwindTables::of(reader, n_images));
        Self {
            recording,
            chains,
            tables: tables.flatten(),
            has_branch_calls: stacks && reader.events().iter().any(has_calls),
            has_call_addresses: stacks && has_call_addresses(reader),
            recorded_ends: stacks.then(|| RecordedEnds::of(reader, index)).flatten(),
        }
    }
}
