//! What processes have mapped, by process. Forks share it until one of them changes, and all of it together is held
//! against the reader's budget: a recording may say that each of many processes has thousands of mappings.

use foldhash::HashMap;
use rprof_base::FileOffset;
use rprof_profile::TaskMapping;
use rprof_untrusted::{Budget, Held, OverBudget};
use std::sync::Arc;

/// What all processes have mapped.
pub(super) struct Mappings {
    budget: Budget,
    by_process: HashMap<i32, Shared>,
}

/// By address, with the memory that it counts for. Processes have both in common, or neither.
#[derive(Clone)]
struct Shared {
    mappings: Arc<Vec<TaskMapping>>,
    held: Arc<Held>,
}

impl Mappings {
    /// None, of a budget.
    pub(super) fn new(budget: &Budget) -> Self {
        Self {
            budget: budget.clone(),
            by_process: HashMap::default(),
        }
    }

    /// Adds one to those of a process: it cuts those that it covers.
    ///
    /// # Errors
    /// [`OverBudget`]; nothing was added then.
    pub(super) fn add(&mut self, pid: i32, mapping: TaskMapping) -> Result<(), OverBudget> {
        let own = self.by_process.entry(pid).or_insert_with(|| Shared {
            mappings: Arc::default(),
            held: Arc::new(self.budget.hold_nothing()),
        });
        own.make_room(&self.budget)?;
        map(Arc::make_mut(&mut own.mappings), mapping);
        Ok(())
    }

    /// A process begins with those of another one.
    pub(super) fn fork(&mut self, parent: i32, child: i32) {
        if let Some(inherited) = self.by_process.get(&parent).cloned() {
            self.by_process.insert(child, inherited);
        }
    }

    /// A process has none any more.
    pub(super) fn remove(&mut self, pid: i32) {
        self.by_process.remove(&pid);
    }

    /// Those of a process.
    pub(super) fn of(&self, pid: i32) -> Arc<Vec<TaskMapping>> {
        let own = self.by_process.get(&pid);
        own.map(|own| Arc::clone(&own.mappings)).unwrap_or_default()
    }
}

impl Shared {
    /// Holds the memory for one mapping more, which may cut another one in two, in a list of its own.
    fn make_room(&mut self, budget: &Budget) -> Result<(), OverBudget> {
        let bytes = ((self.mappings.len() + 2) * size_of::<TaskMapping>()) as u64;
        match Arc::get_mut(&mut self.held) {
            Some(held) if held.bytes() < bytes => {
                let doubled = held.bytes().saturating_mul(2).max(bytes);
                held.grow(doubled - held.bytes())
            }
            Some(_) => Ok(()),
            None => {
                self.held = Arc::new(budget.hold(bytes)?);
                Ok(())
            }
        }
    }
}

/// Adds a mapping to others, by address: it cuts those that it covers.
fn map(mappings: &mut Vec<TaskMapping>, new: TaskMapping) {
    if new.start >= new.end {
        return;
    }
    let first = mappings.partition_point(|one| one.end <= new.start);
    let after = mappings.partition_point(|one| one.start < new.end);
    let mut parts = Vec::with_capacity(3);
    for old in mappings.get(first..after).unwrap_or_default() {
        if old.start < new.start {
            let end = new.start;
            parts.push(TaskMapping { end, ..old.clone() });
        }
    }
    let tail = after.checked_sub(1).filter(|&last| last >= first);
    let tail = tail.and_then(|last| mappings.get(last));
    let tail = tail.filter(|old| old.end > new.end).map(|old| TaskMapping {
        start: new.end,
        file_offset: FileOffset(old.file_offset.0.wrapping_add(new.end.0 - old.start.0)),
        ..old.clone()
    });
    parts.push(new);
    parts.extend(tail);
    mappings.splice(first..after.max(first), parts);
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use rprof_base::Avma;
    use rprof_untrusted::{Limits, Untrusted};

    pub(in crate::tasks) fn mapping(start: u64, end: u64) -> TaskMapping {
        TaskMapping {
            start: Avma(start),
            end: Avma(end),
            protection: 5,
            is_shared: false,
            file_offset: FileOffset(start * 0x10),
            inode: 7,
            name: Untrusted::new("x".into()),
        }
    }

    fn spans(added: &[(u64, u64)]) -> Vec<(u64, u64, u64)> {
        let mut all = Vec::new();
        for &(start, end) in added {
            map(&mut all, mapping(start, end));
        }
        let spans = all.iter();
        spans
            .map(|one| (one.start.0, one.end.0, one.file_offset.0))
            .collect()
    }

    #[test]
    fn a_mapping_cuts_those_that_it_covers() {
        assert_eq!(spans(&[(4, 8), (1, 3)]), [(1, 3, 0x10), (4, 8, 0x40)]);
        assert_eq!(spans(&[(1, 3), (1, 3)]), [(1, 3, 0x10)]);
        assert_eq!(
            spans(&[(1, 9), (4, 6)]),
            [(1, 4, 0x10), (4, 6, 0x40), (6, 9, 0x15)]
        );
        assert_eq!(
            spans(&[(1, 3), (5, 9), (2, 6)]),
            [(1, 2, 0x10), (2, 6, 0x20), (6, 9, 0x51)]
        );
        assert_eq!(spans(&[(1, 3), (5, 9), (0, 10)]), [(0, 10, 0)]);
        assert_eq!(spans(&[(3, 3)]), []);
    }

    const SIZE: u64 = size_of::<TaskMapping>() as u64;

    /// A number of mappings of process 1, and a budget for `room` of them.
    fn process_1(n: u64, room: u64) -> Mappings {
        let mut all = Mappings::new(&Budget::new(Limits::of_memory(room * SIZE)));
        for start in 0..n {
            all.add(1, mapping(2 * start, 2 * start + 1)).unwrap();
        }
        all
    }

    #[test]
    fn forks_that_change_nothing_cost_nothing_and_copies_are_of_the_budget() {
        let mut all = process_1(100, 1000);
        (2..5000).for_each(|pid| all.fork(1, pid));
        assert_eq!(all.of(4999).len(), 100);
        let added = (2..5000).map_while(|pid| all.add(pid, mapping(0x1000, 0x1001)).ok());
        let n_copies = added.count();
        assert!((5..10).contains(&n_copies), "{n_copies}");
    }

    #[test]
    fn what_ended_processes_had_mapped_is_given_back() {
        let mut all = process_1(100, 1000);
        for _ in 0..5000 {
            all.fork(1, 2);
            all.add(2, mapping(0x1000, 0x1001)).unwrap();
            all.remove(2);
        }
        assert_eq!(all.of(1).len(), 100);
    }
}
