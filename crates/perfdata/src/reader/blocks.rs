//! Walking all records with several threads.
//!
//! Only a record says where the next one begins. So each thread guesses where the first record of its block is, and the
//! block counts only if the walk of the blocks before it ends exactly there. Else it is walked again from where that
//! ended: what comes out is what one thread would have seen.

use super::Reader;
use super::records::{Found, PartWalk, Step, Trouble, next_record, walk_part_windows};
use super::stream::Part;
use super::walk::Walked;
use crate::{Error, Warning, file_kind};
use rprof_abi::{Endian, RawRecord, RecordHeader};
use std::io;
use std::ops::Range;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;

/// What is made of the records of each block. Threads share it.
pub trait BlockWalk: Sync {
    /// What is made of one block, by one thread.
    type Block: Send;

    /// Nothing yet.
    fn block(&self) -> Self::Block;

    /// Takes the next record of a block, which is at an offset.
    fn take(&self, block: &mut Self::Block, offset: u64, raw: RawRecord<'_>);
}

/// A block and what was made of it.
#[derive(Debug)]
pub struct WalkedBlock<B> {
    /// From its first record to the end of its last one.
    pub range: Range<u64>,
    /// What was made of it.
    pub block: B,
}

/// Blocks that wait for the thread that takes them, of each thread: what is made of them is in memory.
const AHEAD: usize = 1;

/// More threads would read faster than one takes blocks, and hold more memory.
const MAX_THREADS: usize = 8;

/// Bytes that are searched for the first record of a block: the longest record of the kernel's.
const SEARCHED: usize = 1 << 16;

/// Records in a row that look like some, for a guess.
const IN_A_ROW: usize = 16;

impl Reader {
    /// Makes blocks of about `block_len` bytes of all records, with several threads, and passes them to `deliver` in the
    /// file's order. Where no record can be found any more, a warning says so; in a directory the next file is gone on
    /// with.
    ///
    /// # Errors
    /// [`Error::Io`] if reading fails.
    pub fn walk_blocks<W: BlockWalk>(
        &self,
        walk: &W,
        block_len: u64,
        n_threads: usize,
        mut deliver: impl FnMut(WalkedBlock<W::Block>),
    ) -> Result<Vec<Warning>, Error> {
        let endian = self.endian();
        self.for_each_part(self.data(), |part, range| {
            let blocks = Blocks {
                walk,
                part,
                endian,
                range,
                len: block_len.max(SEARCHED as u64),
            };
            blocks.run(n_threads, &mut deliver).map(Walked::Through)
        })
    }
}

/// The blocks of one part.
struct Blocks<'p, W> {
    walk: &'p W,
    part: &'p Part,
    endian: Endian,
    range: Range<u64>,
    len: u64,
}

/// What a thread found in a block; `None` if it found no record to begin with.
type Guessed<B> = io::Result<Option<(u64, B, PartWalk)>>;

impl<W: BlockWalk> Blocks<'_, W> {
    fn run(
        &self,
        n_threads: usize,
        deliver: &mut impl FnMut(WalkedBlock<W::Block>),
    ) -> io::Result<Option<Trouble>> {
        let n_blocks = (self.range.end - self.range.start).div_ceil(self.len);
        let n_threads = (n_threads.min(MAX_THREADS) as u64).min(n_blocks);
        if n_threads < 2 {
            let blocks = (0..n_blocks).map(|_| Ok(None));
            return self.join(blocks, deliver);
        }
        thread::scope(|scope| {
            let mut received: Vec<Receiver<Guessed<W::Block>>> = Vec::new();
            for first in 0..n_threads {
                let (sender, receiver) = sync_channel(AHEAD);
                let turns = (first..n_blocks).step_by(usize::try_from(n_threads).unwrap_or(1));
                let work = move || self.guess_all(turns, &sender);
                // Without a thread its blocks are walked when their turn comes.
                if thread::Builder::new().spawn_scoped(scope, work).is_ok() {
                    received.push(receiver);
                } else {
                    return self.join((0..n_blocks).map(|_| Ok(None)), deliver);
                }
            }
            let blocks = received
                .iter()
                .cycle()
                .take(usize::try_from(n_blocks).unwrap_or(usize::MAX));
            self.join(blocks.map(|one| one.recv().unwrap_or(Ok(None))), deliver)
        })
    }

    fn block(&self, number: u64) -> Range<u64> {
        let start = self
            .range
            .start
            .saturating_add(number.saturating_mul(self.len));
        start..start.saturating_add(self.len).min(self.range.end)
    }

    /// Walks some blocks from where they seem to begin.
    fn guess_all(&self, turns: impl Iterator<Item = u64>, sender: &SyncSender<Guessed<W::Block>>) {
        for number in turns {
            if sender.send(self.guess(number)).is_err() {
                return;
            }
        }
    }

    fn guess(&self, number: u64) -> Guessed<W::Block> {
        let range = self.block(number);
        let start = match number {
            0 => Some(range.start),
            _ => self.first_record(range.start)?,
        };
        let Some(start) = start.filter(|&start| start < range.end) else {
            return Ok(None);
        };
        let (block, walked) = self.walk_from(start..range.end)?;
        Ok(Some((start, block, walked)))
    }

    fn walk_from(&self, range: Range<u64>) -> io::Result<(W::Block, PartWalk)> {
        let mut block = self.walk.block();
        let walked = walk_part_windows(self.part, self.endian, range, |records| {
            records.for_each(|(offset, raw)| self.walk.take(&mut block, offset, raw));
            Step::On
        })?;
        Ok((block, walked))
    }

    /// Where the first record of a block seems to be: where several in a row follow each other.
    fn first_record(&self, start: u64) -> io::Result<Option<u64>> {
        let mut window = vec![0; 2 * SEARCHED];
        let got = self.part.read(&mut window, start)?;
        let window = window.get(..got).unwrap_or_default();
        let looks_so = |&at: &usize| {
            let mut rest = window.get(at..).unwrap_or_default();
            (0..IN_A_ROW).all(|_| {
                let Ok(header) = RecordHeader::parse(rest, self.endian) else {
                    // The window ends here.
                    return true;
                };
                let is_known = header
                    .kind
                    .name()
                    .or(file_kind::name(header.kind))
                    .is_some();
                match next_record(rest, self.endian) {
                    Found::Record(raw) => {
                        rest = rest.get(raw.len_bytes()..).unwrap_or_default();
                        is_known && raw.len_bytes() % 8 == 0
                    }
                    Found::Nothing => is_known,
                    Found::Bad(_) => false,
                }
            })
        };
        let found = (0..SEARCHED.min(got)).step_by(8).find(looks_so);
        Ok(found.map(|at| start + at as u64))
    }

    /// Puts blocks together: one that was not begun where the one before ended is walked again.
    fn join(
        &self,
        blocks: impl Iterator<Item = Guessed<W::Block>>,
        deliver: &mut impl FnMut(WalkedBlock<W::Block>),
    ) -> io::Result<Option<Trouble>> {
        let mut at = self.range.start;
        for (number, guessed) in (0..).zip(blocks) {
            let end = self.block(number).end;
            // What cannot be read is met again, if it matters.
            let guessed = guessed.unwrap_or(None).filter(|&(start, ..)| start == at);
            if at >= end {
                // A record of the blocks before reaches beyond this one.
                continue;
            }
            let (block, walked) = match guessed {
                Some((_, block, walked)) => (block, walked),
                None => self.walk_from(at..end)?,
            };
            deliver(WalkedBlock {
                range: at..walked.next,
                block,
            });
            at = walked.next;
            if walked.trouble.is_some() {
                return Ok(walked.trouble);
            }
        }
        Ok(None)
    }
}
