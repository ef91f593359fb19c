//! The pass over samples that are told apart.

use super::row::{AWAITED, ChunkRows, EMPTY, NO_CPU, NO_NODE, SampledRow};
use crate::locations::{Location, LocationCache, NamedThread, ShownTasks, TaskName};
use crate::pass::counts::new_tallies;
use crate::pass::driver::{Pass, ResolvedSample, TaskSample};
use crate::pass::group_by::GroupBy;
use crate::pass::group_key::GroupKey;
use crate::pass::query::Query;
use crate::pass::stack_path::StackPath;
use crate::samples::WokenBy;
use crate::stacks::StackEndCounts;
use foldhash::fast::RandomState;
use rprof_base::Interner;
use rprof_profile::{Dimension, FrameId, SampleCount, Tally, Tree};
use rprof_scheduling::{Cause, ThreadState};

pub(super) struct SampledPass<'a> {
    pub(super) query: &'a Query<'a>,
    pub(super) has_times: bool,
    /// Whether stacks are told apart by the names of their threads, and by what these wait for.
    pub(super) has_names: bool,
    /// Whether it is asked for where samples are in the file.
    pub(super) has_offsets: bool,
    pub(super) waits: WaitKeys,
}

/// What stacks are told apart by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct StackGroup {
    /// `None` if it does not matter.
    pub(super) name: Option<TaskName>,
    /// Whether the filter shows its task: others only count for totals.
    pub(super) is_shown: bool,
    /// What it waits for, where its time is accounted for; `None` if it does not matter, as where it runs.
    pub(super) cause: Option<Cause>,
    /// What it does; `None` if it does not matter.
    pub(super) state: Option<ThreadState>,
    /// Who ended its wait; `None` if it does not matter.
    pub(super) waker: Option<WokenBy>,
}

/// Which of what threads do tells stacks apart, beside what they wait for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct WaitKeys {
    /// Running is told apart, too, as a cause.
    cause: bool,
    state: bool,
    waker: bool,
}

impl WaitKeys {
    pub(super) fn of(group_by: &GroupBy) -> Self {
        let has = |dimension| group_by.dimensions.contains(&dimension);
        Self {
            cause: has(Dimension::Cause),
            state: has(Dimension::State),
            waker: has(Dimension::Waker),
        }
    }
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
    /// The thread of the last sample, what else its stack is told apart by, and the numbers of both.
    last: Option<(NamedThread, StackGroup, [u32; 2])>,
    locations_at_hand: Vec<u32>,
    path: StackPath,
}

impl ThreadSamples {
    /// Puts the chunk at hand in order. Returns the room that its rows had.
    pub(super) fn finish_chunk(&mut self) -> Vec<SampledRow> {
        let last = self.chunks.last_mut();
        last.map_or_else(Vec::new, ChunkRows::finish)
    }

    /// The numbers of a thread and of the group of its stacks.
    #[inline]
    fn numbers(&mut self, thread: NamedThread, group: StackGroup) -> [u32; 2] {
        match self.last {
            Some((last, last_group, numbers)) if (last, last_group) == (thread, group) => numbers,
            _ => {
                let numbers = [self.threads.intern(thread), self.groups.intern(group)];
                self.last = Some((thread, group, numbers));
                numbers
            }
        }
    }
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
            last: None,
            locations_at_hand: Vec::new(),
            path: StackPath::default(),
        }
    }

    fn start_chunk(&self, local: &mut ThreadSamples, chunk: usize) -> bool {
        let room = local.finish_chunk();
        local.chunks.push(ChunkRows::of(chunk, room));
        true
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
        // Of a wait, the part that counts may begin later than its record.
        let counted_ns = filter.counted.map_or(0, |counted| counted.since_ns);
        let time_ns = time_ns.map(|time_ns| time_ns.max(counted_ns));
        let thread = NamedThread {
            name: sample.task,
            pid: decoded.pid,
            tid: decoded.tid,
        };
        let event = u16::try_from(decoded.event).ok()?;
        let stretch = decoded.stretch().filter(|_| self.has_names);
        let cause = stretch.map(|stretch| stretch.cause);
        let group = StackGroup {
            name: self.has_names.then_some(thread.name),
            is_shown,
            cause: cause.filter(|&cause| self.waits.cause || cause != Cause::Running),
            state: stretch
                .map(|stretch| stretch.state)
                .filter(|_| self.waits.state),
            waker: stretch
                .map(|stretch| stretch.waker)
                .filter(|_| self.waits.waker),
        };
        let [thread, group] = local.numbers(thread, group);
        let chunk = local.chunks.last_mut()?;
        let weight = chunk.add_weight(weight);
        let cpu = decoded.head.cpu.and_then(|cpu| u16::try_from(cpu).ok());
        chunk.rows.push(SampledRow {
            time_ns: time_ns.unwrap_or(0),
            node: if has_stack { AWAITED } else { NO_NODE },
            thread,
            weight,
            event,
            cpu: cpu.unwrap_or(NO_CPU),
        });
        if self.has_offsets {
            chunk.offsets.push(decoded.key.offset);
        }
        has_stack.then(|| group.into())
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
        let count = SampleCount::one(self.query.weight(sample.decoded));
        local.tree.count(node, count);
        local.chunks.last_mut()?.set_next(node);
        Some(node)
    }
}

impl SampledPass<'_> {
    /// The node of a stack.
    fn stack(&self, local: &mut ThreadSamples, sample: &ResolvedSample<'_, '_>) -> u32 {
        let ThreadSamples {
            locations,
            locations_at_hand,
            cache,
            path,
            tree,
            ..
        } = local;
        locations_at_hand.clear();
        let history = &self.query.recording.index.history;
        let chains = self.query.stacks.chains;
        sample.for_each_address(|address| {
            locations_at_hand.push(cache.value(history, sample.mappings, address, |location| {
                locations.intern(chains.counted(location))
            }));
        });
        let group = u32::try_from(sample.group).unwrap_or(NO_NODE);
        let outermost_first = locations_at_hand.iter().rev().copied();
        path.turn_to(sample.group, outermost_first, |outer, location| {
            Some(tree.child(outer, group, FrameId::from_number(location)))
        });
        path.innermost().unwrap_or(EMPTY)
    }
}
