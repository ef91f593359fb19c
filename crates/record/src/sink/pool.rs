//! The buffers between rings and disk. Their number is fixed; they are used again and again.

use crossbeam_channel::{Receiver, Sender, bounded};

/// A buffer is handed over when it holds this many bytes.
pub(super) const BUFFER: usize = 256 << 10;

/// Buffers in all: 16 MiB between rings and disk, once they were needed. Stacks of a thread whose every event is
/// a sample fill 8 MiB in 20 ms, and on a busy machine the writer waits longer than that for a CPU.
pub(super) const POOL: usize = 64;

/// Free buffers, without the one that is being filled.
#[derive(Debug)]
pub(super) struct Pool {
    free: Receiver<Vec<u8>>,
}

/// Where buffers come back to the pool.
#[derive(Debug)]
pub(super) struct PoolReturns(Sender<Vec<u8>>);

impl Pool {
    pub(super) fn new() -> (Self, PoolReturns) {
        let (returned, free) = bounded(POOL);
        for _ in 1..POOL {
            // Cannot fail: the channel holds the whole pool.
            let _ = returned.send(Vec::new());
        }
        (Self { free }, PoolReturns(returned))
    }

    pub(super) fn n_free(&self) -> usize {
        self.free.len()
    }

    pub(super) fn is_complete(&self) -> bool {
        self.n_free() == POOL - 1
    }

    /// Where free buffers come from.
    pub(super) fn free(&self) -> &Receiver<Vec<u8>> {
        &self.free
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
        let (pool, returns) = Pool::new();
        assert!(pool.is_complete());
        let taken = pool.free().recv().unwrap();
        assert!(!pool.is_complete());
        assert_eq!(pool.n_free(), POOL - 2);
        returns.give_back(taken);
        assert!(pool.is_complete());
        assert!(emptied(vec![1, 2, 3]).is_empty());
    }
}
