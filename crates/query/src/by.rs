//! Samples told apart by thread, process and CPU, too.

use crate::chosen::Chosen;
use foldhash::HashMap;
use foldhash::fast::RandomState;
use rprof_base::Interner;
use rprof_profile::{
    Dimension, DimensionValue, DimensionValues, Group, SampleColumns, SampleCount, SampledProfile,
    StrId, Tree, without_digits,
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
    pub(crate) fn of(sampled: &mut SampledProfile, by: &'b [Dimension]) -> Self {
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

    /// The stacks that count, and their groups.
    pub(crate) fn tree_of(
        &self,
        counts: GroupCounts,
        chosen: &Chosen,
        sampled: &mut SampledProfile,
    ) -> (Tree, Vec<Group>) {
        let mut groups: Vec<Group> = Vec::new();
        let mut last = None;
        let mut of_group: Vec<(u32, u32, SampleCount)> = Vec::new();
        for ((key, stack), count) in counts.into_sorted() {
            if !chosen.has_stack(stack) {
                continue;
            }
            if last != Some(key) {
                last = Some(key);
                groups.push(self.group(key, sampled));
            }
            let number = u32::try_from(groups.len() - 1).unwrap_or(u32::MAX);
            of_group.push((number, stack, count));
        }
        (sampled.stacks.regrouped(&of_group), groups)
    }

    fn group(&self, key: u64, sampled: &mut SampledProfile) -> Group {
        let task = usize::try_from(key >> 16).unwrap_or(usize::MAX);
        let (comm, of_task) = self.tasks[task];
        let [low, high, ..] = key.to_le_bytes();
        let cpu = u16::from_le_bytes([low, high]);
        let mut values = DimensionValues::NONE;
        for &dimension in self.by {
            values.set(
                dimension,
                match dimension {
                    Dimension::Cpu => {
                        (cpu != SampleColumns::NO_CPU).then_some(DimensionValue::Number(cpu.into()))
                    }
                    _ => of_task.get(dimension),
                },
            );
        }
        Group {
            comm,
            values: sampled.profile.values.intern(values),
        }
    }
}

/// What stacks count, by what tells samples apart. Most stacks are of one thread, or of few.
pub(crate) struct GroupCounts {
    /// All of the totals.
    pub(crate) all: SampleCount,
    /// By stack, of what came first.
    first: Vec<(u64, SampleCount)>,
    others: HashMap<(u64, u32), SampleCount>,
}

impl GroupCounts {
    pub(crate) fn new(n_stacks: usize) -> Self {
        Self {
            all: SampleCount::default(),
            first: vec![(0, SampleCount::default()); n_stacks],
            others: HashMap::default(),
        }
    }

    #[inline]
    pub(crate) fn add(&mut self, key: u64, stack: u32, count: SampleCount) {
        let Some((first, sum)) = self.first.get_mut(stack as usize) else {
            return;
        };
        if sum.samples == 0 {
            *first = key;
        }
        match *first == key {
            true => sum.add(count),
            false => self.others.entry((key, stack)).or_default().add(count),
        }
    }

    pub(crate) fn merge(&mut self, other: Self) {
        self.all.add(other.all);
        for ((key, stack), count) in other.entries() {
            self.add(key, stack, count);
        }
    }

    fn entries(self) -> impl Iterator<Item = ((u64, u32), SampleCount)> {
        let first = (0u32..).zip(self.first);
        let first = first.map(|(stack, (key, count))| ((key, stack), count));
        first
            .filter(|(_, count)| count.samples > 0)
            .chain(self.others)
    }

    /// All of them, by key and stack.
    fn into_sorted(self) -> Vec<((u64, u32), SampleCount)> {
        let mut all: Vec<_> = self.entries().collect();
        all.sort_unstable_by_key(|&(key, _)| key);
        all
    }
}
