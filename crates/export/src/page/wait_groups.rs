//! Sums of all waits, where the page has only the longest of them one by one.

use std::collections::BTreeMap;

/// Sums of a page, at most. Of more, none is there: what they are of says so.
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

/// Sums of waits, each with its length: by thread, cause and waker, and of all threads and any waker.
pub(super) fn groups(waits: impl Iterator<Item = (Alike, u64)>) -> Vec<WaitGroup> {
    let mut by_all: BTreeMap<Alike, Vec<u64>> = BTreeMap::new();
    for (alike, length) in waits {
        by_all.entry(alike).or_default().push(length);
        if by_all.len() > MAX_GROUPS {
            return Vec::new();
        }
    }
    let mut groups = Vec::new();
    for (by_thread, by_waker) in [(false, false), (true, false), (false, true), (true, true)] {
        let mut together: BTreeMap<Alike, Vec<u64>> = BTreeMap::new();
        for (alike, lengths) in &by_all {
            let alike = Alike {
                thread: alike.thread.filter(|_| by_thread),
                cause: alike.cause,
                waker: alike.waker.filter(|_| by_waker),
                queue: if by_waker { alike.queue } else { Queue::None },
            };
            together.entry(alike).or_default().extend(lengths);
        }
        let together = together.into_iter();
        groups.extend(together.map(|(alike, mut lengths)| WaitGroup::of(alike, &mut lengths)));
    }
    if groups.len() > MAX_GROUPS {
        return Vec::new();
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
    fn of_too_many_threads_there_are_no_sums() {
        let n = u32::try_from(MAX_GROUPS).unwrap();
        assert_eq!(groups((0..n).map(|one| (alike(one, 0), 1))), []);
        assert_eq!(groups((0..100).map(|one| (alike(one, 0), 1))).len(), 202);
    }
}
