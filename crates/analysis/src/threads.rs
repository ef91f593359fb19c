//! Work shared out to threads: each takes the next item until none is left.

use crate::Error;
use std::sync::atomic::{AtomicUsize, Ordering};

/// How many threads may work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Threads {
    /// As many as there are CPUs.
    All,
    /// One, which takes the items in order.
    One,
}

/// CPUs that there are.
pub(crate) fn n_cpus() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// Runs `work` on items 0 to `n`, on some threads, each with a state of its own. Returns the states.
///
/// Which thread got which item must not matter. `done` is told, on the calling thread, how many items have been taken
/// so far.
pub(crate) fn for_each<S: Send>(
    (n, threads): (usize, Threads),
    new_state: impl Fn() -> S + Sync,
    work: impl Fn(&mut S, usize) -> Result<(), Error> + Sync,
    done: &mut dyn FnMut(usize),
) -> Result<Vec<S>, Error> {
    let next = AtomicUsize::new(0);
    let run = |done: &mut dyn FnMut(usize)| -> Result<S, Error> {
        let mut state = new_state();
        loop {
            let item = next.fetch_add(1, Ordering::Relaxed);
            if item >= n {
                return Ok(state);
            }
            work(&mut state, item)?;
            done(item);
        }
    };
    let n_threads = match threads {
        Threads::All => n_cpus().min(n).max(1),
        Threads::One => 1,
    };
    std::thread::scope(|scope| {
        let mut others = Vec::new();
        for _ in 1..n_threads {
            let quiet = || run(&mut |_| {});
            let thread = std::thread::Builder::new().spawn_scoped(scope, quiet);
            others.push(thread.map_err(Error::Thread)?);
        }
        let mut states = vec![run(done)?];
        for thread in others {
            match thread.join() {
                Ok(state) => states.push(state?),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        Ok(states)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_item_is_done_once() {
        let states = for_each(
            (1000, Threads::All),
            Vec::new,
            |done, item| {
                done.push(item);
                Ok(())
            },
            &mut |_| {},
        )
        .unwrap();
        let mut all: Vec<usize> = states.concat();
        all.sort_unstable();
        assert_eq!(all, (0..1000).collect::<Vec<_>>());
        assert_eq!(
            for_each((0, Threads::All), || 7, |_, _| Ok(()), &mut |_| {}).unwrap(),
            [7]
        );
    }
}
