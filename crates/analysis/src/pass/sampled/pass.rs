//! The pass over samples that are told apart.

use super::row::{AWAITED, ChunkRows, NO_NODE, SampledRow};
use crate::locations::{Location, LocationCache, NamedThread, ShownTasks, TaskName};
use crate::pass::counts::new_tallies;
use crate::pass::driver::{Pass, ResolvedSample, TaskSample};
use crate::pass::group_key::GroupKey;
use crate::pass::query::Query;
use crate::stacks::StackEndCounts;
use foldhash::fast::RandomState;
use rprof_base::Interner;
use rprof_profile::{FrameId, Tally, Tree};

pub(super) struct SampledPass<'a> {
    pub(super) query: &'a Query<'a>,
    pub(super) has_times: bool,
}

/// What stacks are told apart by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct StackGroup {
    pub(super) name: TaskName,
    /// Whether the filter shows its task: others only count for totals.
    pub(super) is_shown: bool,
}

/// What a thread has read.
pub(super) struct ThreadSamples {
    /// Totals by event, unless they depend on names.
    pub(super) tallies: Vec<Tally<GroupKey>>,
    pub(super) ends: StackEndCounts,
    /// By number.
    pub(super) locations: Interner<u32, Location, RandomState>,
    pub(super) groups: Interner<u32, StackGroup, RandomState>,
    pub(super) threads: Interner<u32, NamedThread, RandomState>,
    /// Stacks of locations, as frames by number, each with its samples.
    pub(super) tree: Tree,
    pub(super) chunks: Vec<ChunkRows>,
    shown: ShownTasks,
    cache: LocationCache,
    path: Vec<u32>,
}

impl Pass for SampledPass<'_> {
    type Local = ThreadSamples;
    /// The node of its innermost location.
    type Stack = u32;

    fn local(&self) -> ThreadSamples {
        ThreadSamples {
            tallies: new_tallies(self.query.recording.reader.events().len()),
            ends: StackEndCounts::default(),
            locations: Interner::default(),
            groups: Interner::default(),
            threads: Interner::default(),
            tree: Tree::default(),
            chunks: Vec::new(),
            shown: ShownTasks::default(),
            cache: LocationCache::new(),
            path: Vec::new(),
        }
    }

    fn start_chunk(&self, local: &mut ThreadSamples, chunk: usize) {
        local.chunks.push(ChunkRows::of(chunk));
    }

    #[inline]
    fn group(&self, local: &mut ThreadSamples, sample: &TaskSample<'_, '_>) -> Option<u64> {
        let decoded = sample.decoded;
        let filter = self.query.samples.filter;
        let weight = self.query.weight(decoded);
        if !filter.hide_unresolved {
            let tally = local.tallies.get_mut(decoded.event)?;
            tally.add_samples(1, weight);
        }
        let id = (decoded.pid, decoded.tid);
        let history = &self.query.recording.index.history;
        let is_shown =
            local.shown.has(filter, history, id, sample.task) && self.query.samples.shows(decoded);
        let has_stack = is_shown || filter.hide_unresolved;
        let time_ns = decoded.head.time_ns.filter(|_| self.has_times);
        let row = SampledRow {
            time_ns: time_ns.unwrap_or(0),
            weight,
            node: match has_stack {
                true => AWAITED,
                false => NO_NODE,
            },
            thread: local.threads.intern(NamedThread {
                name: sample.task,
                pid: decoded.pid,
                tid: decoded.tid,
            }),
            event: u16::try_from(decoded.event).ok()?,
            cpu: decoded.head.cpu.and_then(|cpu| u16::try_from(cpu).ok()),
        };
        local.chunks.last_mut()?.rows.push(row);
        let group = StackGroup {
            name: sample.task,
            is_shown,
        };
        has_stack.then(|| local.groups.intern(group).into())
    }

    #[inline]
    fn sample(
        &self,
        local: &mut ThreadSamples,
        sample: &ResolvedSample<'_, '_>,
        known: Option<u32>,
    ) -> Option<u32> {
        local.ends.add(sample.end);
        let node = known.unwrap_or_else(|| self.stack(local, sample));
        local.tree.count(node, self.query.weight(sample.decoded), 1);
        local.chunks.last_mut()?.set_next(node);
        Some(node)
    }
}

impl SampledPass<'_> {
    /// The node of a stack.
    fn stack(&self, local: &mut ThreadSamples, sample: &ResolvedSample<'_, '_>) -> u32 {
        let ThreadSamples {
            locations,
            cache,
            path,
            tree,
            ..
        } = local;
        path.clear();
        let history = &self.query.recording.index.history;
        let in_stacks = self.query.stacks.chains.stacks;
        sample.for_each_address(|address| {
            path.push(cache.value(history, sample.mappings, address, |location| {
                locations.intern(match in_stacks {
                    true => location.in_stacks(),
                    false => location,
                })
            }));
        });
        let group = u32::try_from(sample.group).unwrap_or(NO_NODE);
        let node = path.iter().rev().fold(None, |outer, &location| {
            Some(tree.child(outer, group, FrameId::from_number(location)))
        });
        node.unwrap_or(NO_NODE)
    }
}
