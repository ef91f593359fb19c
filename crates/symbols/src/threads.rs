//! Work on a slice, shared out to threads in pieces.

/// Fewer items are not worth a thread: what each does besides them costs more.
const LEAST: usize = 512;

/// Works on pieces of a slice, at most `n_threads` of them, at the same time; the results in the
/// order of the pieces. Where a thread cannot be started, this one does its work.
pub(crate) fn in_order<T: Sync, R: Send>(
    items: &[T],
    n_threads: usize,
    work: impl Fn(&[T]) -> R + Sync,
) -> Vec<R> {
    let n_pieces = n_threads.min(items.len() / LEAST).max(1);
    let mut pieces = items.chunks(items.len().div_ceil(n_pieces).max(1));
    let first = pieces.next().unwrap_or_default();
    std::thread::scope(|scope| {
        let work = &work;
        let others: Vec<_> = pieces
            .map(|piece| {
                let thread = std::thread::Builder::new();
                (piece, thread.spawn_scoped(scope, move || work(piece)).ok())
            })
            .collect();
        let mut results = vec![work(first)];
        for (piece, thread) in others {
            results.push(match thread.map(std::thread::ScopedJoinHandle::join) {
                Some(Ok(result)) => result,
                Some(Err(panic)) => std::panic::resume_unwind(panic),
                None => work(piece),
            });
        }
        results
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_in_the_order_of_pieces() {
        let items: Vec<usize> = (0..5000).collect();
        for n_threads in [1, 2, 7] {
            let pieces = in_order(&items, n_threads, <[usize]>::to_vec);
            assert_eq!(pieces.len(), n_threads);
            assert_eq!(pieces.concat(), items);
        }
        assert_eq!(in_order(&items[..3], 8, <[usize]>::to_vec), [[0, 1, 2]]);
        assert_eq!(in_order(&items[..0], 8, <[usize]>::len), [0]);
    }
}
