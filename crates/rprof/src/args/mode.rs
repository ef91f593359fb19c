//! What a table counts: samples, or their branches.

use crate::usage::usage;
use anyhow::{Result, bail};
use rprof_abi::{BranchSampleType, SampleType};
use rprof_analysis::{GroupBy, SortMode};
use rprof_perfdata::{Reader, RecordedEvent};
use rprof_profile::view::{Columns, Field, SortKey};

/// The options that choose what is counted.
#[derive(Clone, Copy, Debug, clap::Args)]
#[group(id = "tables/mode")]
pub(crate) struct ModeArgs {
    /// Count the branches in the samples' branch stacks (default if recorded with record -b or -j)
    #[arg(
        short = 'b',
        long,
        overrides_with = "no_branch_stack",
        conflicts_with_all = ["off_cpu", "wall"]
    )]
    branch_stack: bool,

    /// Count samples, even if branch stacks were recorded
    #[arg(
        group = "samples/no_branch_stack",
        long,
        overrides_with = "branch_stack"
    )]
    no_branch_stack: bool,

    /// Weight samples by the cost of their memory access, and show its details (record -d -W)
    #[arg(long, conflicts_with_all = ["branch_stack", "off_cpu", "wall"])]
    mem_mode: bool,
}

impl ModeArgs {
    /// The mode for a recording.
    pub(crate) fn mode(self, reader: &Reader) -> Result<SortMode> {
        let mut events = reader.events().iter();
        if self.branch_stack && !events.any(has_branches) {
            bail!("-b counts branches, but the recording has none: record with rprof record -b");
        }
        if self.mem_mode {
            let has_source =
                |event: &RecordedEvent| event.attr.sample_type.has(SampleType::DATA_SRC);
            return if reader.events().iter().any(has_source) {
                Ok(SortMode::Memory)
            } else {
                bail!(
                    "--mem-mode shows memory accesses, but the recording has none: record with rprof record -d"
                )
            };
        }
        let has_branches = self.branch_stack || has_branches_only(reader);
        Ok(if has_branches && !self.no_branch_stack {
            SortMode::Branch
        } else {
            SortMode::Normal
        })
    }

    /// The default sort keys, without those that were not recorded.
    pub(crate) fn default_keys(reader: &Reader, mode: SortMode) -> Vec<SortKey> {
        let keys = match mode {
            SortMode::Normal => SortKey::DEFAULT,
            SortMode::Branch => SortKey::DEFAULT_OF_BRANCHES,
            SortMode::Memory => SortKey::DEFAULT_OF_MEMORY,
        };
        let is_recorded = |key: &SortKey| match *key {
            SortKey::Dimension(one) => GroupBy::is_recorded(reader, one),
            _ => true,
        };
        keys.iter().copied().filter(is_recorded).collect()
    }

    /// Refuses branch columns if samples are counted, though they have branch stacks.
    pub(crate) fn check(reader: &Reader, mode: SortMode, columns: &Columns) -> Result<()> {
        let is_of_branches = |field: &&Field| match field {
            Field::Key(SortKey::Dimension(one)) => one.is_of_branches(),
            _ => false,
        };
        match columns.order.iter().find(is_of_branches) {
            Some(field) if mode != SortMode::Branch && reader.events().iter().any(has_branches) => {
                let name = field.name();
                Err(usage(format_args!(
                    "{name} is a branch column, but samples are counted: use -b to count branches"
                )))
            }
            _ => Ok(()),
        }
    }
}

fn has_branches(event: &RecordedEvent) -> bool {
    event.attr.sample_type.has(SampleType::BRANCH_STACK)
}

/// Whether branches were recorded for their own sake, not as call stacks or in addition to unwound stacks.
fn has_branches_only(reader: &Reader) -> bool {
    let is_plain = |event: &RecordedEvent| {
        let is_stack = event
            .attr
            .branch_sample_type
            .has(BranchSampleType::CALL_STACK);
        has_branches(event) && !is_stack
    };
    let has_dump = |event: &RecordedEvent| event.attr.sample_type.has(SampleType::STACK_USER);
    let events = reader.events();
    events.iter().any(is_plain) && !events.iter().any(has_dump)
}
