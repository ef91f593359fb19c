//! Stacks of a recording in memory told apart by process, thread and CPU, too.

use crate::by::Grouped;
use foldhash::HashMap;
use foldhash::fast::RandomState;
use rprof_base::Interner;
use rprof_profile::{Dimension, Group, SampledProfile, Tree};
use std::{error, fmt};

/// Of these dimensions, those that samples in memory have values in, beside those of their groups.
fn known(by: &[Dimension]) -> Vec<Dimension> {
    let is_known =
        |one: &Dimension| matches!(one, Dimension::Pid | Dimension::Tid | Dimension::Cpu);
    by.iter().copied().filter(is_known).collect()
}

/// Nodes of stacks that are told apart, at most: half a gigabyte.
const MOST_NODES: usize = 1 << 23;

/// There would be more than this many different stacks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooManyStacks;

impl fmt::Display for TooManyStacks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("too many different stacks to tell them apart by process, thread or CPU: use rprof report -s")
    }
}

impl error::Error for TooManyStacks {}

/// Tells stacks apart by process, thread and CPU, as far as dimensions are among these: groups have such values from
/// then on, beside their own.
///
/// # Errors
/// [`TooManyStacks`]: nothing is told apart then.
pub fn tell_apart(sampled: &mut SampledProfile, by: &[Dimension]) -> Result<(), TooManyStacks> {
    let by = known(by);
    if by.is_empty() {
        return Ok(());
    }
    let grouped = Grouped::new(sampled, &by);
    let mut groups: Interner<u32, (u32, u64), RandomState> = Interner::default();
    let mut stacks = Stacks::default();
    let columns = sampled.samples.columns(0..sampled.samples.len());
    let keys = columns.threads.iter().zip(columns.cpus);
    let mut moved = Vec::with_capacity(columns.stacks.len());
    for (&stack, (&thread, &cpu)) in columns.stacks.iter().zip(keys) {
        moved.push(match sampled.stacks.nodes().get(stack as usize) {
            Some(node) => {
                let group = groups.intern((node.group, grouped.key(thread, cpu)));
                Some(stacks.moved(&sampled.stacks, stack, group))
            }
            None => None,
        });
        if stacks.tree.nodes().len() > MOST_NODES {
            return Err(TooManyStacks);
        }
    }
    let values = groups.into_values().into_iter().map(|(of, key)| {
        let before = sampled.groups[of as usize];
        let mut values = *sampled.profile.values.of(before.values);
        for &dimension in &by {
            values.set(dimension, grouped.value(dimension, key));
        }
        Group {
            comm: before.comm,
            values: sampled.profile.values.intern(values),
        }
    });
    sampled.groups = values.collect();
    let (tree, order) = stacks.tree.sorted();
    sampled.stacks = tree;
    let mut moved = moved.into_iter();
    sampled.samples.map_stacks(|_| {
        let stack = moved.next().flatten()?;
        order.get(stack as usize).copied()
    });
    Ok(())
}

/// Stacks in their new groups.
#[derive(Default)]
struct Stacks {
    tree: Tree,
    /// By node and new group.
    known: HashMap<(u32, u32), u32>,
    path: Vec<u32>,
}

impl Stacks {
    /// The node that a stack has become in a group.
    fn moved(&mut self, before: &Tree, stack: u32, group: u32) -> u32 {
        let nodes = before.nodes();
        let (mut next, mut place) = (Some(stack), None);
        while let Some(node) = next {
            place = self.known.get(&(node, group)).copied();
            if place.is_some() {
                break;
            }
            self.path.push(node);
            next = nodes[node as usize].parent;
        }
        while let Some(node) = self.path.pop() {
            let here = self.tree.child(place, group, nodes[node as usize].frame);
            self.known.insert((node, group), here);
            place = Some(here);
        }
        place.unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Explorer, SampleSelection, StackFolding};
    use rprof_profile::testing;
    use rprof_profile::view::{Rows, SortKey, Weighing};

    fn rows(
        explorer: &Explorer,
        event: &rprof_profile::EventProfile,
        by: &[Dimension],
    ) -> Vec<String> {
        let keys = by.iter().copied().map(SortKey::Dimension);
        let cause = SortKey::Dimension(Dimension::Cause);
        let keys: Vec<SortKey> = keys.chain([cause, SortKey::Symbol]).collect();
        let profile = explorer.profile();
        let rows = Rows::new(profile, event, &keys, Weighing::WithChildren);
        let rows = rows.iter().map(|row| {
            let cells = keys.iter().map(|key| key.cell(&row.key, profile));
            let sums = (row.self_weight, row.total_weight);
            format!("{} {sums:?}", cells.collect::<Vec<_>>().join(" "))
        });
        let mut rows: Vec<String> = rows.collect();
        rows.sort();
        rows
    }

    #[test]
    fn what_is_told_apart_counts_as_what_is_selected_apart() {
        let mut sampled = testing::sampled(&[
            (100, "one", "main;read;copy", 2),
            (110, "two", "main;write;copy", 1),
            (120, "two", "main;wait;[futex]", 8),
            (130, "one", "main;read", 4),
            (140, "two", "main", 16),
        ]);
        let pid = sampled.threads[0].pid;
        sampled.threads[1].pid = pid;
        for by in [
            &[Dimension::Pid][..],
            &[Dimension::Tid],
            &[Dimension::Cpu],
            &[Dimension::Tid, Dimension::Cpu],
        ] {
            let selection = SampleSelection {
                by: by.to_vec(),
                ..SampleSelection::default()
            };
            let mut explorer = Explorer::new(sampled.clone());
            let event = explorer
                .select(&selection, &StackFolding::default())
                .unwrap();
            let expected = rows(&explorer, &event, by);
            let mut apart = sampled.clone();
            tell_apart(&mut apart, by).unwrap();
            let explorer = Explorer::new(apart);
            let event = explorer.count(&SampleSelection::default()).unwrap();
            assert_eq!(rows(&explorer, &event, by), expected, "{by:?}");
        }
        // Nothing that samples have values in.
        let mut same = sampled.clone();
        tell_apart(&mut same, &[Dimension::Cgroup]).unwrap();
        assert_eq!(same.groups, sampled.groups);
    }
}
