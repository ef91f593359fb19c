//! Walking all records with several threads.
//!
//! Only a record says where the next one begins. So each thread guesses where the first record of its block is, and the
//! block counts only if the walk of the blocks before it ends exactly there. Else it is walked again from where that
//! ended: what comes out is what one thread would have seen.

use super::Reader;
use super::records::{Found, PartWalk, Step, Trouble, next_record, walk_in_window};
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

/// Bytes in which the first one mostly is, with those that follow it.
const NEAR: usize = 1 << 14;

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

/// What some bytes look like.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Guess {
    /// Several records, one after the other.
    Records,
    /// As far as they go.
    Cut,
    NoRecord,
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
        let mut window = Vec::new();
        for number in turns {
            if sender.send(self.guess(number, &mut window)).is_err() {
                return;
            }
        }
    }

    fn guess(&self, number: u64, window: &mut Vec<u8>) -> Guessed<W::Block> {
        let range = self.block(number);
        let start = match number {
            0 => Some(range.start),
            _ => self.first_record(range.start, window)?,
        };
        let Some(start) = start.filter(|&start| start < range.end) else {
            return Ok(None);
        };
        let (block, walked) = self.walk_from(start..range.end, window)?;
        Ok(Some((start, block, walked)))
    }

    fn walk_from(
        &self,
        range: Range<u64>,
        window: &mut Vec<u8>,
    ) -> io::Result<(W::Block, PartWalk)> {
        let mut block = self.walk.block();
        let walked = walk_in_window(self.part, self.endian, range, window, |records| {
            records.for_each(|(offset, raw)| self.walk.take(&mut block, offset, raw));
            Step::On
        })?;
        Ok((block, walked))
    }

    /// Where the first record of a block seems to be: where several in a row follow each other.
    fn first_record(&self, start: u64, window: &mut Vec<u8>) -> io::Result<Option<u64>> {
        for len in [NEAR, 2 * SEARCHED] {
            window.resize(window.len().max(len), 0);
            let window = window.get_mut(..len).unwrap_or_default();
            let got = self.part.read(window, start)?;
            let near = window.get(..got).unwrap_or_default();
            // What is cut off here continues in the longer one.
            let is_last = got < len || len > NEAR;
            let searched = if is_last { SEARCHED.min(got) } else { NEAR / 2 };
            let found = (0..searched).step_by(8).find_map(|at| {
                let guess = self.guess_at(near.get(at..)?);
                (guess != Guess::NoRecord).then_some((at, guess))
            });
            match found {
                Some((at, Guess::Records)) => return Ok(Some(start + at as u64)),
                Some((at, _)) if is_last => return Ok(Some(start + at as u64)),
                None if is_last => return Ok(None),
                _ => {}
            }
        }
        Ok(None)
    }

    /// What some bytes begin with.
    fn guess_at(&self, mut rest: &[u8]) -> Guess {
        for _ in 0..IN_A_ROW {
            if rest.len() < RecordHeader::LEN {
                return Guess::Cut;
            }
            // Most words of samples are like a header of no length: addresses, small numbers.
            let Ok(header) = RecordHeader::parse(rest, self.endian) else {
                return Guess::NoRecord;
            };
            let is_known = header
                .kind
                .name()
                .or(file_kind::name(header.kind))
                .is_some();
            match next_record(rest, self.endian) {
                Found::Record(raw) if is_known && raw.len_bytes() % 8 == 0 => {
                    rest = rest.get(raw.len_bytes()..).unwrap_or_default();
                }
                Found::Nothing if is_known => return Guess::Cut,
                _ => return Guess::NoRecord,
            }
        }
        Guess::Records
    }

    /// Puts blocks together: one that was not begun where the one before ended is walked again.
    fn join(
        &self,
        blocks: impl Iterator<Item = Guessed<W::Block>>,
        deliver: &mut impl FnMut(WalkedBlock<W::Block>),
    ) -> io::Result<Option<Trouble>> {
        let mut at = self.range.start;
        let mut window = Vec::new();
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
                None => self.walk_from(at..end, &mut window)?,
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
