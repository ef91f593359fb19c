//! Rows shared out to threads.

use std::num::NonZeroUsize;
use std::thread;

/// Fewer are done before a thread has begun.
const WORTHWHILE: usize = 64;

/// What `work` makes of each item, in their order.
pub(crate) fn map<T: Sync, R: Send>(items: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let n_threads = thread::available_parallelism().map_or(1, NonZeroUsize::get);
    if items.len() < WORTHWHILE || n_threads == 1 {
        return items.iter().map(work).collect();
    }
    let work = &work;
    let part = |items: &[T]| items.iter().map(work).collect::<Vec<R>>();
    let mut parts = items.chunks(items.len().div_ceil(n_threads));
    let first = parts.next().unwrap_or_default();
    thread::scope(|scope| {
        let others = parts.map(|items| {
            let begun = thread::Builder::new().spawn_scoped(scope, move || part(items));
            (items, begun.ok())
        });
        let others: Vec<_> = others.collect();
        let mut made = part(first);
        for (items, thread) in others {
            match thread.map(thread::ScopedJoinHandle::join) {
                Some(Ok(part)) => made.extend(part),
                Some(Err(panic)) => std::panic::resume_unwind(panic),
                // There is no room for another thread.
                None => made.extend(part(items)),
            }
        }
        made
    })
}

#[cfg(test)]
mod tests {
    use super::map;

    #[test]
    fn all_are_done_in_their_order() {
        for n in [0, 1, 63, 64, 65, 1000] {
            let items: Vec<usize> = (0..n).collect();
            assert_eq!(
                map(&items, |item| 2 * item),
                items.iter().map(|item| 2 * item).collect::<Vec<_>>()
            );
        }
    }
}
