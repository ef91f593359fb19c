//! Sums of all waits, where the page has only the longest of them one by one.

use rprof_profile::{Thread, TimedWait};
use rprof_scheduling::Cause;
use std::collections::BTreeMap;

/// Sums of a page, at most. Where they would be more, those by thread and waker are left out first, and the page says
/// that numbers by these are of the longest waits.
const MAX_GROUPS: usize = 20_000;

/// What waits have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Alike {
    /// `None` if they are of all threads.
    pub(super) thread: Option<u32>,
    /// The number of the cause.
    pub(super) cause: u64,
    /// As rows have it; `None` if they have any.
    pub(super) waker: Option<u64>,
    pub(super) queue: Queue,
}

impl Alike {
    /// What they have in common with waits of other threads or wakers.
    fn at(self, (by_thread, by_waker): (bool, bool)) -> Self {
        Self {
            thread: self.thread.filter(|_| by_thread),
            cause: self.cause,
            waker: self.waker.filter(|_| by_waker),
            queue: if by_waker { self.queue } else { Queue::None },
        }
    }
}

/// Why a runnable thread waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Queue {
    /// It is not runnable, or wakers are not told apart.
    None,
    /// Another one took its CPU.
    Preempted,
    /// It was woken, and has no CPU yet.
    Queued,
}

/// Finds what waits have in common, one after the other: by thread, within one in order of time.
#[derive(Debug)]
pub(super) struct Likeness<'a> {
    /// By thread, the first with its id: a thread that changed its name is one.
    threads: Vec<u32>,
    before: Option<&'a TimedWait>,
}

impl<'a> Likeness<'a> {
    pub(super) fn of(threads: &[Thread]) -> Self {
        let mut first_names = BTreeMap::new();
        let threads = (0..).zip(threads);
        let threads = threads.map(|(at, thread)| *first_names.entry(thread.tid).or_insert(at));
        Self {
            threads: threads.collect(),
            before: None,
        }
    }

    /// Of the next wait; its cause and its waker are also given as rows have them.
    pub(super) fn next(
        &mut self,
        wait: &'a TimedWait,
        waited_for: Cause,
        (cause, waker): (u64, u64),
    ) -> Alike {
        let before = self.before.replace(wait);
        let is_after_wait = before.is_some_and(|before| {
            before.thread == wait.thread && before.is_woken && before.end_ns == wait.start_ns
        });
        Alike {
            thread: self.threads.get(wait.thread as usize).copied(),
            cause,
            waker: Some(waker),
            queue: match (waited_for, is_after_wait || waker != 0) {
                (Cause::Runnable, false) => Queue::Preempted,
                (Cause::Runnable, true) => Queue::Queued,
                _ => Queue::None,
            },
        }
    }
}

/// Waits that are alike, added up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct WaitGroup {
    alike: Alike,
    count: u64,
    /// Nanoseconds, as are the next ones.
    sum: u64,
    median: u64,
    longest: u64,
}

impl WaitGroup {
    /// How many columns groups have.
    pub(super) const N_COLUMNS: usize = 8;

    /// Thread (one more, 0 is all), cause, waker (one more, 0 is any), queue, count, sum, median, longest.
    pub(super) fn columns(&self) -> [u64; Self::N_COLUMNS] {
        let Alike {
            thread,
            cause,
            waker,
            queue,
        } = self.alike;
        [
            thread.map_or(0, |thread| u64::from(thread) + 1),
            cause,
            waker.map_or(0, |waker| waker + 1),
            queue as u64,
            self.count,
            self.sum,
            self.median,
            self.longest,
        ]
    }

    /// Of lengths, at least one.
    fn of(alike: Alike, lengths: &mut [u64]) -> Self {
        let sum = (lengths.iter()).fold(0, |sum: u64, &one| sum.saturating_add(one));
        let middle = lengths.len().saturating_sub(1) / 2;
        let median = if lengths.is_empty() {
            0
        } else {
            *lengths.select_nth_unstable(middle).1
        };
        Self {
            alike,
            count: lengths.len() as u64,
            sum,
            median,
            longest: lengths.iter().copied().max().unwrap_or(0),
        }
    }
}

/// Whether waits of different threads are told apart, and those of different wakers.
const LEVELS: [(bool, bool); 4] = [(false, false), (true, false), (false, true), (true, true)];

/// Sums of waits, each with its length: by thread or not and by waker or not, as far as there is room.
pub(super) fn groups(waits: impl Iterator<Item = (Alike, u64)>) -> Vec<WaitGroup> {
    let mut levels = LEVELS.map(|_| Some(BTreeMap::<Alike, Vec<u64>>::new()));
    for (alike, length) in waits {
        for (&level, known) in LEVELS.iter().zip(&mut levels) {
            let Some(lengths) = known else { continue };
            lengths.entry(alike.at(level)).or_default().push(length);
            if lengths.len() > MAX_GROUPS {
                *known = None;
            }
        }
    }
    let mut groups = Vec::new();
    for level in levels.into_iter().flatten() {
        if groups.len() + level.len() <= MAX_GROUPS {
            let level = level.into_iter();
            groups.extend(level.map(|(alike, mut lengths)| WaitGroup::of(alike, &mut lengths)));
        }
    }
    groups
}

#[cfg(test)]
mod tests {
    use super::*;

    fn alike(thread: u32, waker: u64) -> Alike {
        Alike {
            thread: Some(thread),
            cause: 0,
            waker: Some(waker),
            queue: Queue::None,
        }
    }

    #[test]
    fn medians_are_of_all_waits_that_are_alike() {
        let waits = [(0, 1, 9), (0, 3, 5), (0, 1, 1), (1, 1, 4)];
        let waits = waits.map(|(thread, waker, length)| (alike(thread, waker), length));
        let columns: Vec<_> = groups(waits.into_iter())
            .iter()
            .map(WaitGroup::columns)
            .collect();
        let expected = [
            [0, 0, 0, 0, 4, 19, 4, 9],
            [1, 0, 0, 0, 3, 15, 5, 9],
            [2, 0, 0, 0, 1, 4, 4, 4],
            [0, 0, 2, 0, 3, 14, 4, 9],
            [0, 0, 4, 0, 1, 5, 5, 5],
            [1, 0, 2, 0, 2, 10, 1, 9],
            [1, 0, 4, 0, 1, 5, 5, 5],
            [2, 0, 2, 0, 1, 4, 4, 4],
        ];
        assert_eq!(columns, expected);
    }

    #[test]
    fn where_there_would_be_too_many_sums_the_finest_are_left_out() {
        let levels = |n_threads: usize, n_wakers: usize| {
            let threads = 0..u32::try_from(n_threads).unwrap();
            let wakers = 0..n_wakers as u64;
            let waits =
                threads.flat_map(|one| wakers.clone().map(move |waker| (alike(one, waker), 1)));
            let groups = groups(waits);
            assert!(groups.len() <= MAX_GROUPS);
            let all: u64 = groups.iter().map(|group| group.count).sum();
            let levels = LEVELS.map(|(by_thread, by_waker)| {
                let is_of = |group: &&WaitGroup| {
                    (group.alike.thread.is_some(), group.alike.waker.is_some())
                        == (by_thread, by_waker)
                };
                groups.iter().filter(is_of).count()
            });
            // Sums of a level are of all waits.
            let n_levels = levels.iter().filter(|&&n| n > 0).count();
            assert_eq!(all, (n_threads * n_wakers * n_levels) as u64);
            levels
        };
        assert_eq!(levels(100, 3), [1, 100, 3, 300]);
        assert_eq!(levels(100, 200), [1, 100, 200, 0]);
        assert_eq!(levels(MAX_GROUPS, 1), [1, 0, 1, 0]);
        assert_eq!(levels(1, MAX_GROUPS), [1, 1, 0, 0]);
    }
}
