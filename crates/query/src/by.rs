//! Samples told apart by thread, process and CPU, too.

use crate::chosen::Chosen;
use foldhash::HashMap;
use foldhash::fast::RandomState;
use rprof_base::Interner;
use rprof_profile::{
    Dimension, DimensionValue, DimensionValues, Group, NodeLists, SampleColumns, SampleCount,
    SampledProfile, StrId, Tree, without_digits,
};

/// What samples are told apart by, looked up once for each thread.
pub(crate) struct Grouped<'b> {
    by: &'b [Dimension],
    by_cpu: bool,
    /// By index of the thread, the number of what it has.
    of_thread: Vec<u32>,
    /// Names and values, without the CPU.
    tasks: Vec<(StrId, DimensionValues)>,
}

impl<'b> Grouped<'b> {
    pub(crate) fn new(sampled: &mut SampledProfile, by: &'b [Dimension]) -> Self {
        let by = by.get(..DimensionValues::MOST).unwrap_or(by);
        let mut tasks: Interner<u32, (StrId, DimensionValues), RandomState> = Interner::default();
        let strings = &mut sampled.profile.strings;
        let threads = sampled.threads.iter().zip(&sampled.last_names);
        let of_thread = threads.map(|(thread, names)| {
            let mut values = DimensionValues::NONE;
            for &dimension in by {
                let value = match dimension {
                    Dimension::Pid => Some(DimensionValue::Task(thread.pid, names.process)),
                    Dimension::Tid => Some(DimensionValue::Task(thread.tid, names.thread)),
                    Dimension::CommNoDigit => {
                        let name = strings.of(thread.comm).into_raw();
                        let name = without_digits(name).into_owned();
                        Some(DimensionValue::Text(strings.intern(&name)))
                    }
                    _ => None,
                };
                values.set(dimension, value);
            }
            tasks.intern((thread.comm, values))
        });
        Self {
            by,
            by_cpu: by.contains(&Dimension::Cpu),
            of_thread: of_thread.collect(),
            tasks: tasks.into_values(),
        }
    }

    /// What tells a sample apart, as a number.
    #[inline]
    pub(crate) fn key(&self, thread: u32, cpu: u16) -> u64 {
        let task = u64::from(self.of_thread[thread as usize]);
        let cpu = if self.by_cpu { cpu } else { 0 };
        task << 16 | u64::from(cpu)
    }

    fn task(&self, key: u64) -> (StrId, DimensionValues) {
        let task = usize::try_from(key >> 16).unwrap_or(usize::MAX);
        self.tasks[task]
    }

    /// The value that a key stands for in a dimension.
    pub(crate) fn value(&self, dimension: Dimension, key: u64) -> Option<DimensionValue> {
        let [low, high, ..] = key.to_le_bytes();
        match dimension {
            Dimension::Cpu => {
                let cpu = u16::from_le_bytes([low, high]);
                (cpu != SampleColumns::NO_CPU).then_some(DimensionValue::Number(cpu.into()))
            }
            _ => self.task(key).1.get(dimension),
        }
    }

    /// The stacks that count, and their groups.
    pub(crate) fn tree_of(
        &self,
        counts: GroupCounts,
        sampled: &mut SampledProfile,
    ) -> (Tree, Vec<Group>) {
        let causes = causes_of_nodes(sampled);
        let mut groups: Vec<Group> = Vec::new();
        let mut numbers: HashMap<(u64, Option<StrId>), u32> = HashMap::default();
        let mut of_group: Vec<(u32, u32, SampleCount)> = Vec::new();
        for GroupCount { key, stack, count } in counts.into_sorted() {
            let cause = causes.get(stack as usize).copied().flatten();
            let number = *numbers.entry((key, cause)).or_insert_with(|| {
                groups.push(self.group((key, cause), sampled));
                u32::try_from(groups.len() - 1).unwrap_or(u32::MAX)
            });
            of_group.push((number, stack, count));
        }
        (sampled.stacks.regrouped(&of_group), groups)
    }

    fn group(&self, (key, cause): (u64, Option<StrId>), sampled: &mut SampledProfile) -> Group {
        let (comm, _) = self.task(key);
        let mut values = DimensionValues::NONE;
        for &dimension in self.by {
            values.set(dimension, self.value(dimension, key));
        }
        if self.by.len() < DimensionValues::MOST {
            values.set(Dimension::Cause, cause.map(DimensionValue::Text));
        }
        Group {
            comm,
            values: sampled.profile.values.intern(values),
        }
    }
}

/// What the threads of each stack wait for; nothing where none do.
fn causes_of_nodes(sampled: &SampledProfile) -> Vec<Option<StrId>> {
    let causes = sampled.causes();
    if causes.iter().all(Option::is_none) {
        return Vec::new();
    }
    let nodes = sampled.stacks.nodes().iter();
    nodes
        .map(|node| causes.get(node.group as usize).copied().flatten())
        .collect()
}

/// What stacks count, by what tells samples apart.
#[derive(Default)]
pub(crate) struct GroupCounts {
    /// All of the totals.
    pub(crate) all: SampleCount,
    /// Keys and stacks of a part of the samples are in here once.
    counts: Vec<GroupCount>,
}

/// What a stack counts in one group.
#[derive(Clone, Copy, Debug)]
pub(crate) struct GroupCount {
    pub(crate) key: u64,
    pub(crate) stack: u32,
    pub(crate) count: SampleCount,
}

/// Groups that are looked through.
const FEW: usize = 8;

impl GroupCounts {
    /// Counts samples; `item` is what is needed of one, which `count` makes its key and count of.
    ///
    /// What is needed is put side by side by stack first: then all that a stack counts is near.
    pub(crate) fn of<T: Copy + Default>(
        (chosen, columns): (&Chosen, SampleColumns<'_>),
        n_stacks: usize,
        item: impl Fn(usize) -> T,
        count: impl Fn(T) -> (u64, SampleCount),
    ) -> Self {
        let mut all = Self::default();
        let mut places = vec![0u32; n_stacks + 1];
        chosen.for_each(columns, |at, is_shown| {
            all.all.add(count(item(at)).1);
            let stack = columns.stacks[at] as usize;
            if is_shown && stack < n_stacks {
                places[stack + 1] += 1;
            }
        });
        for stack in 0..n_stacks {
            places[stack + 1] += places[stack];
        }
        let n_items = places.last().map_or(0, |&n| n as usize);
        let mut items = vec![T::default(); n_items];
        chosen.for_each(columns, |at, is_shown| {
            let stack = columns.stacks[at] as usize;
            if is_shown && stack < n_stacks {
                let place = &mut places[stack];
                items[*place as usize] = item(at);
                *place += 1;
            }
        });
        // Each place is now where the stack's items end.
        let mut start = 0;
        for (stack, &end) in (0u32..).zip(places.iter().take(n_stacks)) {
            let end = end as usize;
            if chosen.has_stack(stack) {
                let of_stack = items[start..end].iter().map(|&item| count(item));
                all.add_stack(stack, of_stack);
            }
            start = end;
        }
        all
    }

    /// Adds what a stack counts.
    fn add_stack(&mut self, stack: u32, of_stack: impl Iterator<Item = (u64, SampleCount)>) {
        let first = self.counts.len();
        let mut last = first;
        let mut numbers: HashMap<u64, usize> = HashMap::default();
        for (key, count) in of_stack {
            if self.counts.get(last).is_none_or(|last| last.key != key) {
                let known = &self.counts[first..];
                // Most stacks are of few groups.
                let number = if known.len() <= FEW {
                    known.iter().position(|one| one.key == key)
                } else {
                    let listed = numbers.len();
                    let new = known.iter().enumerate().skip(listed);
                    numbers.extend(new.map(|(number, one)| (one.key, number)));
                    numbers.get(&key).copied()
                };
                last = first + number.unwrap_or(known.len());
                if number.is_none() {
                    self.counts.push(GroupCount {
                        key,
                        stack,
                        count: SampleCount::default(),
                    });
                }
            }
            self.counts[last].count.add(count);
        }
    }

    /// Adds what a later part of the samples counts.
    pub(crate) fn merge(&mut self, other: Self) {
        self.all.add(other.all);
        self.counts.extend(other.counts);
    }

    /// All of them, by key and stack. Those of several parts may be there several times, one after the other.
    fn into_sorted(self) -> Vec<GroupCount> {
        let mut keys: Interner<u32, u64, RandomState> = Interner::default();
        let numbers = self.counts.iter().map(|one| keys.intern(one.key) as usize);
        let numbers: Vec<usize> = numbers.collect();
        let lists = NodeLists::of(keys.len(), numbers.into_iter());
        let mut order: Vec<(u64, usize)> = keys.into_values().into_iter().zip(0..).collect();
        order.sort_unstable();
        let mut sorted: Vec<GroupCount> = Vec::with_capacity(self.counts.len());
        for (_, number) in order {
            let from = sorted.len();
            let list = lists.of_list(number).iter();
            sorted.extend(list.map(|&at| self.counts[at as usize]));
            // Each part is in order.
            sorted[from..].sort_by_key(|one| one.stack);
        }
        sorted
    }
}
