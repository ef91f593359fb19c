//! The processes that one started, and those that these started.

use foldhash::HashMap;

/// That a process was made.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fork {
    /// When; 0 if it was there before the recording.
    pub(crate) time_ns: u64,
    pub(crate) pid: i32,
    pub(crate) parent: i32,
}

/// Who descends from a process: by id, from when on and until when.
#[derive(Debug, Default)]
pub(crate) struct Descendants(HashMap<i32, Vec<(u64, u64)>>);

/// The generations that are followed among what was there before the recording.
const MAX_DEPTH: usize = 1 << 10;

impl Descendants {
    /// The process itself, and all that it and they make.
    pub(crate) fn of(ancestor: i32, forks: &[Fork]) -> Self {
        let mut all = Self::default();
        all.begin(ancestor, 0);
        let (before, mut later): (Vec<&Fork>, Vec<&Fork>) =
            forks.iter().partition(|fork| fork.time_ns == 0);
        let parents: HashMap<i32, i32> =
            before.iter().map(|fork| (fork.pid, fork.parent)).collect();
        for &pid in parents.keys() {
            let up = |pid: &i32| parents.get(pid).copied();
            let mut ancestors = std::iter::successors(Some(pid), up).take(MAX_DEPTH);
            if pid != ancestor && ancestors.any(|pid| pid == ancestor) {
                all.begin(pid, 0);
            }
        }
        later.sort_by_key(|fork| fork.time_ns);
        for fork in later {
            // An id that is given anew is another process.
            all.end(fork.pid, fork.time_ns);
            if all.has(fork.parent, Some(fork.time_ns)) {
                all.begin(fork.pid, fork.time_ns);
            }
        }
        all
    }

    /// Whether a process is one of them at a time.
    #[inline]
    pub(crate) fn has(&self, pid: i32, time_ns: Option<u64>) -> bool {
        self.0.get(&pid).is_some_and(|spans| {
            let mut spans = spans.iter();
            spans.any(|&(from, until)| time_ns.is_none_or(|time| (from..until).contains(&time)))
        })
    }

    fn begin(&mut self, pid: i32, time_ns: u64) {
        self.0.entry(pid).or_default().push((time_ns, u64::MAX));
    }

    fn end(&mut self, pid: i32, time_ns: u64) {
        if let Some((_, until)) = self.0.get_mut(&pid).and_then(|spans| spans.last_mut()) {
            *until = time_ns.min(*until);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fork(time_ns: u64, pid: i32, parent: i32) -> Fork {
        Fork {
            time_ns,
            pid,
            parent,
        }
    }

    #[test]
    fn children_of_children_descend_and_ids_that_are_given_anew_do_not() {
        // In any order; 4 and 3 make a circle, which a damaged file may have.
        let forks = [
            fork(30, 12, 11),
            fork(0, 8, 7),
            fork(0, 7, 1),
            fork(0, 4, 3),
            fork(0, 3, 4),
            fork(10, 11, 7),
            fork(40, 12, 1),
            fork(50, 13, 12),
        ];
        let all = Descendants::of(7, &forks);
        for (pid, time_ns, expected) in [
            (7, 5, true),
            (8, 5, true),
            (1, 5, false),
            (4, 5, false),
            (11, 9, false),
            (11, 10, true),
            (12, 35, true),
            (12, 40, false),
            (13, 60, false),
        ] {
            assert_eq!(all.has(pid, Some(time_ns)), expected, "{pid} {time_ns}");
        }
        assert!(all.has(12, None) && !all.has(13, None));
    }
}
