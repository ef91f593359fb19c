//! The buffers between rings and disk. Their number is fixed; they are used again and again.

use crossbeam_channel::{Receiver, Sender, bounded};

/// A buffer is handed over when it holds this many bytes.
pub(super) const BUFFER: usize = 256 << 10;

/// Buffers in all: 16 MiB between rings and disk, once they were needed. Stacks of a thread whose every event is
/// a sample fill 8 MiB in 20 ms, and on a busy machine the writer waits longer than that for a CPU.
pub(super) const POOL: usize = 64;

/// Free buffers, without the one that is being filled. Those that were used come first: their memory is there already.
#[derive(Debug)]
pub(super) struct Pool {
    returned: Receiver<Vec<u8>>,
    n_unused: usize,
}

/// Where buffers come back to the pool.
#[derive(Debug)]
pub(super) struct PoolReturns(Sender<Vec<u8>>);

impl Pool {
    pub(super) fn new() -> (Self, PoolReturns) {
        let (returns, returned) = bounded(POOL);
        let pool = Self {
            returned,
            n_unused: POOL - 1,
        };
        (pool, PoolReturns(returns))
    }

    pub(super) fn n_free(&self) -> usize {
        self.returned.len() + self.n_unused
    }

    pub(super) fn is_complete(&self) -> bool {
        self.n_free() == POOL - 1
    }

    /// A free buffer, if there is one.
    pub(super) fn take(&mut self) -> Option<Vec<u8>> {
        if let Ok(buffer) = self.returned.try_recv() {
            return Some(buffer);
        }
        self.n_unused = self.n_unused.checked_sub(1)?;
        Some(Vec::new())
    }

    /// Where buffers come back.
    pub(super) fn returned(&self) -> &Receiver<Vec<u8>> {
        &self.returned
    }
}

impl PoolReturns {
    /// Gives a buffer back, with what is in it.
    pub(super) fn give_back(&self, buffer: Vec<u8>) {
        // At the end nobody takes it any more.
        let _ = self.0.try_send(buffer);
    }
}

/// Empties a buffer, and makes room in it.
pub(super) fn emptied(mut buffer: Vec<u8>) -> Vec<u8> {
    buffer.clear();
    buffer.reserve(BUFFER);
    buffer
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pool_is_complete_while_one_buffer_is_out() {
        let (mut pool, returns) = Pool::new();
        assert!(pool.is_complete());
        let taken = pool.take().unwrap();
        assert!(!pool.is_complete());
        assert_eq!(pool.n_free(), POOL - 2);
        returns.give_back(taken);
        assert!(pool.is_complete());
        assert!(emptied(vec![1, 2, 3]).is_empty());
    }

    #[test]
    fn used_buffers_are_taken_before_others_and_there_are_no_more_than_the_pool_has() {
        let (mut pool, returns) = Pool::new();
        let used = emptied(pool.take().unwrap());
        returns.give_back(used);
        assert!(pool.take().unwrap().capacity() >= BUFFER);
        let n_more = std::iter::from_fn(|| pool.take()).count();
        assert_eq!(n_more, POOL - 2);
        returns.give_back(Vec::new());
        assert!(pool.take().is_some() && pool.take().is_none());
    }
}
