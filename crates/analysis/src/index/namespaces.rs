//! Which control groups' namespace tasks are in, as a function of time.

use foldhash::HashMap;
use foldhash::fast::RandomState;
use rprof_abi::record::{Namespace, Namespaces};
use rprof_base::Interner;
use rprof_machine::Key;

/// Namespaces of control groups, by task and time.
#[derive(Debug, Default)]
pub(crate) struct CgroupNamespaces {
    /// From each moment on, the number of one.
    by_task: HashMap<i32, Vec<(Key, u32)>>,
    seen: Interner<u32, Namespace, RandomState>,
}

impl CgroupNamespaces {
    /// What perf shows where a task's is not known.
    const NONE: Namespace = Namespace { dev: 0, ino: 0 };

    /// Where it stands among a task's namespaces (`CGROUP_NS_INDEX`).
    const INDEX: usize = 6;

    /// Takes a record.
    pub(super) fn add(&mut self, record: &Namespaces<'_>, key: Key) {
        if let Some(namespace) = record.links().nth(Self::INDEX) {
            let number = self.seen.intern(namespace);
            self.by_task
                .entry(record.tid)
                .or_default()
                .push((key, number));
        }
    }

    /// All records were taken.
    pub(super) fn finish(&mut self) {
        for moments in self.by_task.values_mut() {
            moments.sort_unstable();
            moments.dedup_by_key(|&mut (_, number)| number);
        }
    }

    /// The number of a task's namespace at a moment, for [`Self::of`].
    pub(crate) fn at(&self, tid: i32, key: Key) -> u64 {
        let number = self.by_task.get(&tid).and_then(|moments| {
            let after = moments.partition_point(|&(from, _)| from <= key);
            Some(moments.get(after.checked_sub(1)?)?.1)
        });
        number.map_or(u64::MAX, u64::from)
    }

    /// The namespace with a number.
    pub(crate) fn of(&self, number: u64) -> Namespace {
        let number = u32::try_from(number).ok();
        let namespace = number.and_then(|number| self.seen.get(number).copied());
        namespace.unwrap_or(Self::NONE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_task_is_in_one_from_its_record_on() {
        let encoded = |ino: u64| {
            let links = [[4, 1]; 6].into_iter().chain([[4, ino]]);
            let words = links.flatten();
            words.flat_map(u64::to_ne_bytes).collect::<Vec<u8>>()
        };
        let mut all = CgroupNamespaces::default();
        let key = |time_ns| Key::new(true, Some(time_ns), 0);
        for (time_ns, ino) in [(20, 8), (10, 7), (30, 8)] {
            let links = encoded(ino);
            all.add(&Namespaces::from_encoded(1, 2, &links), key(time_ns));
        }
        all.finish();
        let ino = |tid, time_ns| all.of(all.at(tid, key(time_ns))).ino;
        let found = [ino(2, 9), ino(2, 10), ino(2, 25), ino(2, 99), ino(1, 99)];
        assert_eq!(found, [0, 7, 8, 8, 0]);
    }
}
