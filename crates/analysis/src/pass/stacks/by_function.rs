//! What threads kept, counted by function, now that locations have names.

use super::{StackCounts, ThreadStacks};
use crate::Error;
use crate::pass::block_log::BlockLog;
use crate::pass::blocks::{LoggedStacks, StackPlace};
use crate::pass::counts::{Counts, is_counted};
use crate::pass::driver::ResolvedSample;
use crate::pass::query::Query;
use crate::pass::stack_path::StackPath;
use crate::symbolize::Symbols;
use rprof_base::parallel;
use rprof_profile::SampleCount;

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
    symbols: &Symbols,
    threads: &[ThreadStacks<BlockLog>],
) -> Result<Counts, Error> {
    let new_counts = || Counts::new(query.recording.reader.events().len());
    let add = |counts: &mut Counts, nth: usize| -> Result<(), Error> {
        if let Some(thread) = threads.get(nth) {
            thread.add_to(counts, symbols);
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

impl ThreadStacks<BlockLog> {
    fn add_to(&self, counts: &mut Counts, symbols: &Symbols) {
        self.add_totals(counts);
        let numbers = self.numbers(symbols);
        let mut path = StackPath::default();
        let totals = self.counts.totals();
        let mut counted = Vec::new();
        for (number, &count) in totals.iter().enumerate() {
            let place = self.add_stack(number, count, (counts, symbols, &numbers), &mut path);
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
        (counts, symbols, numbers): (&mut Counts, &Symbols, &[u32]),
        path: &mut StackPath,
    ) -> Option<CountedStack> {
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
        let group = tally.group(stack.key);
        path.turn_to(stack.group, frames.rev(), |outer, location| {
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
