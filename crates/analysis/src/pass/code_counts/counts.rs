//! What was counted of stacks of code: by each thread, of stacks of locations; then in all, of stacks of nodes.

use crate::locations::{NamedThread, comm_text};
use crate::pass::code_nodes::CodeNodes;
use crate::pass::counts::{Counts, is_counted};
use crate::pass::driver::ResolvedSample;
use crate::pass::query::Query;
use crate::pass::stack_path::StackPath;
use crate::pass::stacks::{StackCounts, ThreadStacks};
use crate::symbolize::Symbols;
use foldhash::fast::RandomState;
use rprof_base::Interner;
use rprof_profile::{CountedStacks, CountedThread, SampleCount, StackCount, Tree, UseOrder};

/// What was counted, and when that was first and last done.
#[derive(Default)]
pub(super) struct TaskCounts {
    threads: Interner<u32, NamedThread, RandomState>,
    /// Sorted and without doubles when [`Self::compact`] was last called; then as samples came.
    counts: Vec<TaskCount>,
    /// How many of these there may be.
    room: usize,
}

#[derive(Clone, Copy)]
struct TaskCount {
    key: CountKey,
    /// Time and offset in the file of the first sample: what samples are ordered by.
    first: (u64, u64),
    /// Time of the last one.
    last_ns: u64,
    count: SampleCount,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct CountKey {
    /// The number of a kept stack; then a node, or [`NONE`].
    stack: u32,
    thread: u32,
    /// [`NONE`] if it is not known.
    cpu: u32,
    /// Of the recording.
    event: u32,
}

/// For what is not there.
const NONE: u32 = u32::MAX;

/// Samples that are added before equal ones are joined.
const BATCH: usize = 1 << 14;

impl StackCounts for TaskCounts {
    #[inline]
    fn add_sample(
        &mut self,
        stack: u32,
        sample: &ResolvedSample<'_, '_>,
        _block: u32,
        count: SampleCount,
    ) {
        let decoded = sample.decoded;
        let time_ns = decoded.head.time_ns.unwrap_or(0);
        let thread = self.threads.intern(NamedThread {
            name: sample.task,
            pid: decoded.pid,
            tid: decoded.tid,
        });
        self.push(TaskCount {
            key: CountKey {
                stack,
                thread,
                cpu: decoded.head.cpu.unwrap_or(NONE),
                event: u32::try_from(decoded.event).unwrap_or(NONE),
            },
            first: (time_ns, decoded.key.offset),
            last_ns: time_ns,
            count,
        });
    }

    fn bytes(&self) -> usize {
        size_of_val(&*self.counts)
    }

    fn finish(&mut self) {
        self.compact();
    }
}

impl TaskCounts {
    #[inline]
    fn push(&mut self, one: TaskCount) {
        if self.counts.len() >= self.room {
            self.compact();
            self.room = self.counts.len() + BATCH.max(self.counts.len() / 2);
            self.counts.reserve_exact(self.room - self.counts.len());
        }
        self.counts.push(one);
    }

    /// Joins what has one key.
    fn compact(&mut self) {
        self.counts.sort_unstable_by_key(|one| (one.key, one.first));
        self.counts.dedup_by(|next, one| {
            let is_same = next.key == one.key;
            if is_same {
                one.count.add(next.count);
                one.last_ns = one.last_ns.max(next.last_ns);
            }
            is_same
        });
    }
}

/// What all threads counted, by nodes that locations are in stacks of code.
pub(super) struct NodeCounts<'a> {
    query: &'a Query<'a>,
    symbols: &'a Symbols,
    nodes: &'a CodeNodes,
    counted: CountedTree,
}

/// Counts of stacks that are nodes of a tree.
#[derive(Default)]
pub(super) struct CountedTree {
    tree: Tree,
    counted: TaskCounts,
}

impl<'a> NodeCounts<'a> {
    pub(super) fn new(query: &'a Query<'a>, symbols: &'a Symbols, nodes: &'a CodeNodes) -> Self {
        Self {
            query,
            symbols,
            nodes,
            counted: CountedTree::default(),
        }
    }

    pub(super) fn into_counts(self) -> CountedTree {
        self.counted
    }

    /// Adds what a thread counted, as far as it is shown; its totals are added to counts.
    pub(super) fn add(&mut self, thread: &ThreadStacks<TaskCounts>, counts: &mut Counts) {
        thread.add_totals(counts);
        let numbers = thread.numbers(self.symbols);
        let TaskCounts {
            threads: named,
            counts: of_thread,
            ..
        } = &*thread.counts;
        let threads = &mut self.counted.counted.threads;
        let threads: Vec<u32> = named
            .values()
            .iter()
            .map(|&one| threads.intern(one))
            .collect();
        let mut path = StackPath::default();
        for of_stack in of_thread.chunk_by(|one, other| one.key.stack == other.key.stack) {
            let Some(node) = self.add_stack(thread, (of_stack, &numbers), counts, &mut path) else {
                continue;
            };
            for &one in of_stack {
                let thread = threads.get(one.key.thread as usize).copied();
                self.counted.counted.push(TaskCount {
                    key: CountKey {
                        stack: node,
                        thread: thread.unwrap_or(NONE),
                        ..one.key
                    },
                    ..one
                });
            }
        }
    }

    /// Puts a stack into the tree, if it is shown: its node, or [`NONE`] without any location.
    fn add_stack(
        &mut self,
        thread: &ThreadStacks<TaskCounts>,
        (of_stack, numbers): (&[TaskCount], &[u32]),
        counts: &mut Counts,
        path: &mut StackPath,
    ) -> Option<u32> {
        let stack = thread.stack(of_stack.first()?.key.stack as usize)?;
        let locations = stack.locations.iter();
        let mut locations = locations.filter_map(|&one| numbers.get(one as usize).copied());
        let Some(innermost) = locations.next() else {
            // It is in no function, and a filter of functions is not for it.
            let is_shown = stack.key.is_shown && !self.query.samples.filter.has_functions();
            return is_shown.then_some(NONE);
        };
        let mut sum = SampleCount::default();
        of_stack.iter().for_each(|one| sum.add(one.count));
        let tally = counts.tallies.get_mut(stack.event)?;
        if !is_counted((self.symbols, innermost), tally, &stack.key, sum) {
            return None;
        }
        let image = self.symbols.unnamed_image(innermost);
        counts.unnamed.add(image, sum.weight);
        let (tree, nodes) = (&mut self.counted.tree, self.nodes);
        path.turn_to(0, locations.rev(), |outer, location| {
            let caller = nodes.caller(location);
            caller.map_or(outer, |frame| Some(tree.child(outer, 0, frame)))
        });
        let outer = path.innermost();
        let sampled = nodes.sampled(innermost);
        let node = sampled.map_or(outer, |frame| Some(tree.child(outer, 0, frame)));
        Some(node.unwrap_or(NONE))
    }
}

impl CountedTree {
    /// Numbers all in the order of first samples; events have numbers of their own there.
    pub(super) fn fill(
        mut self,
        query: &Query<'_>,
        events: &[Option<u32>],
        stacks: &mut CountedStacks,
    ) {
        self.tree.freeze();
        self.counted.compact();
        let TaskCounts {
            threads: named,
            mut counts,
            ..
        } = self.counted;
        // The members of a group are of different events: no two have one key.
        counts.sort_unstable_by_key(|one| (one.first, one.key.event));
        let last_ns = counts.iter().map(|one| one.last_ns).max();
        let first_ns = counts.first().map(|one| one.first.0);
        stacks.span_ns = first_ns.zip(last_ns).map(|(first, last)| first..=last);
        let mut order = UseOrder::new(&self.tree);
        let mut threads: Interner<u32, CountedThread, RandomState, u32> = Interner::default();
        let history = &query.recording.index.history;
        let strings = &mut stacks.profile.strings;
        stacks.counts.reserve_exact(counts.len());
        for TaskCount { key, count, .. } in counts {
            let event = events.get(key.event as usize).copied().flatten();
            let Some((event, named)) = event.zip(named.get(key.thread)) else {
                continue;
            };
            let thread = threads.intern_with(key.thread, |_| CountedThread {
                pid: named.pid,
                tid: named.tid,
                comm: strings.intern(comm_text(history, named.name).raw()),
            });
            stacks.counts.push(StackCount {
                stack: order.number(&self.tree, key.stack),
                thread,
                cpu: Some(key.cpu).filter(|&cpu| cpu != NONE),
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
