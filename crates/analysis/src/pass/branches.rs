//! The pass of branch mode: each branch of a sample is tallied by itself, counted where it led to.

use super::counts::{GroupedTallies, group_number};
use super::dimensions::Grouping;
use super::driver::{Pass, ResolvedSample, TaskSample, run};
use super::flat::FlatCounts;
use super::query::Query;
use super::tallied::Tallied;
use crate::Error;
use crate::locations::Location;
use crate::samples::DecodedSample;
use foldhash::fast::RandomState;
use rprof_abi::sample::BranchEntry;
use rprof_base::{Avma, Interner};
use rprof_profile::{FrameId, SampleCount};

/// Counts the branches of all samples by where they led to.
pub(super) fn count_branches(
    query: &Query<'_>,
    grouping: &Grouping<'_>,
    done: &mut dyn FnMut(usize),
) -> Result<FlatCounts, Error> {
    let pass = BranchPass { query, grouping };
    let result = run(query, &pass, done)?;
    let threads = result.locals.into_iter();
    let threads = threads.map(|local| (local.tallies, local.numbers.into_values()));
    Ok(FlatCounts::of(threads, result.ignored))
}

struct BranchPass<'a> {
    query: &'a Query<'a>,
    grouping: &'a Grouping<'a>,
}

/// A thread's counts.
struct Local {
    tallies: GroupedTallies,
    numbers: Interner<u32, Location, RandomState>,
}

impl Pass for BranchPass<'_> {
    type Local = Local;
    /// No stack is looked at.
    type Stack = ();

    fn local(&self) -> Local {
        Local {
            tallies: GroupedTallies::of(self.query),
            numbers: Interner::default(),
        }
    }

    fn group(&self, _local: &mut Local, _sample: &TaskSample<'_, '_>) -> Option<u64> {
        Some(0)
    }

    fn wants_stack(&self, _decoded: &DecodedSample<'_>) -> bool {
        false
    }

    fn sample(
        &self,
        local: &mut Local,
        sample: &ResolvedSample<'_, '_>,
        _known: Option<()>,
    ) -> Option<()> {
        let fields = sample.decoded.all_fields(self.query.recording.reader)?;
        for branch in fields.branch_stack?.entries() {
            self.count(local, sample, &branch);
        }
        None
    }
}

impl BranchPass<'_> {
    fn count(&self, local: &mut Local, sample: &ResolvedSample<'_, '_>, branch: &BranchEntry) {
        let tallied = Tallied {
            branch: Some(branch),
            ..Tallied::from(sample)
        };
        let Some(group) = local.tallies.take(self.query, self.grouping, &tallied) else {
            return;
        };
        let history = &self.query.recording.index.history;
        let target = sample.mappings.branch_location(history, Avma(branch.to));
        let frame = FrameId::from_number(local.numbers.intern(target));
        let weight = self.query.weight(sample.decoded);
        if let Some(tally) = local.tallies.of_event(sample.decoded.event) {
            let count = SampleCount::one(weight);
            tally.add_stack(group_number(group), std::iter::once(frame), count);
        }
    }
}
