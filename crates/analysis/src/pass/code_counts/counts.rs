//! What was counted of stacks of code, by each thread and in all.

use crate::locations::{NamedThread, comm_text};
use crate::pass::driver::ResolvedSample;
use crate::pass::query::Query;
use foldhash::fast::RandomState;
use rprof_base::Interner;
use rprof_profile::{CountedStacks, CountedThread, SampleCount, StackCount, Tree, UseOrder};

/// What was counted, and when that was first done.
#[derive(Default)]
pub(super) struct CodeCounts {
    /// By numbers of [`CodeNodes`](crate::pass::code_nodes::CodeNodes).
    pub(super) tree: Tree,
    threads: Interner<u32, NamedThread, RandomState>,
    /// Sorted and without doubles when [`Self::compact`] was last called; then as samples came.
    counts: Vec<CodeCount>,
    /// How many of these there may be.
    room: usize,
    /// Times of the first and the last sample.
    pub(super) span_ns: Option<[u64; 2]>,
}

#[derive(Clone, Copy)]
struct CodeCount {
    place: CountPlace,
    /// Time and offset in the file of the first sample: what samples are ordered by.
    first: (u64, u64),
    count: SampleCount,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct CountPlace {
    /// A node, or [`NONE`].
    node: u32,
    thread: u32,
    /// [`NONE`] if it is not known.
    cpu: u32,
    /// Of the recording.
    event: u32,
}

/// For what is not there.
pub(super) const NONE: u32 = u32::MAX;

/// Samples that are added before equal ones are joined.
const BATCH: usize = 1 << 14;

impl CodeCounts {
    /// Counts a sample whose stack is at a node.
    #[inline]
    pub(super) fn add_sample(&mut self, sample: &ResolvedSample<'_, '_>, node: u32, weight: u64) {
        let decoded = sample.decoded;
        let time_ns = decoded.head.time_ns.unwrap_or(0);
        self.add_span([time_ns; 2]);
        if self.counts.len() >= self.room {
            self.compact();
            self.room = self.counts.len() + BATCH.max(self.counts.len() / 2);
            self.counts.reserve_exact(self.room - self.counts.len());
        }
        self.counts.push(CodeCount {
            place: CountPlace {
                node,
                thread: self.threads.intern(NamedThread {
                    name: sample.task,
                    pid: decoded.pid,
                    tid: decoded.tid,
                }),
                cpu: decoded.head.cpu.unwrap_or(NONE),
                event: u32::try_from(decoded.event).unwrap_or(NONE),
            },
            first: (time_ns, decoded.key.offset),
            count: SampleCount::one(weight),
        });
    }

    fn add_span(&mut self, [first, last]: [u64; 2]) {
        let [known_first, known_last] = self.span_ns.unwrap_or([first, last]);
        self.span_ns = Some([known_first.min(first), known_last.max(last)]);
    }

    /// Joins what has one place.
    fn compact(&mut self) {
        self.counts
            .sort_unstable_by_key(|one| (one.place, one.first));
        self.counts.dedup_by(|next, one| {
            let is_same = next.place == one.place;
            if is_same {
                one.count.add(next.count);
            }
            is_same
        });
    }

    /// Adds what another thread counted.
    pub(super) fn merge(&mut self, mut other: Self) {
        other.compact();
        if self.counts.is_empty() {
            *self = other;
            return;
        }
        other.tree.freeze();
        let mut nodes: Vec<u32> = Vec::with_capacity(other.tree.nodes().len());
        for node in other.tree.nodes() {
            let parent = node.parent.map(|parent| nodes[parent as usize]);
            nodes.push(self.tree.child(parent, 0, node.frame));
        }
        let threads = other.threads.values().iter();
        let threads: Vec<u32> = threads.map(|&thread| self.threads.intern(thread)).collect();
        let look_up =
            |list: &[u32], number: u32| list.get(number as usize).copied().unwrap_or(NONE);
        self.counts.reserve_exact(other.counts.len());
        self.counts.extend(other.counts.iter().map(|one| CodeCount {
            place: CountPlace {
                node: look_up(&nodes, one.place.node),
                thread: look_up(&threads, one.place.thread),
                ..one.place
            },
            ..*one
        }));
        other
            .span_ns
            .into_iter()
            .for_each(|span| self.add_span(span));
    }

    /// Numbers all in the order of first samples; events have numbers of their own there.
    pub(super) fn fill(
        mut self,
        query: &Query<'_>,
        events: &[Option<u32>],
        stacks: &mut CountedStacks,
    ) {
        self.tree.freeze();
        self.compact();
        // The members of a group are of different events: no two have one place.
        self.counts
            .sort_unstable_by_key(|one| (one.first, one.place.event));
        let mut order = UseOrder::new(&self.tree);
        let mut threads: Interner<u32, CountedThread, RandomState, u32> = Interner::default();
        let history = &query.recording.index.history;
        let strings = &mut stacks.profile.strings;
        stacks.counts.reserve_exact(self.counts.len());
        for CodeCount { place, count, .. } in self.counts {
            let event = events.get(place.event as usize).copied().flatten();
            let Some((event, named)) = event.zip(self.threads.get(place.thread)) else {
                continue;
            };
            let thread = threads.intern_with(place.thread, |_| CountedThread {
                pid: named.pid,
                tid: named.tid,
                comm: strings.intern(comm_text(history, named.name).raw()),
            });
            stacks.counts.push(StackCount {
                stack: order.number(&self.tree, place.node),
                thread,
                cpu: Some(place.cpu).filter(|&cpu| cpu != NONE),
                event,
                count,
            });
        }
        stacks
            .counts
            .sort_unstable_by_key(|one| (one.stack, one.thread, one.cpu, one.event));
        stacks.stacks = self.tree;
        stacks.stacks.renumber(order);
        stacks.threads = threads.into_values();
    }
}
