//! What a thread kept, counted by function, now that locations have names.

use super::ThreadStacks;
use crate::pass::blocks::{LoggedStacks, StackPlace};
use crate::pass::counts::{Counts, group_number, is_counted};
use crate::pass::stack_path::StackPath;
use crate::symbolize::Symbols;
use rprof_profile::SampleCount;

/// Where a kept stack was counted.
#[derive(Clone, Copy)]
struct CountedStack {
    event: usize,
    /// `None` if it is not shown.
    node: Option<u32>,
    /// Whether it counts for the totals only now.
    in_total: bool,
}

impl ThreadStacks {
    pub(super) fn add_to(&self, counts: &mut Counts, symbols: &Symbols) {
        for (tally, event) in counts.tallies.iter_mut().zip(&self.events) {
            tally.add_samples(event.samples, event.weight);
        }
        let locations = self.locations.iter();
        let numbers: Vec<u32> = locations.map(|&one| symbols.number(one)).collect();
        let mut path = StackPath::default();
        let mut start = 0;
        let totals = self.log.totals();
        let mut counted = Vec::new();
        for (stack, &count) in self.kept.stacks.iter().zip(&*totals) {
            let frames = self.kept.locations.get(start..stack.end);
            start = stack.end;
            let frames = frames.unwrap_or_default().iter();
            let frames = frames.filter_map(|&one| numbers.get(one as usize).copied());
            let place = self.add_stack((stack.group, frames, count), (counts, symbols), &mut path);
            if !self.blocks.is_empty() {
                counted.push(place);
            }
        }
        self.add_blocks(counts, &counted);
    }

    /// Counts a stack, given by its group and its locations, with its samples.
    #[inline]
    fn add_stack(
        &self,
        (group, mut frames, count): (
            u64,
            impl DoubleEndedIterator<Item = u32> + Clone,
            SampleCount,
        ),
        (counts, symbols): (&mut Counts, &Symbols),
        path: &mut StackPath,
    ) -> Option<CountedStack> {
        let innermost = frames.clone().next()?;
        let event = usize::try_from(group >> 32).unwrap_or(usize::MAX);
        let key = self.events.get(event).map(|event| &event.groups);
        let &key = key.and_then(|groups| groups.get(group_number(group) as usize))?;
        let tally = counts.tallies.get_mut(event)?;
        let mut counted = CountedStack {
            event,
            node: None,
            in_total: symbols.adds_to_totals(innermost),
        };
        if !is_counted((symbols, innermost), tally, &key, count) {
            return Some(counted);
        }
        let image = symbols.unnamed_image(innermost);
        counts.unnamed.add(image, count.weight);
        let number = tally.group(key);
        path.turn_to(group, frames.by_ref().rev(), |outer, location| {
            let frames = symbols.frames(location).iter().rev().copied();
            tally.extend_stack(outer, number, frames)
        });
        counted.node = path.innermost();
        if let Some(node) = counted.node {
            tally.count(node, count);
        }
        Some(counted)
    }

    /// Adds what blocks counted, now that it is known where each stack was.
    fn add_blocks(&self, counts: &mut Counts, counted: &[Option<CountedStack>]) {
        for (all, blocks) in counts.blocks.iter_mut().zip(&self.blocks) {
            for (block, &count) in (0..).zip(&blocks.totals) {
                all.add_samples(block, count);
            }
        }
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
            log: self.log.clone(),
            places: counted.iter().map(place).collect(),
        });
        if !counted.iter().flatten().any(|stack| stack.in_total) {
            return;
        }
        self.log.for_each(|stack, block, count| {
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
