//! The tasks of a recording: who made whom, what they were called and had mapped at last.

use rprof_base::{Avma, FileOffset};
use rprof_untrusted::Untrusted;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

/// A thread or process.
#[derive(Clone, Debug)]
pub struct RecordedTask {
    /// Its process.
    pub pid: i32,
    /// Its own id.
    pub tid: i32,
    /// The thread that made it, if that was recorded.
    pub parent: Option<i32>,
    /// Its last name, if that was recorded.
    pub comm: Option<Untrusted<Arc<str>>>,
    /// What its process had mapped at last, by address.
    pub mappings: Arc<Vec<TaskMapping>>,
}

/// Something that a process had mapped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TaskMapping {
    /// First address.
    pub start: Avma,
    /// The address behind the last one.
    pub end: Avma,
    /// `PROT_*` bits.
    pub protection: u32,
    /// Whether others see what is written.
    pub is_shared: bool,
    /// Where in its file it begins.
    pub file_offset: FileOffset,
    /// Of its file; 0 if that was not recorded.
    pub inode: u64,
    /// Its file, or what the kernel calls it.
    pub name: Untrusted<Arc<str>>,
}

/// Tasks by their ids: of an id that several had, the last.
#[derive(Clone, Debug, Default)]
pub struct Tasks(pub BTreeMap<i32, RecordedTask>);

impl Tasks {
    /// All tasks, those that one made below it, with how many are above.
    pub fn tree(&self) -> Vec<(usize, &RecordedTask)> {
        let mut children: HashMap<i32, Vec<&RecordedTask>> = HashMap::new();
        let mut roots = Vec::new();
        // The last first, as they are taken from the ends of lists.
        for task in self.0.values().rev() {
            let parent = task.parent.filter(|parent| self.0.contains_key(parent));
            match parent.filter(|&parent| parent != task.tid) {
                Some(parent) => children.entry(parent).or_default().push(task),
                None => roots.push(task),
            }
        }
        let mut tree = Vec::with_capacity(self.0.len());
        let mut todo: Vec<(usize, &RecordedTask)> =
            roots.into_iter().map(|root| (0, root)).collect();
        let mut seen = HashSet::new();
        for task in self.0.values() {
            while let Some((level, task)) = todo.pop() {
                if seen.insert(task.tid) {
                    tree.push((level, task));
                    let below = children.remove(&task.tid).into_iter().flatten();
                    todo.extend(below.map(|child| (level + 1, child)));
                }
            }
            // A damaged file may say that tasks made each other: one of them is taken for the first.
            if children.contains_key(&task.tid) {
                todo.push((0, task));
            }
        }
        tree
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tasks(parents: &[(i32, Option<i32>)]) -> Tasks {
        let task = |&(tid, parent)| {
            let task = RecordedTask {
                pid: tid,
                tid,
                parent,
                comm: None,
                mappings: Arc::default(),
            };
            (tid, task)
        };
        Tasks(parents.iter().map(task).collect())
    }

    fn tree(parents: &[(i32, Option<i32>)]) -> Vec<(usize, i32)> {
        let tasks = tasks(parents);
        let tree = tasks.tree();
        tree.iter()
            .map(|(level, task)| (*level, task.tid))
            .collect()
    }

    #[test]
    fn tasks_stand_below_those_that_made_them() {
        let parents = [
            (0, None),
            (4, Some(9)),
            (5, Some(9)),
            (7, Some(4)),
            (8, Some(1)),
            (9, None),
        ];
        assert_eq!(
            tree(&parents),
            [(0, 0), (0, 8), (0, 9), (1, 4), (2, 7), (1, 5)]
        );
    }

    #[test]
    fn every_task_is_there_once_whatever_a_file_says() {
        let circle = [
            (1, Some(2)),
            (2, Some(3)),
            (3, Some(1)),
            (4, Some(4)),
            (5, Some(2)),
        ];
        let mut ids: Vec<i32> = tree(&circle).iter().map(|(_, tid)| *tid).collect();
        ids.sort_unstable();
        assert_eq!(ids, [1, 2, 3, 4, 5]);
    }
}
