//! Walking with a thread that reads ahead: for the one pass over a long recording that no two
//! threads can share, since only a record says where the next one begins.

use super::stream::Part;
use super::walk::{MAX_RECORD, Records, Step, Trouble, walk_part};
use rprof_abi::{Endian, RawRecord};
use std::io;
use std::ops::Range;
use std::sync::mpsc::{Receiver, SyncSender, channel, sync_channel};
use std::thread;

/// Bytes read at a time.
const BLOCK: usize = 256 << 10;

/// Room in front of a block for the record that began in the one before: any of the kernel's.
const HEAD: usize = MAX_RECORD;

/// Blocks on their way between the threads.
const BLOCKS: usize = 3;

/// A shorter range is not worth a thread.
const MIN_LEN: u64 = 16 << 20;

/// A buffer, and how many bytes behind its head were read.
type Block = (Vec<u8>, usize);

/// As `walk_part`, to the end.
pub(super) fn walk_part_reading_ahead(
    part: &Part,
    endian: Endian,
    range: Range<u64>,
    mut visit: impl FnMut(u64, RawRecord<'_>),
) -> io::Result<Option<Trouble>> {
    let (blocks, read) = sync_channel(BLOCKS);
    let (empties, emptied) = channel();
    for _ in 0..BLOCKS {
        let _ = empties.send(vec![0; HEAD + BLOCK]);
    }
    let start = range.start;
    // The channels' ends are owned where they are used: whoever stops ends the other.
    thread::scope(move |scope| {
        let reader = move || read_ahead(part, start, &emptied, &blocks);
        let is_worth_it = range.end - range.start >= MIN_LEN;
        if !is_worth_it || thread::Builder::new().spawn_scoped(scope, reader).is_err() {
            return walk_part(part, endian, range, |offset, raw| {
                visit(offset, raw);
                Step::On
            });
        }
        let mut at = range.start;
        let mut block_at = range.start;
        let mut carried = Vec::new();
        for block in read {
            let (mut buffer, len) = block?;
            let begin = fill_head(&mut buffer, &carried, at.saturating_sub(block_at));
            let rest = buffer.get(begin..HEAD + len).unwrap_or_default();
            let mut records = Records::new(part, endian, rest, at..range.end);
            for (offset, raw) in records.by_ref() {
                visit(offset, raw);
            }
            block_at += len as u64;
            carried.clear();
            let (next, left, trouble) = records.into_rest();
            carried.extend_from_slice(left);
            at = next;
            if trouble.is_some() {
                return Ok(trouble);
            }
            if at >= range.end {
                return Ok(None);
            }
            if carried.len() > HEAD {
                // One of simpleperf's: no need to be quick about it.
                return walk_part(part, endian, at..range.end, |offset, raw| {
                    visit(offset, raw);
                    Step::On
                });
            }
            let _ = empties.send(buffer);
        }
        Ok((at < range.end).then_some(Trouble::Cut(at)))
    })
}

/// Puts what is left of the block before in front of this one, or passes over what a record's
/// payload takes of it; returns where the next record begins.
fn fill_head(buffer: &mut [u8], carried: &[u8], skipped: u64) -> usize {
    let begin = HEAD - carried.len().min(HEAD);
    if let Some(head) = buffer.get_mut(begin..HEAD) {
        for (to, from) in head.iter_mut().zip(carried) {
            *to = *from;
        }
    }
    begin.saturating_add(usize::try_from(skipped).unwrap_or(usize::MAX))
}

fn read_ahead(
    part: &Part,
    mut at: u64,
    empties: &Receiver<Vec<u8>>,
    blocks: &SyncSender<io::Result<Block>>,
) {
    for mut buffer in empties {
        let window = buffer.get_mut(HEAD..).unwrap_or_default();
        let block = match part.read(window, at) {
            Ok(0) => return,
            Ok(len) => {
                at += len as u64;
                Ok((buffer, len))
            }
            Err(error) => Err(error),
        };
        if blocks.send(block).is_err() {
            return;
        }
    }
}
