//! Work shared out to threads. A thread that cannot be started leaves its work to the others.

use std::ops::Range;
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::{Builder, ScopedJoinHandle};

/// The CPUs that this process may run on, at least 1.
pub fn n_cpus() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// Calls `work` with consecutive parts of `range`, `n_parts` at most, each on a thread of its own.
/// Results are in the order of the parts; an empty range is one empty part.
pub fn in_parts<R: Send>(
    range: Range<usize>,
    n_parts: usize,
    work: impl Fn(Range<usize>) -> R + Sync,
) -> Vec<R> {
    let len = range.len().div_ceil(n_parts.max(1)).max(1);
    let starts = range.clone().step_by(len).skip(1);
    let part = |start: usize| start..range.end.min(start + len);
    let work = &work;
    std::thread::scope(|scope| {
        let others: Vec<_> = starts
            .map(|start| {
                let part = part(start);
                let run = move || work(part);
                (start, Builder::new().spawn_scoped(scope, run).ok())
            })
            .collect();
        let mut results = vec![work(part(range.start))];
        for (start, thread) in others {
            results.push(match thread.map(ScopedJoinHandle::join) {
                Some(Ok(result)) => result,
                Some(Err(panic)) => resume_unwind(panic),
                None => work(part(start)),
            });
        }
        results
    })
}

/// Calls `work` with the items 0 to `n_items`, on up to `n_threads` threads: each has a state of its
/// own and takes the next item until none is left. Which thread gets which item is not known.
/// Returns the states.
///
/// `done` learns on the calling thread how many items have been taken so far.
///
/// # Errors
/// The first one of `work` that the calling thread sees; the other threads still finish.
pub fn for_each<S: Send, E: Send>(
    (n_items, n_threads): (usize, usize),
    new_state: impl Fn() -> S + Sync,
    work: impl Fn(&mut S, usize) -> Result<(), E> + Sync,
    done: &mut dyn FnMut(usize),
) -> Result<Vec<S>, E> {
    let next = AtomicUsize::new(0);
    let run = |done: &mut dyn FnMut(usize)| -> Result<S, E> {
        let mut state = new_state();
        loop {
            let item = next.fetch_add(1, Ordering::Relaxed);
            if item >= n_items {
                return Ok(state);
            }
            work(&mut state, item)?;
            done(item);
        }
    };
    let run = &run;
    std::thread::scope(|scope| {
        let others = (1..n_threads.min(n_items))
            .map_while(|_| Builder::new().spawn_scoped(scope, || run(&mut |_| {})).ok());
        let others: Vec<_> = others.collect();
        let mut states = vec![run(done)?];
        for thread in others {
            states.push(thread.join().unwrap_or_else(|panic| resume_unwind(panic))?);
        }
        Ok(states)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_consecutive_and_results_in_their_order() {
        for (len, n_parts) in [(0, 3), (1, 3), (2, 1), (7, 3), (1000, 8), (5, 0)] {
            let parts = in_parts(10..10 + len, n_parts, Iterator::collect::<Vec<_>>);
            assert!(parts.len() <= n_parts.max(1), "{len} in {n_parts}");
            assert_eq!(parts.concat(), (10..10 + len).collect::<Vec<_>>());
        }
        assert_eq!(in_parts(0..0, 4, |part| part), vec![0..0; 1]);
    }

    #[test]
    fn every_item_is_taken_once() {
        for (n_items, n_threads) in [(1000, 4), (3, 8), (0, 2), (5, 0)] {
            let take = |taken: &mut Vec<usize>, item| {
                taken.push(item);
                Ok::<_, ()>(())
            };
            let mut last = None;
            let mut done = |item| last = Some(item);
            let states = for_each((n_items, n_threads), Vec::new, take, &mut done).unwrap();
            let mut all: Vec<usize> = states.concat();
            all.sort_unstable();
            assert_eq!(all, (0..n_items).collect::<Vec<_>>());
        }
    }

    #[test]
    fn an_error_ends_the_work() {
        let fail = |(): &mut (), item| if item == 3 { Err(item) } else { Ok(()) };
        assert_eq!(for_each((9, 1), || (), fail, &mut |_| {}), Err(3));
        let panics = || in_parts(0..4, 2, |part| assert!(part.start == 0, "the second part"));
        assert!(std::panic::catch_unwind(panics).is_err());
    }
}
