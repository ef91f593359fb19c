//! Ranges of the file that threads read, each from the start of a record.

use std::ops::{Range, RangeInclusive};

/// Bytes of a chunk: enough to be worth a thread's while, few enough for all threads to share.
const CHUNK: RangeInclusive<u64> = 512 << 10..=4 << 20;

/// Chunks of a long recording.
const CHUNKS: u64 = 64;

/// Bytes of a block, at most: what is made of some of them waits in memory.
const MAX_BLOCK: u64 = 1 << 20;

/// Bytes of a chunk at least.
fn chunk_len(data: &Range<u64>) -> u64 {
    let part = (data.end - data.start) / CHUNKS;
    part.clamp(*CHUNK.start(), *CHUNK.end())
}

/// Bytes of the blocks that chunks are made of.
pub(super) fn block_len(data: &Range<u64>) -> u64 {
    chunk_len(data).min(MAX_BLOCK)
}

/// Where chunks may end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cut {
    /// At any record.
    Anywhere,
    /// Where the recorder had written all rings (FINISHED_ROUND).
    AfterRounds,
}

/// The end of a round.
#[derive(Clone, Copy, Debug)]
pub(super) struct RoundEnd {
    /// Where the next record begins.
    pub(super) at: u64,
    /// The newest time of a sample in its block before.
    pub(super) newest_ns: u64,
}

/// Makes chunks of blocks.
pub(super) struct Chunks {
    cut: Cut,
    /// Bytes of each, at least.
    len: u64,
    chunks: Vec<Range<u64>>,
    /// By chunk, the newest time of a sample up to its end.
    newest_ns: Vec<u64>,
    newest: u64,
}

impl Chunks {
    pub(super) fn new(cut: Cut, data: &Range<u64>) -> Self {
        Self {
            cut,
            len: chunk_len(data),
            chunks: Vec::new(),
            newest_ns: Vec::new(),
            newest: 0,
        }
    }

    /// Takes the next block, with the rounds that end in it and the newest time of a sample.
    pub(super) fn take(&mut self, block: Range<u64>, rounds: &[RoundEnd], newest_ns: u64) {
        if block.is_empty() {
            return;
        }
        match self.chunks.last_mut() {
            Some(last) if self.cut == Cut::AfterRounds || last.end - last.start < self.len => {
                last.end = block.end;
            }
            _ => self.chunks.push(block.clone()),
        }
        let before = self.newest;
        for round in rounds {
            self.end_round(round.at, before.max(round.newest_ns));
        }
        self.newest = before.max(newest_ns);
    }

    /// Ends the last chunk after a round, if it is long enough.
    fn end_round(&mut self, at: u64, newest_ns: u64) {
        let Some(last) = self.chunks.last_mut() else {
            return;
        };
        if at - last.start >= self.len {
            let next = at..last.end;
            last.end = at;
            self.chunks.push(next);
            self.newest_ns.push(newest_ns);
        }
    }

    /// The ranges, and if they are whole rounds the newest time up to the end of each.
    pub(super) fn finish(mut self) -> (Vec<Range<u64>>, Vec<u64>) {
        if self.cut == Cut::AfterRounds {
            // The last round may end with the file.
            if self.chunks.pop_if(|last| last.is_empty()).is_some() {
                self.newest_ns.pop();
            }
            self.newest_ns.push(self.newest);
        }
        (self.chunks, self.newest_ns)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DATA: Range<u64> = 0..10 << 20;
    const LEN: u64 = 512 << 10;

    #[test]
    fn blocks_are_joined_until_a_chunk_is_long_enough() {
        let mut chunks = Chunks::new(Cut::Anywhere, &DATA);
        for block in [0..LEN / 2, LEN / 2..LEN, LEN..LEN, LEN..LEN + 8] {
            chunks.take(block, &[], 7);
        }
        assert_eq!(chunks.finish(), (vec![0..LEN, LEN..LEN + 8], vec![]));
    }

    #[test]
    fn chunks_of_rounds_end_where_rounds_do_and_are_long_enough() {
        let round = |at, newest_ns| RoundEnd { at, newest_ns };
        let mut chunks = Chunks::new(Cut::AfterRounds, &DATA);
        chunks.take(0..LEN, &[round(100, 3)], 9);
        let rounds = [round(LEN + 10, 5), round(LEN + 20, 20), round(3 * LEN, 21)];
        chunks.take(LEN..3 * LEN, &rounds, 21);
        let expected = (vec![0..LEN + 10, LEN + 10..3 * LEN], vec![9, 21]);
        assert_eq!(chunks.finish(), expected);
    }
}
