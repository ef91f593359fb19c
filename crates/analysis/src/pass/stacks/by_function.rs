//! What threads kept, counted by function, now that locations have names.

use super::{FoundStack, StackCounts, ThreadStacks};
use crate::Error;
use crate::pass::alike_places::AlikePlaces;
use crate::pass::block_log::BlockLog;
use crate::pass::blocks::{LoggedStacks, StackPlace};
use crate::pass::counts::{Counts, group_number, is_counted};
use crate::pass::driver::ResolvedSample;
use crate::pass::group_key::GroupKey;
use crate::pass::query::Query;
use crate::pass::stack_path::StackPath;
use crate::symbolize::Symbols;
use rprof_base::parallel;
use rprof_profile::{SampleCount, Tally, TallyParts};

impl StackCounts for BlockLog {
    #[inline]
    fn add_sample(
        &mut self,
        stack: u32,
        _sample: &ResolvedSample<'_, '_>,
        block: u32,
        count: SampleCount,
    ) {
        self.add(stack, block, count);
    }

    fn bytes(&self) -> usize {
        self.bytes()
    }

    fn finish(&mut self) {
        self.sort();
    }
}

/// Counts the stacks of all threads.
pub(in crate::pass) fn count_by_function(
    query: &Query<'_>,
    named: (&Symbols, &AlikePlaces),
    threads: &[ThreadStacks<BlockLog>],
) -> Result<Counts, Error> {
    let new_counts = || Counts::new(query.recording.reader.events().len());
    let add = |counts: &mut Counts, nth: usize| -> Result<(), Error> {
        if let Some(thread) = threads.get(nth) {
            thread.add_to(counts, named);
        }
        Ok(())
    };
    let work = (threads.len(), parallel::n_cpus());
    let mut counted = parallel::for_each(work, new_counts, add, &mut |_| {})?.into_iter();
    let mut all = counted.next().unwrap_or_else(new_counts);
    counted.for_each(|counts| all.merge(counts));
    Ok(all)
}

/// Where a kept stack was counted.
#[derive(Clone, Copy)]
struct CountedStack {
    event: usize,
    /// `None` if it is not shown.
    node: Option<u32>,
    /// Whether it counts for the totals only now.
    in_total: bool,
}

/// What names stacks, and adds them to tallies.
struct StackNaming<'a> {
    symbols: &'a Symbols,
    /// The numbers of a thread's locations among symbols.
    locations: Vec<u32>,
    groups: GroupNumbers<'a>,
    path: StackPath,
}

/// The numbers that the groups of a thread have in the tallies of their events.
struct GroupNumbers<'a> {
    alike: &'a AlikePlaces,
    /// By event and number in the thread; `None` until a stack of it is counted.
    known: Vec<Vec<Option<u32>>>,
}

impl<'a> GroupNumbers<'a> {
    fn of(keys: &[TallyParts<GroupKey>], alike: &'a AlikePlaces) -> Self {
        let known = keys.iter().map(|event| vec![None; event.groups.len()]);
        Self {
            alike,
            known: known.collect(),
        }
    }

    /// The number of the group of a stack that begins at a location.
    #[inline]
    fn number(
        &mut self,
        stack: &FoundStack<'_>,
        innermost: (&Symbols, u32),
        tally: &mut Tally<GroupKey>,
    ) -> Option<u32> {
        if self.alike.are_of_frames() {
            return Some(tally.group(self.alike.first(&stack.key, innermost)));
        }
        let number = group_number(stack.group) as usize;
        let known = self.known.get_mut(stack.event)?.get_mut(number)?;
        if known.is_none() {
            *known = Some(tally.group(self.alike.first(&stack.key, innermost)));
        }
        *known
    }
}

impl ThreadStacks<BlockLog> {
    fn add_to(&self, counts: &mut Counts, (symbols, alike): (&Symbols, &AlikePlaces)) {
        self.add_totals(counts);
        let mut naming = StackNaming {
            symbols,
            locations: self.numbers(symbols),
            groups: GroupNumbers::of(&self.events, alike),
            path: StackPath::default(),
        };
        let totals = self.counts.totals();
        let mut counted = Vec::new();
        for (number, &count) in totals.iter().enumerate() {
            let place = self.add_stack(number, count, counts, &mut naming);
            if !self.blocks.is_empty() {
                counted.push(place);
            }
        }
        self.add_blocks(counts, &counted);
    }

    /// Counts a stack with its samples.
    #[inline]
    fn add_stack(
        &self,
        number: usize,
        count: SampleCount,
        counts: &mut Counts,
        naming: &mut StackNaming<'_>,
    ) -> Option<CountedStack> {
        let StackNaming {
            symbols,
            locations: numbers,
            groups,
            path,
        } = naming;
        let stack = self.stack(number)?;
        let frames = stack.locations.iter();
        let frames = frames.filter_map(|&one| numbers.get(one as usize).copied());
        let innermost = frames.clone().next()?;
        let tally = counts.tallies.get_mut(stack.event)?;
        let mut counted = CountedStack {
            event: stack.event,
            node: None,
            in_total: symbols.adds_to_totals(innermost),
        };
        if !is_counted((symbols, innermost), tally, &stack.key, count) {
            return Some(counted);
        }
        let image = symbols.unnamed_image(innermost);
        counts.unnamed.add(image, count.weight);
        let group = groups.number(&stack, (symbols, innermost), tally)?;
        let of_event = (stack.event as u64) << 32 | u64::from(group);
        path.turn_to(of_event, frames.rev(), |outer, location| {
            let frames = symbols.frames(location).iter().rev().copied();
            tally.extend_stack(outer, group, frames)
        });
        counted.node = path.innermost();
        if let Some(node) = counted.node {
            tally.count(node, count);
        }
        Some(counted)
    }

    /// Adds what blocks counted, now that it is known where each stack was.
    fn add_blocks(&self, counts: &mut Counts, counted: &[Option<CountedStack>]) {
        if counted.is_empty() {
            return;
        }
        let place = |stack: &Option<CountedStack>| match stack {
            Some(CountedStack {
                event,
                node: Some(node),
                ..
            }) => StackPlace::of(*event, *node),
            _ => StackPlace::NONE,
        };
        counts.logs.push(LoggedStacks {
            log: self.counts.clone(),
            places: counted.iter().map(place).collect(),
        });
        if !counted.iter().flatten().any(|stack| stack.in_total) {
            return;
        }
        self.counts.for_each(|stack, block, count| {
            let stack = counted.get(stack as usize).copied().flatten();
            let Some(stack) = stack.filter(|stack| stack.in_total) else {
                return;
            };
            if let Some(blocks) = counts.blocks.get_mut(stack.event) {
                blocks.add_samples(block, count);
            }
        });
    }
}
